import { createHash } from "node:crypto";
import { SignatureCode } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { isBundle } from "../attached/formats.ts";
import { dsse } from "./dsse.ts";
import type { SignedBytes } from "./simple-signing.ts";
import { claimsOf } from "../claims/claims.ts";
import { base64Of, type Statement } from "./statement.ts";
import { NOT_HELD } from "../missing-subject.ts";
import { SignatureError } from "./types.ts";

const MAX_SIGNATURE = 4 << 10;
const MAX_DIGEST = 64;
/** What is signed is the manifest alone, which says nothing of itself. */
const NO_CLAIMS = claimsOf({ names: [], annotations: {} });
/** By the names of Sigstore. */
const HASHES: Readonly<Record<string, string>> = { SHA2_256: "sha256", SHA2_384: "sha384", SHA2_512: "sha512" };

/**
 * What a bundle of Sigstore has signed: an in-toto statement about the subject, or the bytes of its manifest. Throws a
 * SignatureError. Source: sigstore/protobuf-specs, sigstore_bundle.proto; cosign, specs/BUNDLE_SPEC.md.
 */
export function bundle(
  value: Readonly<Record<string, unknown>>,
  subject: string,
  subjectContent: Uint8Array | undefined,
): SignedBytes & Statement {
  const { mediaType, dsseEnvelope, messageSignature } = value;
  if (typeof mediaType !== "string" || !isBundle(mediaType))
    throw new SignatureError(SignatureCode.UNKNOWN_FORMAT, "it does not say which version of Sigstore's bundle it is");
  if ((dsseEnvelope === undefined) === (messageSignature === undefined))
    throw new SignatureError(SignatureCode.UNREADABLE, "a bundle has either dsseEnvelope or messageSignature");
  if (isObject(dsseEnvelope)) return dsse(dsseEnvelope, subject);
  if (!isObject(messageSignature))
    throw new SignatureError(SignatureCode.UNREADABLE, "neither dsseEnvelope nor messageSignature is an object");
  if (subjectContent === undefined) throw new SignatureError(SignatureCode.UNREADABLE, NOT_HELD);
  requireDigest(messageSignature["messageDigest"], subjectContent, subject);
  const signature = base64Of(messageSignature["signature"], "messageSignature.signature", MAX_SIGNATURE);
  return { message: subjectContent, signatures: [signature], predicateType: "", claims: NO_CLAIMS };
}

/** The digest in the bundle is a hint, which must not contradict the manifest. */
function requireDigest(stated: unknown, content: Uint8Array, subject: string): void {
  if (stated === undefined) return;
  const { algorithm, digest } = isObject(stated) ? stated : {};
  const hash = typeof algorithm === "string" ? HASHES[algorithm] : undefined;
  const bytes = base64Of(digest, "messageSignature.messageDigest.digest", MAX_DIGEST);
  if (hash === undefined || !createHash(hash).update(content).digest().equals(bytes))
    throw new SignatureError(SignatureCode.OTHER_IMAGE, `what is signed is not the manifest ${subject}`);
}
