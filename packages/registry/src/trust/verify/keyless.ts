import { createHash } from "node:crypto";
import { SignatureCode, SignatureState, SignatureTime } from "@moorage/api/messages";
import { bundleFromJSON } from "@sigstore/bundle";
import { type SignedEntity, toSignedEntity, type TrustMaterial, VerificationError, Verifier } from "@sigstore/verify";
import { isObject } from "@moorage/kernel/lib/json";
import { certifiedIdentity, type CertifiedIdentity, isIdentityOf } from "./fulcio.ts";
import { isSignedBy } from "./key-verify.ts";
import { isEntryOf } from "./log-entry.ts";
import type { SignedBytes } from "./simple-signing.ts";
import { trustMaterialOf } from "./trust-material.ts";
import {
  type Match,
  type Segment,
  SignatureError,
  type SignerSpec,
  type TrustedRoots,
  type TrustedRootText,
} from "./types.ts";

const MAX_ENTRIES = 10;
const MAX_TIMESTAMPS = 10;
const MAX_REASON = 300;

/** Who has made a signature by the word of a certificate, and whether that holds. */
export interface Certified {
  /** Who the certificate says to be; not verified. */
  identity: string;
  /** When it was made by the entries and time stamps with it; undefined without. */
  signedMs?: number;
  timeSource: SignatureTime;
  /** What it is worth by a signer; undefined when the identity is another one. */
  matchOf(signer: SignerSpec, nowMs: number): Match | undefined;
}

interface Root {
  material: TrustMaterial;
}

/** The roots that were read last, by their texts. */
const roots = new Map<string, Root>();
const MAX_ROOTS = 16;

/** Reads a trusted root, once. Throws when it cannot be read. */
function rootOf(text: string): Root {
  const root = roots.get(text) ?? { material: trustMaterialOf(text) };
  if (!roots.has(text) && roots.size >= MAX_ROOTS) roots.clear();
  roots.set(text, root);
  return root;
}

/**
 * What a bundle with a certificate says of its signature of the bytes. Throws a SignatureError for what is no such
 * bundle. What @sigstore/verify leaves open is looked at here: the certificate is one for signing code, each entry of a
 * log names its key, the signature's algorithm is that of the key, and names are compared as a whole.
 */
export function certified(
  json: Record<string, unknown>,
  { message, signatures }: SignedBytes,
  trustedRoots: TrustedRoots,
): Certified {
  requireFew(json);
  const { entity, identity } = opened(json, Buffer.from(message));
  const [signature] = signatures;
  entity.signature.verifySignature = (key) => signature !== undefined && isSignedBy(key, message, signature);
  const first = timesIn(entity, [SignatureTime.LOG, SignatureTime.TIMESTAMP]);
  const der = identity.certificate.publicKey.export({ type: "spki", format: "der" });
  const fingerprint = `sha256:${createHash("sha256").update(der).digest("hex")}`;
  const name = `${identity.subject} (${identity.issuer})`;
  return {
    identity: name.length > 4 ? storable(name) : "",
    ...(first !== undefined && { signedMs: first.ms }),
    timeSource: first?.source ?? SignatureTime.UNSPECIFIED,
    matchOf(signer, nowMs) {
      if (signer.keyless === undefined || !isIdentityOf(identity, signer.keyless)) return undefined;
      const segment = (worth: Omit<Segment, "fromMs">): Match => ({
        signer: signer.uid,
        fingerprint,
        segments: [{ fromMs: nowMs, ...worth }],
      });
      const root = usableRoot(trustedRoots(signer.keyless.trustRoot));
      return segment("missing" in root ? noRoot(root.missing) : worthOf({ entity, identity, root, signer }));
    },
  };
}

/** The root, read; one that cannot be read is none, for the signers that name it alone. */
function usableRoot(text: TrustedRootText): Root | { missing: string } {
  if ("missing" in text) return text;
  try {
    return rootOf(text.json);
  } catch (error) {
    return { missing: `the trust root cannot be read: ${textOf(error)}` };
  }
}

function noRoot(reason: string): Omit<Segment, "fromMs"> {
  return { state: SignatureState.UNTRUSTED, code: SignatureCode.NO_TRUST_ROOT, reason };
}

interface Opened {
  entity: SignedEntity;
  identity: CertifiedIdentity;
}

function requireFew({ verificationMaterial: material }: Record<string, unknown>): void {
  const data = isObject(material) ? material["timestampVerificationData"] : undefined;
  const count = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
  if (isObject(material) && count(material["tlogEntries"]) > MAX_ENTRIES)
    throw new SignatureError(SignatureCode.BAD_CERTIFICATE, `it has more than ${MAX_ENTRIES} entries of logs`);
  if (isObject(data) && count(data["rfc3161Timestamps"]) > MAX_TIMESTAMPS)
    throw new SignatureError(SignatureCode.BAD_CERTIFICATE, `it has more than ${MAX_TIMESTAMPS} time stamps`);
}

function opened(json: Record<string, unknown>, message: Buffer): Opened {
  try {
    const bundle = bundleFromJSON(json);
    const { content } = bundle.verificationMaterial;
    const raw =
      content.$case === "certificate"
        ? content.certificate.rawBytes
        : content.$case === "x509CertificateChain"
          ? content.x509CertificateChain.certificates[0]?.rawBytes
          : undefined;
    if (raw === undefined) throw new Error("it has no certificate");
    return { entity: toSignedEntity(bundle, message), identity: certifiedIdentity(Buffer.from(raw)) };
  } catch (error) {
    if (error instanceof SignatureError) throw error;
    throw new SignatureError(SignatureCode.BAD_CERTIFICATE, `it cannot be read as a bundle: ${textOf(error)}`);
  }
}

/** The earliest of these times of the entity that say when it was made, before they are verified. */
function timesIn(
  entity: SignedEntity,
  times: readonly SignatureTime[],
): { ms: number; source: SignatureTime } | undefined {
  const found = usable(entity, times).map((each) =>
    each.$case === "transparency-log"
      ? { ms: Number(each.tlogEntry.integratedTime) * 1_000, source: SignatureTime.LOG }
      : { ms: each.timestamp.signingTime.getTime(), source: SignatureTime.TIMESTAMP },
  );
  return found.toSorted((one, other) => one.ms - other.ms)[0];
}

/** The times that these may say: of an entry of a log alone where it has a promise. */
function usable({ timestamps }: SignedEntity, times: readonly SignatureTime[]): SignedEntity["timestamps"] {
  return timestamps.filter((each) =>
    each.$case === "transparency-log"
      ? times.includes(SignatureTime.LOG) && each.tlogEntry.inclusionPromise !== undefined
      : times.includes(SignatureTime.TIMESTAMP),
  );
}

function worthOf({
  entity,
  identity,
  root,
  signer,
}: Opened & { root: Root; signer: SignerSpec }): Omit<Segment, "fromMs"> {
  const invalid = (code: SignatureCode, reason: string) => ({ state: SignatureState.INVALID, code, reason });
  if (!identity.isForSigning)
    return invalid(SignatureCode.BAD_CERTIFICATE, "the certificate is not one for signing code");
  const times = signer.times.length === 0 ? [SignatureTime.LOG, SignatureTime.TIMESTAMP] : signer.times;
  const timestamps = usable(entity, times);
  if (timestamps.length === 0)
    return {
      state: SignatureState.EXPIRED,
      code: SignatureCode.EXPIRED,
      reason: "its certificate held for minutes, and no time that counts shows that it was made then",
    };
  const needsLog = root.material.tlogs.length > 0 || signer.requireLog;
  if (needsLog && entity.tlogEntries.length === 0)
    return invalid(SignatureCode.NOT_LOGGED, "it does not stand in a transparency log");
  try {
    if (!entity.tlogEntries.every((entry) => isEntryOf(entry.canonicalizedBody, identity.certificate)))
      return invalid(SignatureCode.NOT_LOGGED, "its entry in the log is by another key");
    const verifier = new Verifier(root.material, {
      timestampThreshold: 1,
      tlogThreshold: needsLog ? 1 : 0,
      ctlogThreshold: root.material.ctlogs.length > 0 ? 1 : 0,
    });
    verifier.verify({ ...entity, timestamps });
    return { state: SignatureState.TRUSTED, code: SignatureCode.UNSPECIFIED, reason: "" };
  } catch (error) {
    const isLog = error instanceof VerificationError && error.code.startsWith("TLOG");
    return invalid(isLog ? SignatureCode.NOT_LOGGED : SignatureCode.BAD_CERTIFICATE, textOf(error));
  }
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return storable(text.slice(0, MAX_REASON));
}

/** The text without what databases refuse to store. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
