import { ancestorsOf, isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { READING_STATE } from "../command-options.ts";
import { countReferrers, MAX_MANIFESTS } from "../attached/relations.ts";

/** A manifest with signatures as it was attached, and what was verified of it. */
export interface AttachedManifest {
  source: Row<"signature_sources">;
  reading: Row<"signature_readings"> | undefined;
  entries: readonly Row<"signature_entries">[];
  verdicts: readonly Row<"signature_verdicts">[];
}

/** A signer of the repo's groups. */
export interface KnownSigner {
  uid: string;
  name: string;
  version: string;
  createMs: number;
}

export interface AttachedSignatures {
  manifests: AttachedManifest[];
  signers: KnownSigner[];
  /** How many manifests are attached that were not looked at. */
  leftOut: number;
  /** Whether something waits to be looked at or verified. */
  pending: boolean;
}

/** More manifests beyond those that are looked at are not counted. */
const MAX_COUNTED = 10_000;

/** The signatures of the digest in the repo as of a time, in milliseconds since 1970, the last attached first. */
export async function signaturesOf(
  tx: Database,
  { repo, digest, atMs }: { repo: string; digest: string; atMs: number },
): Promise<AttachedSignatures> {
  // Before what is attached: where it is looked at between the two, it waits still, instead of not being there.
  const pending = await isPending(tx, repo, digest);
  const sources = await tx
    .selectFrom("signature_sources")
    .selectAll()
    .where("repo", "=", repo)
    .where("subject", "=", digest)
    .where("from_time", "<=", atMs)
    .where((where) => where.or([where("until_time", "is", null), where("until_time", ">", atMs)]))
    .orderBy("from_time", "desc")
    .orderBy("manifest")
    .limit(MAX_MANIFESTS)
    .execute();
  const manifests = sources.map(({ manifest }) => manifest);
  const of = await rowsOf(tx, digest, manifests, atMs);
  const isVisible = ({ signer }: Row<"signature_verdicts">): boolean => isWithin(repo, parentOf(signer));
  const count = await countReferrers(tx, repo, digest, MAX_COUNTED);
  const referrers = sources.filter(({ via }) => via === "").length;
  const attached = sources.map((source) => ({
    source,
    reading: of.readings.find(({ manifest }) => manifest === source.manifest),
    entries: of.entries.filter(({ manifest }) => manifest === source.manifest),
    verdicts: of.verdicts.filter((row) => row.manifest === source.manifest && isVisible(row)),
  }));
  return {
    manifests: attached,
    signers: await signersAbove(tx, repo),
    leftOut: Math.max(0, count - Math.max(referrers, MAX_MANIFESTS - 2)),
    pending:
      pending || attached.some(({ reading }) => reading === undefined || reading.state === READING_STATE.waiting),
  };
}

async function rowsOf(tx: Database, subject: string, manifests: readonly string[], atMs: number) {
  if (manifests.length === 0) return { readings: [], entries: [], verdicts: [] };
  const readings = await tx
    .selectFrom("signature_readings")
    .selectAll()
    .where("subject", "=", subject)
    .where("manifest", "in", manifests)
    .execute();
  const entries = await tx
    .selectFrom("signature_entries")
    .selectAll()
    .where("subject", "=", subject)
    .where("manifest", "in", manifests)
    .orderBy("n")
    .execute();
  const verdicts = await tx
    .selectFrom("signature_verdicts")
    .selectAll()
    .where("subject", "=", subject)
    .where("manifest", "in", manifests)
    .where("from_time", "<=", atMs)
    .where((where) => where.or([where("until_time", "is", null), where("until_time", ">", atMs)]))
    .execute();
  return { readings, entries, verdicts };
}

/** The signers of the repo's groups. */
export async function signersAbove(tx: Database, repo: string): Promise<KnownSigner[]> {
  const rows = await tx
    .selectFrom("signers")
    .select(["uid", "name", "version", "create_time"])
    .where("parent", "in", ancestorsOf(repo))
    .orderBy("name")
    .orderBy("uid")
    .execute();
  return rows.map(({ create_time, ...row }) => ({ ...row, createMs: create_time }));
}

async function isPending(tx: Database, repo: string, digest: string): Promise<boolean> {
  const [row] = await select<{ one: number }>(
    tx,
    "select 1 as one from signature_checks where repo = ? and digest = ? limit 1",
    [repo, digest],
  );
  return row !== undefined;
}
