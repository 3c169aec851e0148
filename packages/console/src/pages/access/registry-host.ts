import { queryOptions } from "@tanstack/react-query";
import { noAnswer } from "../../api/errors.ts";

const TIMEOUT_MS = 30_000;

/** The host[:port] in the names of this server's images, from its answer to an anonymous request. */
export const registryHostQuery = queryOptions({
  queryKey: ["registry-host"],
  queryFn: registryHost,
  staleTime: Infinity,
});

async function registryHost(): Promise<string> {
  const response = await fetch("/v2/", { credentials: "omit", signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => {
    throw noAnswer();
  });
  const service = /service="([\w.:[\]-]+)"/.exec(response.headers.get("www-authenticate") ?? "")?.[1];
  // A registry that lets everybody in names no service: its own address is its name then.
  return service ?? globalThis.location.host;
}
