import { createHash, createPublicKey } from "node:crypto";
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
  type Thresholds,
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
  thresholds: Thresholds;
}

/** The roots that were read last, by their texts. */
const materials = new Map<string, TrustMaterial>();
const MAX_ROOTS = 16;

/** Reads a trusted root, once. Throws when it cannot be read. */
function materialOf(text: string): TrustMaterial {
  const material = materials.get(text) ?? trustMaterialOf(text);
  if (!materials.has(text) && materials.size >= MAX_ROOTS) materials.clear();
  materials.set(text, material);
  return material;
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
    return { material: materialOf(text.json), thresholds: text.thresholds ?? {} };
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
  const untimely = (reason: string) => ({ state: SignatureState.EXPIRED, code: SignatureCode.EXPIRED, reason });
  if (timestamps.length === 0)
    return untimely("its certificate held for minutes, and no time that counts shows that it was made then");
  const needed = neededBy(root, signer);
  if (needed.logs > 0 && entity.tlogEntries.length === 0)
    return invalid(SignatureCode.NOT_LOGGED, "it does not stand in a transparency log");
  // The verifier counts entries and time stamps, and two may be of one log or authority. All have to be right.
  const logs = new Set(entity.tlogEntries.map(({ logId }) => logId.keyId.toString("hex"))).size;
  if (logs < needed.logs)
    return invalid(
      SignatureCode.NOT_LOGGED,
      `it stands in ${logs} of the ${needed.logs} logs that the trust root asks for`,
    );
  const { signature } = entity.signature;
  const sources =
    needed.timestamps === 1 ? 1 : new Set(timestamps.map((each) => sourceOf(each, signature, root.material))).size;
  if (sources < needed.timestamps)
    return untimely(
      `its time is shown by ${sources} of the ${needed.timestamps} logs and authorities that the trust root asks for`,
    );
  try {
    if (!entity.tlogEntries.every((entry) => isEntryOf(entry.canonicalizedBody, identity.certificate)))
      return invalid(SignatureCode.NOT_LOGGED, "its entry in the log is by another key");
    const verifier = new Verifier(root.material, {
      timestampThreshold: needed.timestamps,
      tlogThreshold: needed.logs,
      ctlogThreshold: needed.scts,
    });
    verifier.verify({ ...entity, timestamps });
    return { state: SignatureState.TRUSTED, code: SignatureCode.UNSPECIFIED, reason: "" };
  } catch (error) {
    const isLog = error instanceof VerificationError && error.code.startsWith("TLOG");
    return invalid(isLog ? SignatureCode.NOT_LOGGED : SignatureCode.BAD_CERTIFICATE, textOf(error));
  }
}

/** How many different logs and authorities the root and the signer ask for. */
function neededBy({ material, thresholds }: Root, { requireLog }: SignerSpec): Required<Thresholds> {
  const { logs, scts, timestamps = 1 } = thresholds;
  return {
    logs: Math.max(requireLog ? 1 : 0, logs ?? Math.min(1, material.tlogs.length)),
    scts: scts ?? Math.min(1, material.ctlogs.length),
    timestamps: Math.max(1, timestamps),
  };
}

/** Which log or authority says the time: by its key, since two authorities may have one serial number and issuer. */
function sourceOf(time: SignedEntity["timestamps"][number], signature: Buffer, root: TrustMaterial): string {
  if (time.$case === "transparency-log") return `log ${time.tlogEntry.logId.keyId.toString("hex")}`;
  const at = root.timestampAuthorities.findIndex(({ certChain: [leaf] }) => {
    try {
      if (leaf === undefined) return false;
      time.timestamp.verify(signature, createPublicKey({ key: leaf.publicKey, format: "der", type: "spki" }));
      return true;
    } catch {
      return false;
    }
  });
  return at < 0 ? "unknown" : `authority ${at}`;
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return storable(text.slice(0, MAX_REASON));
}

/** The text without what databases refuse to store. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
