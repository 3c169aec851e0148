import { imageConfigOf, type Reference, type StoredManifest } from "../oci/index.ts";
import { mirrorCall } from "./context.ts";
import type { CopyJob } from "./copy-job.ts";
import { askForSpace } from "./downloads.ts";
import { UpstreamError } from "./errors.ts";
import { storeCopiedManifest, touchReferences } from "./commands.ts";

const MAX_DEPTH = 8;
const MAX_MANIFESTS = 10_000;
const BLOB_CONCURRENCY = 3;
// How often content is copied again that was removed before the manifest that needs it was stored.
const MAX_ROUNDS = 3;

/**
 * Copies a manifest with the content it references and its referrers, byte for byte, so that all digests stay the same.
 * What a manifest references is stored before it.
 */
export async function copyManifest(job: CopyJob, manifest: StoredManifest): Promise<void> {
  await copyDeep(job, manifest, 0, new Set());
}

/** Copies the referrers of the digest that the repo lacks, such as signatures that were made later. */
export async function copyReferrers(job: CopyJob, digest: string): Promise<void> {
  await referrersOf(job, digest, 0, new Set([digest]));
}

/** Whether the repo holds the manifest. */
export async function holds({ deps, place }: Pick<CopyJob, "deps" | "place">, digest: string): Promise<boolean> {
  const found = await deps.transactor.read(mirrorCall(deps), (call) =>
    call.tx
      .selectFrom("manifests")
      .select("digest")
      .where("repo", "=", place.repo)
      .where("digest", "=", digest)
      .executeTakeFirst(),
  );
  return found !== undefined;
}

async function copyDeep(job: CopyJob, stored: StoredManifest, depth: number, seen: Set<string>): Promise<void> {
  const { deps, place } = job;
  if (depth > MAX_DEPTH)
    throw new UpstreamError("wrong", `manifests of the source are nested more than ${MAX_DEPTH} levels deep`);
  if (seen.add(stored.digest).size > MAX_MANIFESTS)
    throw new UpstreamError("wrong", `one tag of the source leads to more than ${MAX_MANIFESTS} manifests`);
  const { references } = stored.manifest;
  const touched = await deps.transactor.write(touchReferences, mirrorCall(deps), { ...place, references });
  let { missing } = touched;
  for (let round = 1; ; round += 1) {
    const wanted = new Set(missing);
    for (const { digest, kind } of references)
      if (kind === "manifest" && wanted.has(digest)) {
        const there = await copyNamed(job, digest, depth + 1, seen);
        if (!there && !touched.isSparse)
          throw new UpstreamError("wrong", `the source lacks a manifest that another one names: ${digest}`);
      }
    await copyBlobs(
      job,
      references.filter(({ digest, kind }) => kind === "blob" && wanted.has(digest)),
    );
    // Referrers come before the manifest, so that a client that pulls it finds its signatures.
    if (round === 1) await referrersOf(job, stored.digest, depth, seen);
    const config = await imageConfigOf(deps, mirrorCall(deps), stored.manifest, async () => place.repo);
    const copied = { ...stored, config };
    ({ missing } = await deps.transactor
      .write(storeCopiedManifest, mirrorCall(deps), { ...place, stored: copied })
      .catch(async (error: unknown) => {
        await askForSpace(deps, place, error, stored.content.byteLength);
        throw error;
      }));
    if (missing.length === 0) break;
    if (round === MAX_ROUNDS) throw new Error("what was copied is removed faster than it is used");
  }
  deps.metrics.manifest();
}

/** False when the source lacks the manifest. */
async function copyNamed(job: CopyJob, digest: string, depth: number, seen: Set<string>): Promise<boolean> {
  const stored = await job.upstream.manifest(digest, job.signal);
  if (stored === undefined) return false;
  await copyDeep(job, stored, depth, seen);
  return true;
}

async function copyBlobs({ downloads, place, upstream, signal }: CopyJob, blobs: Reference[]): Promise<void> {
  const left = [...blobs];
  const work = async (): Promise<void> => {
    try {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const there = await downloads.fetch({ place, upstream, digest: next.digest, size: next.size, signal });
        if (!there) throw new UpstreamError("wrong", `the source lacks a blob that a manifest names: ${next.digest}`);
      }
    } finally {
      // After a failure the other workers start no more blobs.
      left.length = 0;
    }
  };
  const done = await Promise.allSettled(Array.from({ length: BLOB_CONCURRENCY }, work));
  const failed = done.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Copies what refers to the digest. What does not come is a gap, and stops nothing. */
async function referrersOf(job: CopyJob, digest: string, depth: number, seen: Set<string>): Promise<void> {
  const { gaps, signal, upstream } = job;
  if (gaps.givesUp()) return;
  const { digests, problem } = await upstream.referrers(digest, signal);
  if (problem === undefined) gaps.listed();
  else gaps.note(problem, signal);
  for (const referrer of digests) {
    if (seen.has(referrer) || (await holds(job, referrer))) continue;
    try {
      const stored = await upstream.manifest(referrer, signal);
      // The index under a referrers tag may name manifests that were deleted.
      if (stored !== undefined) await copyDeep(job, stored, depth + 1, seen);
    } catch (error) {
      gaps.note(error, signal);
    }
  }
}
