// Certificates that sign images, as Notation wants them, or as it does not.
import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import { bits, bitString, der, generalizedTime, integer, octets, oid, pem, sequence, set, utcTime } from "./der.ts";
import { nextRsaKeys } from "./rsa-keys.ts";

const DAY_MS = 86_400_000;
const ATTRIBUTES = { C: "2.5.4.6", ST: "2.5.4.8", O: "2.5.4.10", OU: "2.5.4.11", CN: "2.5.4.3" } as const;
export const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";
export const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
export const SERVER = "1.3.6.1.5.5.7.3.1";

export type Attribute = readonly [type: keyof typeof ATTRIBUTES, value: string];

/** A certificate with its key. */
export interface Holder {
  der: Buffer;
  pem: string;
  key: KeyObject;
}

/** What it says; by default it signs code, from yesterday until tomorrow. An authority's begins a month ago. */
export interface CertificateFields {
  subject?: readonly Attribute[];
  keys?: { privateKey: KeyObject; publicKey: KeyObject };
  /** Whether it is one of an authority, and how many may come below. */
  isAuthority?: boolean;
  pathLength?: number;
  /** The bits of the key usage. */
  usage?: readonly number[];
  /** What it is for; none: the extension is left out. */
  purposes?: readonly string[];
  isForCritical?: boolean;
  notBeforeMs?: number;
  notAfterMs?: number;
  /** More extensions, in DER. */
  extensions?: readonly Buffer[];
}

export const ACME: readonly Attribute[] = [
  ["C", "US"],
  ["ST", "WA"],
  ["O", "acme"],
];

export function newKeys(type: "P-256" | "P-384" | "P-521" | "rsa" = "P-256"): NonNullable<CertificateFields["keys"]> {
  return type === "rsa" ? nextRsaKeys() : generateKeyPairSync("ec", { namedCurve: type });
}

let serials = 0;

/** Issues a certificate; by itself without an issuer. Source: RFC 5280, section 4.1. */
export function certify(fields: CertificateFields = {}, issuer?: Holder): Holder {
  const { isAuthority = false, notAfterMs = Date.now() + DAY_MS } = fields;
  const { notBeforeMs = Date.now() - (isAuthority ? 30 : 1) * DAY_MS } = fields;
  const { keys = newKeys(), usage = isAuthority ? [5, 6] : [0] } = fields;
  const { purposes = isAuthority ? [] : [CODE_SIGNING], isForCritical = false } = fields;
  serials += 1;
  const subject = nameOf(
    fields.subject ?? [...ACME, ["CN", isAuthority ? `authority ${serials}` : `release ${serials}`]],
  );
  const key = issuer?.key ?? keys.privateKey;
  const algorithm = sequence(
    ...(key.asymmetricKeyType === "rsa" ? [oid("1.2.840.113549.1.1.11"), der(0x05, "")] : [oid("1.2.840.10045.4.3.2")]),
  );
  const constraints = isAuthority
    ? sequence(der(0x01, Buffer.from([0xff])), ...(fields.pathLength === undefined ? [] : [integer(fields.pathLength)]))
    : sequence();
  const extensions = [
    extension("2.5.29.19", constraints, true),
    extension("2.5.29.15", bits(usage), true),
    ...(purposes.length === 0 ? [] : [extension("2.5.29.37", sequence(...purposes.map(oid)), isForCritical)]),
    ...(fields.extensions ?? []),
  ];
  const body = sequence(
    der(0xa0, integer(2)),
    integer(serials + 1_000),
    algorithm,
    issuer === undefined ? subject : subjectIn(issuer.der),
    sequence(utcTime(notBeforeMs), utcTime(notAfterMs)),
    subject,
    keys.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const made = sequence(body, algorithm, bitString(sign("sha256", body, key)));
  return { der: made, pem: pem(made), key: keys.privateKey };
}

/** An extension in DER. */
export function extension(id: string, content: Buffer, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [der(0x01, Buffer.from([0xff]))] : []), octets(content));
}

function nameOf(attributes: readonly Attribute[]): Buffer {
  return sequence(...attributes.map(([type, value]) => set(sequence(oid(ATTRIBUTES[type]), der(0x0c, value)))));
}

/** The subject of a certificate in DER: the sixth element of its body. */
export function subjectIn(certificate: Buffer): Buffer {
  return elementsIn(elementsIn(certificate)[0] ?? Buffer.alloc(0))[5] ?? Buffer.alloc(0);
}

/** The name and the serial number of whoever has issued a certificate, as a token names it. */
export function issuerAndSerial(certificate: Buffer): Buffer {
  const [, serial = Buffer.alloc(0), , issuer = Buffer.alloc(0)] = elementsIn(
    elementsIn(certificate)[0] ?? certificate,
  );
  return sequence(issuer, serial);
}

/** The elements of one that is a sequence. */
export function elementsIn(element: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let at = sizeAt(element, 0).from;
  while (at < element.length) {
    const { from, length } = sizeAt(element, at);
    found.push(element.subarray(at, from + length));
    at = from + length;
  }
  return found;
}

function sizeAt(element: Buffer, at: number): { from: number; length: number } {
  const first = element[at + 1] ?? 0;
  if (first < 0x80) return { from: at + 2, length: first };
  const count = first & 0x7f;
  return { from: at + 2 + count, length: element.readUIntBE(at + 2, count) };
}

/** A root, an authority below it and a certificate that signs, the latter first. */
export function newChain(leaf: CertificateFields = {}, authority: CertificateFields = {}): [Holder, Holder, Holder] {
  const root = certify({ isAuthority: true });
  const middle = certify({ isAuthority: true, pathLength: 0, ...authority }, root);
  return [certify(leaf, middle), middle, root];
}

/** The hash of a certificate's DER, as signers name it. */
export function fingerprintOf({ der: bytes }: Holder): string {
  return `sha256:${new X509Certificate(bytes).fingerprint256.replaceAll(":", "").toLowerCase()}`;
}

/** A certificate on a list: from when on somebody else may have its key, where that is said. */
export type Revoked = readonly [holder: Holder, invalidMs?: number];

/** A list of revoked certificates in PEM, by default until tomorrow. Source: RFC 5280, section 5.1. */
export function revocationList(
  issuer: Holder,
  revoked: readonly Revoked[] = [],
  { untilMs = Date.now() + DAY_MS, extensions = [] as readonly Buffer[] } = {},
): string {
  const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
  const entries = revoked.map(([holder, invalidMs]) => {
    const [serial = Buffer.alloc(0)] = elementsIn(issuerAndSerial(holder.der)).slice(1);
    const since = invalidMs === undefined ? [] : [sequence(extension("2.5.29.24", generalizedTime(invalidMs)))];
    return sequence(serial, utcTime(Date.now()), ...since);
  });
  const body = sequence(
    integer(1),
    algorithm,
    subjectIn(issuer.der),
    utcTime(Date.now() - DAY_MS),
    utcTime(untilMs),
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
    ...(extensions.length === 0 ? [] : [der(0xa0, sequence(...extensions))]),
  );
  return pem(sequence(body, algorithm, bitString(sign("sha256", body, issuer.key))), "X509 CRL");
}
