// Envelopes of Notation, made with other libraries than those that verify them where there are some.
import { constants, createHash, type KeyObject, sign } from "node:crypto";
import { encode, Tagged } from "cborg";
import { FlattenedSign } from "jose";
import type { Place } from "./catalog/place.ts";
import { pushArtifact } from "./catalog/push.ts";
import { der, generalizedTime, integer, octets, oid, sequence, set } from "./der.ts";
import { type Holder, issuerAndSerial } from "./notation-certificates.ts";

const NOTATION = "application/vnd.cncf.notary.signature";
export const JWS = "application/jose+json";
export const COSE = "application/cose";
const PAYLOAD = "application/vnd.cncf.notary.payload.v1+json";
export const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const SCHEME = "io.cncf.notary.signingScheme";
const SIGNED = "io.cncf.notary.signingTime";
const AUTHENTIC = "io.cncf.notary.authenticSigningTime";
const EXPIRY = "io.cncf.notary.expiry";
const STAMP = "io.cncf.notary.timestampSignature";

/** What an envelope says; by default what Notation writes for the scheme X509, signed now. */
export interface EnvelopeFields {
  isAuthority?: boolean;
  signedMs?: number;
  expiryMs?: number;
  /** What is written over the headers that are signed; undefined leaves one out. */
  headers?: Record<string, unknown>;
  /** Makes a token for the signature. */
  stamp?: (signature: Buffer) => Buffer;
}

/** The payload about a manifest. */
export function payloadOf(digest: string, size: number, fields: object = {}): string {
  return JSON.stringify({ targetArtifact: { mediaType: MANIFEST, digest, size, ...fields } });
}

const algorithmOf = ({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string =>
  type === "rsa"
    ? "PS256"
    : ({ prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" }[details?.namedCurve ?? ""] ?? "none");

function headersOf(
  { isAuthority = false, signedMs = Date.now(), expiryMs, headers }: EnvelopeFields,
  time: (ms: number) => unknown,
) {
  const all: Record<string, unknown> = {
    crit: [SCHEME, ...(isAuthority ? [AUTHENTIC] : []), ...(expiryMs === undefined ? [] : [EXPIRY])],
    cty: PAYLOAD,
    [SCHEME]: isAuthority ? "notary.x509.signingAuthority" : "notary.x509",
    [isAuthority ? AUTHENTIC : SIGNED]: time(signedMs),
    ...(expiryMs !== undefined && { [EXPIRY]: time(expiryMs) }),
    ...headers,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** An envelope in JSON, as an object. */
export async function jwsParts(
  [leaf, ...others]: readonly [Holder, ...Holder[]],
  payload: string,
  fields: EnvelopeFields = {},
): Promise<Record<string, unknown>> {
  const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, "");
  const alg = algorithmOf(leaf.key);
  const names = headersOf(fields, time);
  const crit = Object.fromEntries(((names["crit"] as string[] | undefined) ?? []).map((name) => [name, true]));
  const made = await new FlattenedSign(Buffer.from(payload))
    .setProtectedHeader({ alg, ...names } as { alg: string })
    .sign(leaf.key, { crit });
  const stamp = fields.stamp?.(Buffer.from(made.signature, "base64url")).toString("base64");
  const x5c = [leaf, ...others].map((each) => each.der.toString("base64"));
  return { ...made, header: { x5c, ...(stamp !== undefined && { [STAMP]: stamp }) } };
}

/** The same as it is stored. */
export async function jwsEnvelope(...parts: Parameters<typeof jwsParts>): Promise<Buffer> {
  return Buffer.from(JSON.stringify(await jwsParts(...parts)));
}

const COSE_ALGORITHMS: Readonly<Record<string, number>> = { ES256: -7, ES384: -35, ES512: -36, PS256: -37 };
const COSE_LABELS: Readonly<Record<string, number>> = { alg: 1, crit: 2, cty: 3 };
const EMPTY = new Uint8Array();

/** An envelope in CBOR. */
export function coseEnvelope(
  [leaf, ...others]: readonly [Holder, ...Holder[]],
  payload: string,
  fields: EnvelopeFields = {},
): Buffer {
  const time = (ms: number): Tagged => new Tagged(1, Math.trunc(ms / 1_000));
  const alg = algorithmOf(leaf.key);
  const names = Object.entries({ alg: COSE_ALGORITHMS[alg], ...headersOf(fields, time) });
  const head = encode(new Map(names.map(([name, value]) => [COSE_LABELS[name] ?? name, value])));
  const message = encode(["Signature1", head, EMPTY, Buffer.from(payload)]);
  const hash = { ES384: "sha384", ES512: "sha512" }[alg] ?? "sha256";
  const signature = sign(hash, message, {
    key: leaf.key,
    dsaEncoding: "ieee-p1363",
    ...(alg === "PS256" && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
  });
  const stamp = fields.stamp?.(signature);
  const open = new Map<number | string, unknown>([[33, [leaf, ...others].map((each) => each.der)]]);
  if (stamp !== undefined) open.set(STAMP, stamp);
  return Buffer.from(encode(new Tagged(18, [head, open, Buffer.from(payload), signature])));
}

/** A token of a time-stamping authority for bytes. `ms`: its time. Source: RFC 3161, section 2.4.2; RFC 5652. */
export function stampToken(tsa: Holder, others: readonly Holder[], stamped: Uint8Array, ms: number): Buffer {
  const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
  const algorithm = sequence(oid("2.16.840.1.101.3.4.2.1"));
  const info = sequence(
    integer(1),
    oid("1.2.3.4.1"),
    sequence(algorithm, octets(sha256(stamped))),
    integer(7),
    generalizedTime(ms),
    sequence(integer(1)),
  );
  const attribute = (id: string, value: Buffer): Buffer => sequence(oid(id), set(value));
  const attributes = Buffer.concat([
    attribute("1.2.840.113549.1.9.3", oid("1.2.840.113549.1.9.16.1.4")),
    attribute("1.2.840.113549.1.9.4", octets(sha256(info))),
    attribute("1.2.840.113549.1.9.16.2.47", sequence(sequence(sequence(octets(sha256(tsa.der)))))),
  ]);
  const isRsa = tsa.key.asymmetricKeyType === "rsa";
  const signer = sequence(
    integer(1),
    issuerAndSerial(tsa.der),
    algorithm,
    der(0xa0, attributes),
    isRsa ? sequence(oid("1.2.840.113549.1.1.1"), der(0x05, "")) : sequence(oid("1.2.840.10045.4.3.2")),
    octets(sign("sha256", der(0x31, attributes), tsa.key)),
  );
  const data = sequence(
    integer(3),
    set(algorithm),
    sequence(oid("1.2.840.113549.1.9.16.1.4"), der(0xa0, octets(info))),
    der(0xa0, Buffer.concat([tsa, ...others].map((each) => each.der))),
    set(signer),
  );
  return sequence(oid("1.2.840.113549.1.7.2"), der(0xa0, data));
}

/** Pushes an envelope as Notation does. Answers the manifest's digest. `byConfig`: as its first versions did. */
export async function pushNotation(
  place: Place,
  subject: string,
  content: Uint8Array,
  { mediaType = JWS, byConfig = false }: { mediaType?: string; byConfig?: boolean } = {},
): Promise<string> {
  const layers = [{ mediaType, content }];
  return await pushArtifact(
    place,
    byConfig
      ? { subject, layers, config: { mediaType: NOTATION, content: "{}" } }
      : { subject, layers, artifactType: NOTATION },
  );
}
