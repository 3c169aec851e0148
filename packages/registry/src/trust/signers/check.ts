import {
  SignatureTime,
  SignatureTimeSchema,
  type Signer,
  type SignerIdentity,
  SignerSchema,
} from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { compilePattern, PatternError } from "@moorage/kernel/lib/patterns";
import { certificatesViolations } from "./check-certificates.ts";
import { FULCIO_EXTENSIONS } from "./fulcio-extensions.ts";
import { PublicKeyError, publicKeyOf } from "./public-key.ts";

/**
 * Throws INVALID_ARGUMENT for a signer that this server would not verify signatures against, with all that is wrong:
 * nothing is accepted and then ignored.
 */
export function checkSigner(
  signer: Signer,
  { hasSigstoreRoot = false, asksAuthorities = false }: Pick<ServiceContext, "hasSigstoreRoot" | "asksAuthorities">,
): void {
  validate(SignerSchema, signer);
  const violations = [...kindViolations(signer), ...keyViolations(signer), ...timeViolations(signer)];
  const { keyless, x509 } = signer;
  if (keyless !== undefined) violations.push(...identityViolations(keyless, hasSigstoreRoot));
  if (x509 !== undefined) violations.push(...certificatesViolations(x509, signer, asksAuthorities));
  if (violations.length > 0) throw invalidArgument(...violations);
}

function kindViolations({ keys, keyless, x509 }: Signer): FieldViolation[] {
  const kinds = [
    ...(keys.length > 0 ? ["keys"] : []),
    ...(keyless === undefined ? [] : ["keyless"]),
    ...(x509 === undefined ? [] : ["x509"]),
  ];
  const [first, second = ""] = kinds;
  if (first === undefined)
    return [{ field: "keys", description: "is required: a signer has keys, or keyless, or x509" }];
  if (kinds.length === 1) return [];
  return [{ field: second, description: `and ${first} exclude each other: make two signers` }];
}

function identityViolations(
  { trustRoot, subject, subjectPattern, extensions }: SignerIdentity,
  hasSigstoreRoot: boolean,
): FieldViolation[] {
  const found: FieldViolation[] = [];
  const wrong = (field: string, description: string): void =>
    void found.push({ field: `keyless.${field}`, description });
  if (trustRoot === "" && !hasSigstoreRoot)
    wrong(
      "trustRoot",
      "is required: the server has neither MOORAGE_SIGSTORE_ROOT nor MOORAGE_SIGSTORE_TUF_URL (moorage trust-roots create)",
    );
  if ((subject === "") === (subjectPattern === ""))
    wrong("subject", "exactly one of subject and subjectPattern is required");
  const check = (field: string, pattern: string): void => {
    const problem = patternProblem(pattern);
    if (problem !== undefined) wrong(field, problem);
  };
  if (subjectPattern !== "") check("subjectPattern", subjectPattern);
  for (const [name, pattern] of Object.entries(extensions)) {
    if (FULCIO_EXTENSIONS[name] === undefined)
      wrong("extensions", `there is no ${name}: use ${Object.keys(FULCIO_EXTENSIONS).join(", ")}`);
    else check(`extensions[${name}]`, pattern);
  }
  return found;
}

/** The most steps for each character that a pattern may take. */
const MAX_STEPS = 2_000;

function patternProblem(pattern: string): string | undefined {
  try {
    const { steps } = compilePattern(pattern);
    return steps > MAX_STEPS ? `is too complex: it takes ${steps} steps, more than ${MAX_STEPS}` : undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
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

/** What signers of each kind are called, and whose word of the time counts for them. */
function timesFor({ keyless, x509 }: Signer): { of: string; able: readonly SignatureTime[] } {
  if (keyless !== undefined) return { of: "identities", able: [SignatureTime.LOG, SignatureTime.TIMESTAMP] };
  if (x509 !== undefined) return { of: "certificates", able: [SignatureTime.TIMESTAMP, SignatureTime.REGISTRY] };
  return { of: "keys", able: [SignatureTime.REGISTRY] };
}

function timeViolations(signer: Signer): FieldViolation[] {
  const { times, requireLog, keyless } = signer;
  const found: FieldViolation[] = [];
  const { of, able } = timesFor(signer);
  const nameOf = (time: SignatureTime): string =>
    SignatureTimeSchema.value[time]?.name.replace("SIGNATURE_TIME_", "") ?? String(time);
  for (const [at, time] of times.entries())
    if (!able.includes(time)) {
      const description = `${nameOf(time)} is not verified for ${of} by this version: use ${able.map(nameOf).join(", ")}`;
      found.push({ field: `times[${at}]`, description });
    }
  if (requireLog && keyless === undefined)
    found.push({ field: "requireLog", description: `entries of a log are not verified for ${of} by this version` });
  return found;
}
