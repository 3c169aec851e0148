import type { AdoptedBlob, BlobStore, ContentPlace, StoredBlob } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { systemClock as clock } from "@moorage/kernel/lib/clock";
import { StoreError } from "@moorage/kernel/store";
import { type AdoptableBlob, adoptBlobs, copyOf, isIntact, settleCopy } from "@moorage/registry/oci";
import { openBlobsOf } from "../installation/stores.ts";
import { withWriter } from "./open-writer.ts";

/** Where the content of a digest is, and how many bytes it has. */
export interface PlacedContent {
  digest: string;
  size: number;
  place: ContentPlace;
}

/**
 * What became of the content: it shares its inode or its blocks with the store, was copied, or was not needed since the
 * content is `here`; with a `fault` it is not the content that it should be.
 */
export interface AdoptedFile {
  digest: string;
  size: number;
  how: AdoptedBlob["how"] | "here" | "fault";
  /** For people; empty without a fault. */
  fault: string;
}

/** Brings content of this machine and of buckets into an installation. */
export interface Adopter {
  /**
   * Makes it content of the repo, unless it is by now. Files are linked where that can be, and all else is copied; a
   * fault ends nothing else. Throws a MoorageError: NOT_FOUND without such a repo,
   * FAILED_PRECONDITION when a quota refuses it.
   */
  hold(repo: string, files: readonly PlacedContent[]): Promise<AdoptedFile[]>;
}

// What is linked in one commit: more would hold others up, fewer wait for the disk more often.
const BATCH = 50;
const ROUNDS = 3;
// With these a commit wrote nothing.
const REJECTIONS: readonly Code[] = [Code.NotFound, Code.FailedPrecondition, Code.Aborted];
// With these a file is not what it should be.
const FAULTS: readonly Code[] = [Code.InvalidArgument, Code.NotFound];

/**
 * Brings content in, as the operator of the installation; servers may run, on either engine. Throws a StoreError in one
 * line when there is no installation of this version.
 */
export async function withAdopter<T>(config: Config, work: (adopter: Adopter) => Promise<T>): Promise<T> {
  return await withWriter(config, async ({ writer }) => {
    const blobs = await openBlobsOf(config);
    return await work({
      async hold(repo, files) {
        const done: AdoptedFile[] = [];
        for (let at = 0; at < files.length; at += BATCH)
          done.push(...(await holdBatch({ transactor: writer, blobs }, repo, files.slice(at, at + BATCH))));
        return done;
      },
    });
  });
}

interface Deps {
  transactor: Transactor;
  blobs: BlobStore;
}

async function holdBatch(deps: Deps, repo: string, files: readonly PlacedContent[]): Promise<AdoptedFile[]> {
  const done: AdoptedFile[] = [];
  let left = files;
  for (let round = 1; left.length > 0; round += 1) {
    if (round > ROUNDS) throw new StoreError("content is removed faster than it is used: is garbage collected?");
    const stored: StoredBlob[] = [];
    const tried: AdoptedFile[] = [];
    const wanted: AdoptableBlob[] = [];
    try {
      for (const file of left) {
        const { blob, adopted } = await adoptOne(deps, file);
        tried.push(adopted);
        if (blob !== undefined) stored.push(blob);
        if (adopted.how !== "fault") wanted.push(blob ?? { digest: file.digest, size: file.size });
      }
    } catch (error) {
      await discard(deps, stored);
      throw error;
    }
    const missing = await record(deps, { repo, wanted, stored });
    done.push(...tried.filter(({ digest }) => !missing.has(digest)));
    left = left.filter(({ digest }) => missing.has(digest));
  }
  return done;
}

/** Links the content to the repo. Answers what was thought to be here, and is not. */
async function record(
  deps: Deps,
  { repo, wanted, stored }: { repo: string; wanted: readonly AdoptableBlob[]; stored: readonly StoredBlob[] },
): Promise<Set<string>> {
  const { retained, missing } = await deps.transactor
    .write(adoptBlobs, systemCallNow(clock), { repo, blobs: wanted })
    .catch(async (error: unknown) => {
      // What any other error leaves may be in use; if not, it is removed with content that has no record.
      if (error instanceof MoorageError && REJECTIONS.includes(error.code)) await discard(deps, stored);
      throw error;
    });
  const kept = new Map(retained.map(({ digest, generation }) => [digest, generation]));
  for (const blob of stored) await settleCopy({ ...deps, clock }, blob, kept.get(blob.digest));
  return new Set(missing);
}

async function discard({ blobs }: Deps, stored: readonly StoredBlob[]): Promise<void> {
  for (const { digest, generation } of stored) await blobs.remove(digest, generation);
}

async function adoptOne(
  { transactor, blobs }: Deps,
  { digest, size, place }: PlacedContent,
): Promise<{ adopted: AdoptedFile; blob?: StoredBlob }> {
  const copy = await transactor.read(systemCallNow(clock), (call) => copyOf(call, digest));
  if (copy?.size === size && (await isIntact({ blobs }, digest, copy, { fresh: true })))
    return { adopted: { digest, size, how: "here", fault: "" } };
  try {
    const { how, ...blob } = await blobs.adopt(place, { digest, size });
    return { adopted: { digest, size, how, fault: "" }, blob };
  } catch (error) {
    if (!(error instanceof MoorageError) || !FAULTS.includes(error.code)) throw error;
    const [{ field = "", description = "" } = {}] = error.details.fieldViolations ?? [];
    const fault =
      error.code === Code.NotFound
        ? "is no longer there"
        : field === "digest"
          ? "has bytes of another digest"
          : description;
    return { adopted: { digest, size, how: "fault", fault } };
  }
}
