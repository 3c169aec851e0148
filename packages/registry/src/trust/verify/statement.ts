import { SignatureCode } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { parseStrictJson } from "@moorage/kernel/lib/strict-json";
import { type Claims, claimsOf } from "../claims/claims.ts";
import { SignatureError } from "./types.ts";

const MAX_DEPTH = 64;
const MAX_VALUES = 4_000_000;
const MAX_SUBJECTS = 10_000;
const MAX_PREDICATE_TYPE = 512;

const STATEMENTS: ReadonlySet<unknown> = new Set([
  "https://in-toto.io/Statement/v0.1",
  "https://in-toto.io/Statement/v1",
]);
/** What cosign 3 states of an image that it signs: an attestation in form, a signature of the image by what it says. */
const COSIGN_SIGN = "https://sigstore.dev/cosign/sign/v1";

/** Whether it is text without control characters, which no database refuses to store. */
function isPlain(text: string): boolean {
  return text !== "" && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

/** JSON of which nothing may stand twice. Throws a SignatureError. `what`: what it is called when it cannot be read. */
export function strictObject(bytes: Uint8Array, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseStrictJson(bytes, MAX_DEPTH, MAX_VALUES);
  } catch (error) {
    const { message } = error as Error;
    throw new SignatureError(SignatureCode.UNREADABLE, `${what} cannot be read as JSON: ${message.slice(0, 200)}`);
  }
  if (!isObject(value)) throw new SignatureError(SignatureCode.UNREADABLE, `${what} is not an object of JSON`);
  return value;
}

/** Bytes in base64, and nothing else in it. Throws a SignatureError. */
export function base64Of(value: unknown, what: string, maxBytes: number): Buffer {
  if (typeof value !== "string" || value === "")
    throw new SignatureError(SignatureCode.UNREADABLE, `${what} is missing`);
  if (value.length > Math.ceil(maxBytes / 3) * 4 + 4)
    throw new SignatureError(SignatureCode.UNREADABLE, `${what} is larger than ${maxBytes} bytes`);
  const bytes = Buffer.from(value, "base64");
  const unpadded = (text: string): string => text.replace(/={1,2}$/, "");
  if (unpadded(bytes.toString("base64")) !== unpadded(value))
    throw new SignatureError(SignatureCode.UNREADABLE, `${what} is not base64`);
  return bytes;
}

/** What a statement says of the image that it is about. */
export interface Statement {
  /** Empty where it is a signature of the image. */
  predicateType: string;
  claims: Claims;
}

/**
 * What an in-toto statement says of the subject: the type of its predicate, and what rules may ask of it. Throws a
 * SignatureError when it is about something else. Source: in-toto/attestation, spec/v1/statement.md.
 */
export function statementOf(payload: Uint8Array, subject: string): Statement {
  const statement = strictObject(payload, "the statement");
  if (!STATEMENTS.has(statement["_type"]))
    throw new SignatureError(SignatureCode.OTHER_PAYLOAD, "what is signed is not an in-toto statement");
  const { predicateType, subject: subjects } = statement;
  if (typeof predicateType !== "string" || !isPlain(predicateType) || predicateType.length > MAX_PREDICATE_TYPE)
    throw new SignatureError(SignatureCode.OTHER_PAYLOAD, "the statement has no predicateType");
  const [algorithm = "", hex = ""] = subject.split(":");
  const about =
    Array.isArray(subjects) && subjects.length <= MAX_SUBJECTS
      ? subjects
          .filter(isObject)
          .filter(({ digest }) => isObject(digest) && Object.hasOwn(digest, algorithm) && digest[algorithm] === hex)
      : [];
  if (about.length === 0) throw new SignatureError(SignatureCode.OTHER_IMAGE, `the statement is not about ${subject}`);
  const { predicate } = statement;
  // Of a digest that stands twice only what both say counts.
  const annotations = about.length === 1 ? about[0]?.["annotations"] : undefined;
  const claims = claimsOf({ names: about.map(({ name }) => name), annotations, predicateType, predicate });
  return { predicateType: predicateType === COSIGN_SIGN ? "" : predicateType, claims };
}
