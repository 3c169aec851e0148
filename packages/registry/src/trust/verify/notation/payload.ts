import { SignatureCode } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { type Claims, claimsOf } from "../../claims/claims.ts";
import { strictObject } from "../statement.ts";
import { SignatureError } from "../types.ts";

/** The manifest that a signature is to be about. */
export interface Target {
  digest: string;
  mediaType: string;
  size: number;
}

/**
 * What the payload says of the image that rules may ask for. Throws a SignatureError unless it is about exactly this
 * manifest. Source: notaryproject/specifications, signature-specification.md, "Payload".
 */
export function payloadClaims(payload: Uint8Array, target: Target): Claims {
  const { targetArtifact: about } = strictObject(payload, "the payload");
  if (!isObject(about)) throw new SignatureError(SignatureCode.OTHER_PAYLOAD, "the payload has no targetArtifact");
  const { digest, mediaType, size, annotations } = about;
  if (digest !== target.digest)
    throw new SignatureError(SignatureCode.OTHER_IMAGE, `what is signed is not about ${target.digest}`);
  if (mediaType !== target.mediaType)
    throw new SignatureError(SignatureCode.OTHER_IMAGE, `what is signed is not of the type ${target.mediaType}`);
  if (size !== target.size)
    throw new SignatureError(SignatureCode.OTHER_IMAGE, `what is signed does not have ${target.size} bytes`);
  return claimsOf({ names: [], annotations });
}
