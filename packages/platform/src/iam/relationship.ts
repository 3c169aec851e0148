import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AWSIdentity, ClaimMatch, Identity, StaticKeys } from "@moorage/api/messages";
import { isIssuerUrl } from "@moorage/kernel/lib/issuer-url";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { jwksFault } from "@moorage/kernel/lib/jwks";
import { compilePattern, PatternError } from "@moorage/kernel/lib/patterns";
import type { FieldViolation } from "@moorage/kernel/errors";

const MAX_MATCHERS = 64;
// All patterns of one identity together: what they may cost in an exchange is bounded, see auth/exchange.
const MAX_PATTERN_STEPS = 10_000;
const TOO_COMPLEX = "is too complex, together with the other patterns of the identity";
const MAX_JWKS_DEPTH = 8;

/**
 * All violations of the identity's relationship; field names are relative to the identity. An identity without a
 * relationship is valid: it cannot be assumed.
 */
export function validateRelationship(identity: Identity): FieldViolation[] {
  const { relationship } = identity;
  switch (relationship.case) {
    case undefined:
      return [];
    case "claimMatch":
      return claimMatchFaults(relationship.value);
    case "staticKeys":
      return staticKeysFaults(relationship.value);
    case "awsIdentity":
      return awsIdentityFaults(relationship.value);
    case "servicePrincipal":
      return [{ field: "servicePrincipal", description: "must name a service" }];
  }
}

function claimMatchFaults({ iss, sub, aud, claims, claimPatterns }: ClaimMatch): FieldViolation[] {
  const faults: FieldViolation[] = [];
  const add = (field: string, description: string | undefined) => {
    if (description !== undefined) faults.push({ field: `claimMatch.${field}`, description });
  };
  const patternFault = patternCheck();
  if (iss.case === "issuerPattern") add("issuerPattern", patternFault(iss.value));
  else add("issuer", iss.value ? issuerFault(iss.value) : "is required");
  if (sub.case === "subjectPattern") add("subjectPattern", patternFault(sub.value));
  else add("subject", sub.value ? undefined : "is required");
  if (aud.case === "audiencePattern") add("audiencePattern", patternFault(aud.value));
  if (aud.case === "audience") add("audience", aud.value === "" ? "must not be empty" : undefined);
  for (const [field, map] of [
    ["claims", claims],
    ["claimPatterns", claimPatterns],
  ] as const) {
    if (Object.keys(map).length > MAX_MATCHERS) add(field, `must have at most ${MAX_MATCHERS} entries`);
    if (Object.hasOwn(map, "")) add(field, "must name claims that are not empty");
  }
  for (const [claim, pattern] of Object.entries(claimPatterns).slice(0, MAX_MATCHERS)) {
    const fault = patternFault(pattern);
    add("claimPatterns", fault === undefined ? undefined : `${claim}: ${fault}`);
  }
  return faults;
}

function staticKeysFaults({ issuer, subject, issuerKeys, expirationTime, audiences }: StaticKeys): FieldViolation[] {
  const faults: FieldViolation[] = [];
  const add = (field: string, description: string | undefined) => {
    if (description !== undefined) faults.push({ field: `staticKeys.${field}`, description });
  };
  add("issuer", issuer === "" ? "is required" : undefined);
  add("subject", subject === "" ? "is required" : undefined);
  add("issuerKeys", issuerKeys === "" ? "is required" : jwksFault(parseKeys(issuerKeys)));
  add(
    "expirationTime",
    expirationTime && !Number.isSafeInteger(timestampMs(expirationTime)) ? "is not a time" : undefined,
  );
  if (audiences.includes("")) add("audiences", "must not be empty");
  if (audiences.length > MAX_MATCHERS) add("audiences", `must have at most ${MAX_MATCHERS} entries`);
  return faults;
}

function awsIdentityFaults({ awsAccount, awsArn, awsUserId }: AWSIdentity): FieldViolation[] {
  const faults: FieldViolation[] = [];
  if (!/^\d{12}$/.test(awsAccount))
    faults.push({ field: "awsIdentity.awsAccount", description: "must be an account number of 12 digits" });
  const patternFault = patternCheck();
  for (const one of [awsArn, awsUserId]) {
    const fault = one.case?.endsWith("Pattern")
      ? patternFault(one.value ?? "")
      : one.value === ""
        ? "must not be empty"
        : undefined;
    if (fault !== undefined) faults.push({ field: `awsIdentity.${one.case}`, description: fault });
  }
  if (awsArn.case === undefined && awsUserId.case === undefined)
    faults.push({ field: "awsIdentity.arn", description: "is required, or a user id" });
  return faults;
}

/** The document. Undefined if the text is not a JSON object. */
function parseKeys(text: string): unknown {
  try {
    const document = parseJson(text, MAX_JWKS_DEPTH);
    return isObject(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

function issuerFault(text: string): string | undefined {
  return isIssuerUrl(text) ? undefined : "must be an http or https URL without user, query, fragment and dot segments";
}

/** Checks the patterns of one identity, one after the other: what is wrong with each; undefined when nothing is. */
function patternCheck(): (pattern: string) => string | undefined {
  let steps = 0;
  return (pattern) => {
    if (pattern === "") return "must not be empty";
    // Compiling takes time too.
    if (steps > MAX_PATTERN_STEPS) return TOO_COMPLEX;
    try {
      steps += compilePattern(pattern).steps;
    } catch (error) {
      if (error instanceof PatternError) return error.message;
      throw error;
    }
    return steps > MAX_PATTERN_STEPS ? TOO_COMPLEX : undefined;
  };
}
