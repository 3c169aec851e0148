import { createPublicKey, X509Certificate } from "node:crypto";
import { isObject } from "@moorage/kernel/lib/json";
import { parseStrictJson } from "@moorage/kernel/lib/strict-json";

const MAX_DEPTH = 32;
const MAX_VALUES = 10_000;

/**
 * Whether an entry of a log names the certificate, or its key, as that which has signed: an entry of the same signature
 * by another key is somebody else's. Source: rekor, pkg/types (hashedrekord, dsse, intoto); rekor-tiles,
 * hashedrekord.proto and dsse.proto.
 */
export function isEntryOf(body: Uint8Array, certificate: X509Certificate): boolean {
  const wanted = certificate.publicKey.export({ type: "spki", format: "der" });
  const makers = makersIn(parseStrictJson(body, MAX_DEPTH, MAX_VALUES));
  return makers.length > 0 && makers.every((maker) => keyOf(maker)?.equals(wanted) === true);
}

const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce((found: unknown, name) => (isObject(found) ? found[name] : undefined), value);
const listAt = (value: unknown, ...path: string[]): unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

/** All that the entry names as makers, each in base64. */
function makersIn(body: unknown): string[] {
  const spec = at(body, "spec");
  const verifiers = [
    at(spec, "hashedRekordV002", "signature", "verifier"),
    ...listAt(spec, "dsseV002", "signatures").map((each) => at(each, "verifier")),
  ];
  const found = [
    at(spec, "signature", "publicKey", "content"),
    ...listAt(spec, "signatures").map((each) => at(each, "verifier")),
    ...listAt(spec, "content", "envelope", "signatures").map((each) => at(each, "publicKey")),
    ...verifiers.flatMap((each) => [at(each, "x509Certificate", "rawBytes"), at(each, "publicKey", "rawBytes")]),
  ];
  return found.filter((each): each is string => typeof each === "string");
}

/** The key of a certificate or of a public key, in PEM or DER, as DER. */
function keyOf(maker: string): Buffer | undefined {
  const bytes = Buffer.from(maker, "base64");
  const reads = [
    () => new X509Certificate(bytes).publicKey,
    () => createPublicKey(bytes),
    () => createPublicKey({ key: bytes, format: "der", type: "spki" }),
  ];
  for (const read of reads)
    try {
      return read().export({ type: "spki", format: "der" });
    } catch {
      // In another form.
    }
  return undefined;
}
