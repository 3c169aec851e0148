import { SignatureCode } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import type { SignedBytes } from "./simple-signing.ts";
import { base64Of, type Statement, statementOf } from "./statement.ts";
import { SignatureError } from "./types.ts";

const MAX_PAYLOAD = 64 << 20;
const MAX_SIGNATURE = 4 << 10;
const MAX_SIGNATURES = 10;
const IN_TOTO = "application/vnd.in-toto+json";

/**
 * The bytes that the signatures of a DSSE envelope are of, and what the in-toto statement in it states of the subject.
 * Throws a SignatureError when it is about something else. Source: secure-systems-lab/dsse, protocol.md.
 */
export function dsse(envelope: Readonly<Record<string, unknown>>, subject: string): SignedBytes & Statement {
  const { payloadType, payload: text, signatures } = envelope;
  if (payloadType !== IN_TOTO)
    throw new SignatureError(SignatureCode.OTHER_PAYLOAD, `what is signed does not have the type ${IN_TOTO}`);
  const payload = base64Of(text, "the payload", MAX_PAYLOAD);
  if (!Array.isArray(signatures) || signatures.length === 0 || signatures.length > MAX_SIGNATURES)
    throw new SignatureError(SignatureCode.UNREADABLE, `the envelope must have 1 to ${MAX_SIGNATURES} signatures`);
  const all = signatures.map((each, at) =>
    base64Of(isObject(each) ? each["sig"] : undefined, `signatures[${at}].sig`, MAX_SIGNATURE),
  );
  const head = Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `);
  return {
    message: Buffer.concat([head, payload]),
    signatures: all,
    ...statementOf(payload, subject),
  };
}
