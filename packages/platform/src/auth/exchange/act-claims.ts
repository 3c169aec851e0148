import { ExactNumber } from "@moorage/kernel/lib/json";

/** The size limit of `act` for a token that an identity's relationship accepts, in bytes of JSON. */
export const MAX_ACT_LENGTH = 2048;
/** The size limit of `act` for a person's token, in bytes of JSON: such a token carries groups as well. */
export const MAX_PERSON_ACT_LENGTH = 1024;

const NOT_CARRIED = new Set(["exp", "nbf", "iat", "jti", "nonce", "at_hash", "c_hash"]);

/**
 * The claims of the external token that are copied into the `act` claim of ours, for events and audit: issuer and
 * subject first, then as many others as fit into `maxLength` bytes. Only strings, numbers and booleans are copied,
 * numbers that JavaScript cannot hold as strings.
 */
export function actClaims(claims: Record<string, unknown>, maxLength: number): Record<string, unknown> {
  const act: Record<string, unknown> = {};
  let length = 0;
  for (const [name, claim] of [["iss", claims["iss"]], ["sub", claims["sub"]], ...Object.entries(claims)] as [
    string,
    unknown,
  ][]) {
    const value = claim instanceof ExactNumber ? claim.text : claim;
    if (NOT_CARRIED.has(name) || Object.hasOwn(act, name) || !["string", "number", "boolean"].includes(typeof value))
      continue;
    // Measured as the token holds it: escapes and non-Latin text take more bytes than they have characters.
    length += Buffer.byteLength(JSON.stringify([name, value]));
    if (length > maxLength) break;
    Object.defineProperty(act, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return act;
}
