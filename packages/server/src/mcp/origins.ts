import type { IncomingHttpHeaders } from "node:http";

const LOOPBACK_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether the request may come from a page of this installation, or from no page at all. A page of another site, which
 * a name server can make look like one of this host, is let through by neither its origin nor, where the installation
 * is on the own machine alone, the name that it calls. Source: MCP 2026-07-28, "Transports", security.
 */
export function isOwnOrigin({ origin, host, ":authority": authority }: IncomingHttpHeaders, baseUrl: string): boolean {
  const base = new URL(baseUrl);
  const isLocal = LOOPBACK_HOSTS.has(base.hostname);
  if (isLocal && !isLocalName(`http://${String(authority ?? host ?? "")}`)) return false;
  if (origin === undefined || origin === "") return true;
  return origin === base.origin || (isLocal && isLocalName(origin) && URL.parse(origin)?.port === base.port);
}

function isLocalName(text: string): boolean {
  return LOOPBACK_HOSTS.has(URL.parse(text)?.hostname ?? "");
}
