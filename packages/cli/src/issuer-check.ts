// Whether tokens of the issuers that were just given to identities can be verified.
import { objectIn, textIn } from "./api/json-fields.ts";
import type { JsonObject, Verb } from "./api/rest.ts";
import { lineOf } from "./command/failure.ts";
import { interruption } from "./command/interrupt.ts";

/** The calls that a check needs. */
interface Server {
  call(verb: Verb, path: string, options?: { body?: JsonObject }): Promise<JsonObject>;
}

/** An identity that was made or changed, as far as a check needs it. */
export interface WithIssuer {
  uid: string;
  issuer: string;
}

/** Files may name many issuers, and one that does not answer takes seconds. */
const MOST = 20;
/** How many are checked concurrently: fewer than a server asks for one organization. */
const TOGETHER = 4;

/** The one issuer of an identity's tokens; undefined when there is not one to be asked. */
export function issuerIn(identity: JsonObject): string | undefined {
  const issuer = textIn(objectIn(identity, "claimMatch"), "issuer");
  return issuer === "" ? undefined : issuer;
}

/**
 * Has the server ask the issuers for their keys, each once, and says which cannot be used and why. The identities stay
 * as they are: an issuer may be mended, or begin to answer, later.
 */
export async function noteIssuerFaults(
  server: Server,
  identities: readonly WithIssuer[],
  say: (text: string) => void,
): Promise<void> {
  const byIssuer = [...new Map(identities.map((one) => [one.issuer, one]))];
  for (let at = 0; at < Math.min(byIssuer.length, MOST); at += TOGETHER) {
    const some = byIssuer.slice(at, Math.min(at + TOGETHER, MOST));
    const faults = await Promise.all(some.map(([, one]) => faultOf(server, one)));
    for (const fault of faults) if (fault !== undefined) say(fault);
  }
  const more = byIssuer.length - MOST;
  if (more > 0) say(`${more} more issuers were not checked: moorage identities check IDENTITY`);
}

async function faultOf(server: Server, { uid, issuer }: WithIssuer): Promise<string | undefined> {
  try {
    const { status, message } = await server.call("POST", `/iam/v2/identities/${uid}:checkIdentity`, { body: {} });
    return status === "STATUS_NOT_READY" ? `nobody can become it yet: ${String(message)}` : undefined;
  } catch (error) {
    interruption().throwIfAborted();
    return `the issuer ${issuer} was not checked: ${lineOf(error)}`;
  }
}
