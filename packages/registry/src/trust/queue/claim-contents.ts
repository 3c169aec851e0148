import { SignerRevocation, SignerScheme } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import type { StoredBlob } from "@moorage/kernel/blobs";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { certificatesOf, keylessOf, keysOf, timesOf } from "../signers/resource.ts";
import { statusesOf } from "../revocation/statuses.ts";
import { trustRootsOf } from "../roots/read.ts";
import type { KnownStatus } from "../verify/statuses.ts";
import type { SignerSpec, TrustedRootText } from "../verify/types.ts";

/** A layer of a manifest with signatures. `stored`: where its content is, if it is held. */
export interface ClaimedLayer {
  n: number;
  digest: string;
  mediaType: string;
  annotations: Record<string, string>;
  stored?: StoredBlob;
}

/** What is to be verified, as plain data. Times are milliseconds since 1970. */
export interface ClaimedSigned {
  subject: string;
  manifest: string;
  /** The bytes of the manifest of the subject, where it is held. */
  subjectContent?: Uint8Array;
  subjectMediaType?: string;
  layers: ClaimedLayer[];
  /** How many layers there are beyond the first ones, which are not verified. */
  layersLeftOut: number;
  signers: SignerSpec[];
  /** By the names that the signers use; that of the settings only where it comes from a mirror. */
  trustRoots: Record<string, TrustedRootText>;
  /** What authorities say of the certificates on which it depended when it was verified last, by `statusKey`. */
  statuses: Record<string, KnownStatus>;
  heldMs: number;
}

/** The most layers of a manifest that are verified: cosign 2 adds one for each signature. */
const MAX_LAYERS = 50;
const MAX_ANNOTATION = 256 << 10;
/** The most repos whose signers count for one manifest, and the most signers. */
const MAX_REPOS = 1_000;
const MAX_SIGNERS = 5_000;
const CHUNK = 500;

/** What is to be verified of a manifest; undefined when it is not held any longer. */
export async function claimedOf(
  tx: Database,
  {
    subject,
    manifest,
    create_time,
    tufSource,
  }: { subject: string; manifest: string; create_time: number; tufSource: string },
): Promise<ClaimedSigned | undefined> {
  // Any number of repos may hold either.
  const firstOf = async (digest: string) =>
    await tx
      .selectFrom("manifests")
      .select(["media_type", "content", "create_time"])
      .where("digest", "=", digest)
      .orderBy("create_time")
      .limit(1)
      .executeTakeFirst();
  const held = await firstOf(manifest);
  if (held === undefined) return undefined;
  const about = await firstOf(subject);
  const all = layersIn(held.content);
  const signers = await signersOf(tx, subject, manifest);
  return {
    subject,
    manifest,
    ...(about !== undefined && { subjectContent: about.content, subjectMediaType: about.media_type }),
    layers: await withStored(tx, all.slice(0, MAX_LAYERS)),
    layersLeftOut: Math.max(0, all.length - MAX_LAYERS),
    signers,
    trustRoots: await trustRootsOf(tx, signers, tufSource),
    statuses: await statusesOf(tx, { subject, manifest }),
    heldMs: Math.min(create_time, held.create_time),
  };
}

function layersIn(content: Uint8Array): ClaimedLayer[] {
  const { layers } = JSON.parse(Buffer.from(content).toString()) as { layers?: unknown };
  if (!Array.isArray(layers)) return [];
  return layers.filter(isObject).map((layer, n) => ({
    n,
    digest: String(layer["digest"]),
    mediaType: String(layer["mediaType"]),
    annotations: annotationsOf(layer["annotations"]),
  }));
}

function annotationsOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const texts = Object.entries(value).filter(
    (each): each is [string, string] => typeof each[1] === "string" && each[1].length <= MAX_ANNOTATION,
  );
  return Object.fromEntries(texts);
}

async function withStored(tx: Database, layers: ClaimedLayer[]): Promise<ClaimedLayer[]> {
  if (layers.length === 0) return [];
  const digests = [...new Set(layers.map(({ digest }) => digest))];
  const blobs = await tx
    .selectFrom("blobs")
    .select(["digest", "generation", "size"])
    .where("digest", "in", digests)
    .execute();
  const stored = new Map(blobs.map((blob) => [blob.digest, blob]));
  return layers.map((layer) => {
    const blob = stored.get(layer.digest);
    return blob === undefined ? layer : { ...layer, stored: blob };
  });
}

/** The signers of the groups of all repos in which the manifest is attached to the subject. */
async function signersOf(tx: Database, subject: string, manifest: string): Promise<SignerSpec[]> {
  const repos = await select<{ repo: string }>(
    tx,
    `select distinct repo from signature_sources where subject = ? and manifest = ? and until_time is null order by repo limit ${MAX_REPOS}`,
    [subject, manifest],
  );
  const groups = [...new Set(repos.flatMap(({ repo }) => ancestorsOf(repo)))].sort();
  const found: SignerSpec[] = [];
  for (let at = 0; at < groups.length && found.length < MAX_SIGNERS; at += CHUNK) {
    const rows = await tx
      .selectFrom("signers")
      .select(["uid", "version", "keys", "keyless", "x509", "require_log", "times"])
      .where("parent", "in", groups.slice(at, at + CHUNK))
      .orderBy("uid")
      .limit(MAX_SIGNERS - found.length)
      .execute();
    for (const row of rows) found.push(specOf(row));
  }
  return found;
}

type SignerRow = Pick<Row<"signers">, "uid" | "version" | "keys" | "keyless" | "x509" | "require_log" | "times">;

function specOf(row: SignerRow): SignerSpec {
  const keys = keysOf(row).map(({ pem, notBefore, notAfter, revokeTime }) => ({
    pem,
    ...(notBefore !== undefined && { notBeforeMs: milliseconds(notBefore) }),
    ...(notAfter !== undefined && { notAfterMs: milliseconds(notAfter) }),
    ...(revokeTime !== undefined && { revokeMs: milliseconds(revokeTime) }),
  }));
  const { issuer, subject, subjectPattern, extensions, trustRoot } = keylessOf(row) ?? {};
  const x509 = certificatesOf(row);
  return {
    uid: row.uid,
    version: row.version,
    keys,
    times: timesOf(row),
    requireLog: row.require_log === 1,
    ...(issuer !== undefined && {
      keyless: {
        issuer,
        subject: subject ?? "",
        subjectPattern: subjectPattern ?? "",
        extensions: extensions ?? {},
        trustRoot: trustRoot ?? "",
      },
    }),
    ...(x509 !== undefined && {
      x509: {
        roots: x509.roots,
        isAuthority: x509.scheme === SignerScheme.SIGNING_AUTHORITY,
        tsaRoots: x509.tsaRoots,
        identities: x509.identities,
        revoked: x509.revokedFingerprints,
        crls: x509.crls,
        isOnline: x509.revocation === SignerRevocation.ONLINE,
      },
    }),
  };
}
