// The name of a server's registry, which is not always that of its platform.
import { parseChallenge } from "./oci/registry.ts";

const REQUEST_TIMEOUT_MS = 30_000;

/**
 * The host[:port] in the names of the server's images, from its answer to an anonymous request. Throws an Error when
 * there is no registry.
 */
export async function registryHost(url: string): Promise<string> {
  const response = await fetch(new URL("/v2/", url), { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }).catch(
    (cause: unknown) => {
      throw new Error(`${url} does not answer`, { cause });
    },
  );
  await response.body?.cancel();
  const service = parseChallenge(response.headers.get("www-authenticate"))?.service ?? "";
  if (!/^[\w.:[\]-]+$/.test(service)) throw new Error(`${url} does not answer as a registry does`);
  return service;
}
