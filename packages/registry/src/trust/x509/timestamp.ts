import { createHash } from "node:crypto";
import { ASN1Obj } from "@sigstore/core";
import { type Certificate, isIssuedBy, nameOf, readCertificate } from "./certificate.ts";
import { MAX_CHAIN, requireStampingChain, validityOf } from "./chain.ts";
import { SHA2 } from "./hashes.ts";
import { type RevocationList, revocationOf } from "./revocation-list.ts";
import { hashOf, isSignedWith } from "./signed-with.ts";
import { stampedTime, type StampedTime } from "./stamped-time.ts";

const SIGNED_DATA = "1.2.840.113549.1.7.2";
const TST_INFO = "1.2.840.113549.1.9.16.1.4";
const CONTENT_TYPE = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST = "1.2.840.113549.1.9.4";
const SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47";
const SET = 0x31;
const MAX_CERTIFICATES = 20;

/** Whose time stamps count: below these roots, but for certificates by their fingerprints or on these lists. */
export interface TimestampTrust {
  roots: readonly Certificate[];
  revoked: ReadonlySet<string>;
  lists: readonly RevocationList[];
}

/**
 * Between which times the bytes had been signed by the word of a time-stamping authority below one of the roots. Throws
 * when the token does not show that, with a message for whoever reads why. Source: RFC 3161, section 2.4.2; RFC 5652,
 * section 5; RFC 5816.
 */
export function verifiedTime(
  token: Uint8Array,
  stamped: Uint8Array,
  { roots, revoked, lists }: TimestampTrust,
): StampedTime {
  const signed = signedDataIn(token);
  const leaf = signerOf(signed, roots);
  requireSigned(signed, leaf);
  const time = stampedTime(signed.content, stamped);
  const chain = chainOf(leaf, signed.certificates, roots);
  requireStampingChain(chain);
  const { notBeforeMs, notAfterMs } = validityOf(chain);
  if (time.fromMs < notBeforeMs || time.untilMs > notAfterMs)
    throw new Error("the authority's certificates were not valid at its time");
  const gone = chain.find(({ fingerprint }) => revoked.has(fingerprint));
  if (gone !== undefined) throw new Error(`the certificate of ${nameOf(gone)} is revoked`);
  const listed = revocationOf(chain, lists).revoked;
  if (listed !== undefined && listed.sinceMs <= time.untilMs)
    throw new Error(`a list says that the certificate of ${listed.name} is revoked`);
  return time;
}

interface SignedData {
  content: Buffer;
  certificates: readonly Certificate[];
  /** Of whom it says to be: the issuer's name in DER, and the serial number. */
  issuer: Buffer;
  serial: Buffer;
  /** What is signed, in DER, by their object identifiers. */
  attributes: ReadonlyMap<string, ASN1Obj>;
  message: Buffer;
  hash: string;
  algorithm: ASN1Obj;
  signature: Buffer;
}

function signedDataIn(token: Uint8Array): SignedData {
  const [type, wrapped] = ASN1Obj.parseBuffer(Buffer.from(token)).subs;
  const data = wrapped?.subs[0];
  const [, , encapsulated, ...more] = data?.subs ?? [];
  const content = encapsulated?.subs[1]?.subs[0];
  const signers = more.at(-1)?.subs ?? [];
  const [signer] = signers;
  if (type?.toOID() !== SIGNED_DATA || encapsulated?.subs[0]?.toOID() !== TST_INFO)
    throw new Error("it is not a token with a time");
  if (content?.tag.isOctetString() !== true || signer === undefined || signers.length !== 1)
    throw new Error("it must have one content and one signature");
  const [, identifier, digest, signedAttributes, algorithm, signature] = signer.subs;
  const [issuer, serial] = identifier?.subs ?? [];
  const hash = SHA2.get(digest?.subs[0]?.toOID() ?? "");
  if (!issuer || !serial || !algorithm || hash === undefined || signature?.tag.isOctetString() !== true)
    throw new Error("its signature cannot be read");
  if (signedAttributes?.tag.isContextSpecific(0) !== true) throw new Error("its signature is not of attributes");
  const message = signedAttributes.toDER();
  message[0] = SET;
  const certificates = more.find(({ tag }) => tag.isContextSpecific(0))?.subs ?? [];
  if (certificates.length > MAX_CERTIFICATES) throw new Error(`it has more than ${MAX_CERTIFICATES} certificates`);
  return {
    content: content.value,
    certificates: certificates.map((each) => readCertificate(each.toDER())),
    issuer: issuer.toDER(),
    serial: serial.value,
    attributes: attributesIn(signedAttributes),
    message,
    hash,
    algorithm,
    signature: signature.value,
  };
}

function attributesIn({ subs }: ASN1Obj): Map<string, ASN1Obj> {
  const found = new Map<string, ASN1Obj>();
  for (const {
    subs: [type, values],
  } of subs) {
    const [value, ...more] = values?.subs ?? [];
    const oid = type?.toOID() ?? "";
    if (value === undefined || more.length > 0 || found.has(oid)) throw new Error("an attribute is there twice");
    found.set(oid, value);
  }
  return found;
}

function signerOf({ certificates, issuer, serial }: SignedData, roots: readonly Certificate[]): Certificate {
  const leaf = [...certificates, ...roots].find((each) => each.issuer.equals(issuer) && each.serial.equals(serial));
  if (leaf === undefined) throw new Error("it does not hold the certificate of its authority");
  return leaf;
}

/** Throws unless the authority has signed exactly this content, and says that it was this certificate. */
function requireSigned(signed: SignedData, { der, key }: Certificate): void {
  const { content, attributes, hash, message, signature } = signed;
  if (attributes.get(CONTENT_TYPE)?.toOID() !== TST_INFO) throw new Error("what is signed is not a time");
  if (attributes.get(MESSAGE_DIGEST)?.value.equals(createHash(hash).update(content).digest()) !== true)
    throw new Error("what is signed is another time");
  // SigningCertificateV2: a list of lists, of which the first names the certificate.
  const named = attributes.get(SIGNING_CERTIFICATE_V2)?.subs[0]?.subs[0]?.subs ?? [];
  const stated = named.find(({ tag }) => tag.isOctetString());
  const by = named[0]?.tag.isOctetString() === true ? "sha256" : SHA2.get(named[0]?.subs[0]?.toOID() ?? "");
  if (by === undefined || stated?.value.equals(createHash(by).update(der).digest()) !== true)
    throw new Error("it does not name its certificate by signing-certificate-v2");
  const own = hashOf(signed.algorithm, hash);
  if (own === undefined) throw new Error("its algorithm is not known");
  if (!isSignedWith(key, { algorithm: signed.algorithm, hash: own, message, signature }))
    throw new Error("its signature is not by its certificate");
}

/** The certificates from this one to the first that is one of the roots. */
function chainOf(
  leaf: Certificate,
  others: readonly Certificate[],
  roots: readonly Certificate[],
): [Certificate, ...Certificate[]] {
  const chain: [Certificate, ...Certificate[]] = [leaf];
  const isRoot = (one: Certificate): boolean => roots.some(({ der }) => der.equals(one.der));
  for (let last = leaf; !isRoot(last);) {
    const next = [...roots, ...others].find((each) => !chain.includes(each) && isIssuedBy(last, each));
    if (next === undefined || chain.length >= MAX_CHAIN)
      throw new Error("no root of the signer has issued its certificate");
    chain.push(next);
    last = next;
  }
  return chain;
}
