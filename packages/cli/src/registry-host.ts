// The name of a server's registry, which is not always that of its platform.
import { send } from "./http/http.ts";
import { EXIT } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import { parseChallenge } from "./oci/challenge.ts";

/**
 * The host[:port] in the names of the server's images, from its answer to an anonymous request. Throws an Error when
 * there is no registry.
 */
export async function registryHost(url: string): Promise<string> {
  const response = await send(new URL("/v2/", url).href).catch((cause: unknown) => {
    if (cause instanceof Failure) throw cause;
    throw new Failure(`${url} does not answer`, { exit: EXIT.unavailable, cause });
  });
  await response.body?.cancel();
  const service = parseChallenge(response.headers.get("www-authenticate"))?.service ?? "";
  if (!/^[\w.:[\]-]+$/.test(service)) throw new Error(`${url} does not answer as a registry does`);
  return service;
}
