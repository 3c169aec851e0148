import { SignatureCode } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { type Claims, claimsOf } from "../claims/claims.ts";
import { base64Of, strictObject } from "./statement.ts";
import { SignatureError } from "./types.ts";

const MAX_PAYLOAD = 64 << 10;
const MAX_SIGNATURE = 4 << 10;
const TYPE = "cosign container image signature";
const SIGNATURE = "dev.cosignproject.cosign/signature";

/** What is signed, and by what bytes. */
export interface SignedBytes {
  message: Uint8Array;
  signatures: readonly Uint8Array[];
}

/**
 * The signature of an image as cosign 2 stores it: a payload in a layer, whose annotation has the signature of exactly
 * its bytes. Throws a SignatureError when the payload is not one of the subject. The image's name in it says where the
 * signature was made, which only rules look at that ask for it. Source: cosign, specs/SIGNATURE_SPEC.md.
 */
export function simpleSigning(
  payload: Uint8Array,
  annotations: Readonly<Record<string, string>>,
  subject: string,
): SignedBytes & { claims: Claims } {
  if (payload.length > MAX_PAYLOAD)
    throw new SignatureError(
      SignatureCode.UNREADABLE,
      `the payload has ${payload.length} bytes, more than ${MAX_PAYLOAD}`,
    );
  const signature = base64Of(annotations[SIGNATURE], `the annotation ${SIGNATURE}`, MAX_SIGNATURE);
  const { critical, optional } = strictObject(payload, "the payload");
  if (!isObject(critical) || critical["type"] !== TYPE)
    throw new SignatureError(SignatureCode.OTHER_PAYLOAD, `what is signed does not have the type "${TYPE}"`);
  const { image, identity } = critical;
  if (!isObject(image) || image["docker-manifest-digest"] !== subject)
    throw new SignatureError(SignatureCode.OTHER_IMAGE, `what is signed is not about ${subject}`);
  const names = isObject(identity) ? [identity["docker-reference"]] : [];
  return { message: payload, signatures: [signature], claims: claimsOf({ names, annotations: optional }) };
}
