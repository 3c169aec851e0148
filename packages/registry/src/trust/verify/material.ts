import { createHash, X509Certificate } from "node:crypto";
import { SignatureCode } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { strictObject } from "./statement.ts";
import { SignatureError } from "./types.ts";

const CERTIFICATE = "dev.sigstore.cosign/certificate";
const LOG_ENTRY = "dev.sigstore.cosign/bundle";
const TIMESTAMP = "dev.sigstore.cosign/rfc3161timestamp";
const V01 = "application/vnd.dev.sigstore.bundle+json;version=0.1";
const MAX_PEM = 64 << 10;

/** Whether a bundle was made with a certificate, and not with a key. */
export function hasCertificate(bundle: Readonly<Record<string, unknown>>): boolean {
  const material = bundle["verificationMaterial"];
  return isObject(material) && (isObject(material["certificate"]) || isObject(material["x509CertificateChain"]));
}

/**
 * What cosign 2 keeps in the annotations of a layer beside the signature, as the bundle that says the same: the
 * certificate, the entry of the log with its promise, and a time stamp. Undefined for a layer without a certificate.
 * Throws a SignatureError. Source: cosign, specs/SIGNATURE_SPEC.md; rekor, the signed entry timestamp.
 */
export function bundleOfAnnotations(
  annotations: Readonly<Record<string, string>>,
  content: { message: Uint8Array; signature: Uint8Array } | { envelope: Record<string, unknown> },
): Record<string, unknown> | undefined {
  const pem = annotations[CERTIFICATE];
  if (pem === undefined || pem === "") return undefined;
  const entry = annotations[LOG_ENTRY];
  const stamp = annotations[TIMESTAMP];
  return {
    mediaType: V01,
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: derOf(pem) }] },
      tlogEntries: entry === undefined || entry === "" ? [] : [entryOf(entry)],
      timestampVerificationData: { rfc3161Timestamps: stamp === undefined || stamp === "" ? [] : [stampOf(stamp)] },
    },
    ...("envelope" in content
      ? { dsseEnvelope: content.envelope }
      : {
          messageSignature: {
            messageDigest: {
              algorithm: "SHA2_256",
              digest: createHash("sha256").update(content.message).digest("base64"),
            },
            signature: Buffer.from(content.signature).toString("base64"),
          },
        }),
  };
}

function derOf(pem: string): string {
  if (pem.length > MAX_PEM) throw bad(`the annotation ${CERTIFICATE} has more than ${MAX_PEM} characters`);
  try {
    return new X509Certificate(pem).raw.toString("base64");
  } catch (error) {
    throw bad(`the annotation ${CERTIFICATE} cannot be read: ${(error as Error).message}`);
  }
}

function entryOf(text: string): object {
  const { SignedEntryTimestamp: promise, Payload: payload } = strictObject(
    Buffer.from(text),
    `the annotation ${LOG_ENTRY}`,
  );
  if (typeof promise !== "string" || !isObject(payload))
    throw bad(`the annotation ${LOG_ENTRY} is not an entry of a log`);
  const { body, integratedTime, logIndex, logID } = payload;
  if (
    typeof body !== "string" ||
    typeof logID !== "string" ||
    !Number.isSafeInteger(integratedTime) ||
    !Number.isSafeInteger(logIndex)
  )
    throw bad(`the annotation ${LOG_ENTRY} lacks body, integratedTime, logIndex or logID`);
  const { kind, apiVersion } = strictObject(Buffer.from(body, "base64"), "the entry of the log");
  return {
    logIndex: String(logIndex),
    logId: { keyId: Buffer.from(logID, "hex").toString("base64") },
    kindVersion: { kind: String(kind), version: String(apiVersion) },
    integratedTime: String(integratedTime),
    inclusionPromise: { signedEntryTimestamp: promise },
    canonicalizedBody: body,
  };
}

function stampOf(text: string): object {
  const { SignedRFC3161Timestamp: stamp } = strictObject(Buffer.from(text), `the annotation ${TIMESTAMP}`);
  if (typeof stamp !== "string") throw bad(`the annotation ${TIMESTAMP} has no time stamp`);
  return { signedTimestamp: stamp };
}

function bad(message: string): SignatureError {
  return new SignatureError(SignatureCode.BAD_CERTIFICATE, message);
}
