import { queryOptions } from "@tanstack/react-query";
import { errorOf, noAnswer } from "../../api/errors.ts";

const TIMEOUT_MS = 30_000;

/** The host[:port] in the names of this server's images, from the token issuer's metadata. Source: RFC 9728 §4. */
export const registryHostQuery = queryOptions({
  queryKey: ["registry-host"],
  queryFn: registryHost,
  staleTime: Infinity,
});

/** The server's own URL, for which tokens of machines are made, from the same document. */
export const issuerQuery = queryOptions({
  queryKey: ["issuer"],
  queryFn: async () => (await metadata()).issuer,
  staleTime: Infinity,
});

async function registryHost(): Promise<string> {
  const {
    protected_resources: [registry],
  } = await metadata();
  return shownHost(registry, window.location);
}

async function metadata(): Promise<{ issuer: string; protected_resources: [string] }> {
  const request = { credentials: "omit", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  const response = await fetch("/.well-known/oauth-authorization-server", request).catch(() => {
    throw noAnswer();
  });
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as { issuer: string; protected_resources: [string] };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The host[:port] to show of a registry's URL to a reader of this page. A registry on the server's own machine is that
 * of a server without a URL in its settings, which answers at the name that its client calls.
 */
export function shownHost(registry: string, page: { host: string; hostname: string }): string {
  const { host, hostname } = new URL(registry);
  return LOOPBACK.test(hostname) && !LOOPBACK.test(page.hostname) ? page.host : host;
}
