import { isObject } from "@moorage/kernel/lib/json";
import { kindOfPredicate, type PredicateKind } from "./media-types.ts";
import { AttachedError } from "./types.ts";

/** A document without its envelopes. */
export interface Opened {
  document: Record<string, unknown>;
  /** What the statement around it says that it is; undefined without a statement. */
  kind?: PredicateKind;
}

export const IN_TOTO = "application/vnd.in-toto+json";
const STATEMENT = /^https:\/\/in-toto\.io\/Statement\/v(?:0\.1|1)$/;
const BUNDLE = /^application\/vnd\.dev\.sigstore\.bundle/;

/**
 * The document in a Sigstore bundle, a DSSE envelope, an in-toto statement, or alone. Signatures are not verified.
 * Undefined for what is none of these: a signature alone, a statement of another kind. `parse` reads what is in an
 * envelope. Throws an AttachedError when a statement is not about `subject`. Source: sigstore/protobuf-specs, bundle;
 * secure-systems-lab/dsse, envelope.md; in-toto/attestation, spec/v1/statement.md.
 */
export function openEnvelopes(value: unknown, subject: string, parse: (bytes: Buffer) => unknown): Opened | undefined {
  let content = objectOf(value);
  if (typeof content["mediaType"] === "string" && BUNDLE.test(content["mediaType"])) {
    if (content["dsseEnvelope"] === undefined) return undefined;
    // One program may verify what is in the one, and another read what is in the other.
    if (content["payload"] !== undefined) throw new AttachedError("it is both a bundle and an envelope");
    content = objectOf(content["dsseEnvelope"]);
  }
  const { payload, payloadType } = content;
  if (typeof payload === "string" && typeof payloadType === "string") {
    if (payloadType !== IN_TOTO) return undefined;
    content = objectOf(parse(Buffer.from(payload, "base64")));
    if (!isStatement(content)) throw new AttachedError("payload: is no in-toto statement");
  }
  if (!isStatement(content)) return { document: content };
  const { predicateType } = content;
  const kind = typeof predicateType === "string" ? kindOfPredicate(predicateType) : undefined;
  if (kind === undefined) return undefined;
  requireSubject(content["subject"], subject);
  return { document: objectOf(predicateOf(content["predicate"], parse)), kind };
}

function isStatement(content: Record<string, unknown>): boolean {
  return typeof content["_type"] === "string" && STATEMENT.test(content["_type"]);
}

function requireSubject(subjects: unknown, subject: string): void {
  const [algorithm = "", hex] = subject.split(":");
  const isNamed =
    Array.isArray(subjects) &&
    subjects.some((each) => isObject(each) && isObject(each["digest"]) && each["digest"][algorithm] === hex);
  if (!isNamed) throw new AttachedError(`subject: the statement is not about ${subject}`);
}

/** Cosign once wrote predicates as `{"Data": …}`, with the document in it or its text. */
function predicateOf(predicate: unknown, parse: (bytes: Buffer) => unknown): unknown {
  if (!isObject(predicate) || predicate["Data"] === undefined) return predicate;
  const { Data: data } = predicate;
  return typeof data === "string" ? parse(Buffer.from(data)) : data;
}

function objectOf(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new AttachedError("is no object of JSON");
  return value;
}
