import { SignatureTime, SignatureTimeSchema, type Signer, SignerSchema } from "@moorage/api/messages";
import { validate } from "../../aip/validate.ts";
import { type FieldViolation, invalidArgument } from "../../errors.ts";
import { milliseconds } from "../../lib/timestamps.ts";
import { PublicKeyError, publicKeyOf } from "./public-key.ts";

/**
 * Throws INVALID_ARGUMENT for a signer that this server would not verify signatures against, with all that is wrong:
 * nothing is accepted and then ignored.
 */
export function checkSigner(signer: Signer): void {
  validate(SignerSchema, signer);
  const violations = [...kindViolations(signer), ...keyViolations(signer), ...timeViolations(signer)];
  if (violations.length > 0) throw invalidArgument(...violations);
}

function kindViolations({ keys, keyless, x509 }: Signer): FieldViolation[] {
  if (x509 !== undefined)
    return [{ field: "x509", description: "certificates of Notation are not verified by this version of the server" }];
  if (keyless !== undefined)
    return [{ field: "keyless", description: "identities of Fulcio are not verified by this version of the server" }];
  return keys.length > 0 ? [] : [{ field: "keys", description: "is required: a signer has at least one key" }];
}

function keyViolations({ keys }: Signer): FieldViolation[] {
  const found: FieldViolation[] = [];
  const seen = new Map<string, number>();
  for (const [at, { pem, notBefore, notAfter }] of keys.entries()) {
    try {
      const { fingerprint } = publicKeyOf(pem);
      const first = seen.get(fingerprint);
      if (first !== undefined)
        found.push({ field: `keys[${at}].pem`, description: `is the same key as keys[${first}]` });
      seen.set(fingerprint, first ?? at);
    } catch (error) {
      if (!(error instanceof PublicKeyError)) throw error;
      found.push({ field: `keys[${at}].pem`, description: error.message });
    }
    if (notBefore !== undefined && notAfter !== undefined && milliseconds(notBefore) >= milliseconds(notAfter))
      found.push({ field: `keys[${at}].notAfter`, description: "must be after notBefore" });
  }
  return found;
}

function timeViolations({ times, requireLog }: Signer): FieldViolation[] {
  const found: FieldViolation[] = [];
  for (const [at, time] of times.entries())
    if (time !== SignatureTime.REGISTRY) {
      const name = SignatureTimeSchema.value[time]?.name.replace("SIGNATURE_TIME_", "") ?? String(time);
      found.push({
        field: `times[${at}]`,
        description: `${name} is not verified for keys by this version: use REGISTRY`,
      });
    }
  if (requireLog)
    found.push({ field: "requireLog", description: "entries of a log are not verified for keys by this version" });
  return found;
}
