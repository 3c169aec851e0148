import type { BlobStore, ContentFault, StoredBlob } from "@moorage/kernel/blobs";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { ContentMetrics } from "@moorage/kernel/observe";
import { statement } from "@moorage/kernel/store";
import type { RecordedCopy } from "../find-blob.ts";

interface CopyDeps {
  transactor: Transactor;
  blobs: Pick<BlobStore, "contentSize" | "remove" | "noted">;
  clock: Clock;
}

const selectCopy = statement<RecordedCopy>("select generation, size, suspect_time from blobs where digest = ?", [
  "text",
]);
const updateCopy = statement<{ digest: string }>(
  "update blobs set generation = ?, size = ?, suspect_time = null where digest = ? and generation = ? returning digest",
);
const updateSuspicion = statement("update blobs set suspect_time = ? where digest = ? and generation = ?");
const updateSuspect = statement<{ digest: string }>(
  "update blobs set suspect_time = ? where digest = ? and generation = ? and suspect_time is null returning digest",
);

/**
 * Puts one copy of a blob in the place of another, in every repo. False when the other is no longer the recorded one.
 */
export const replaceCopy = command(
  "oci.replaceCopy",
  async (
    { tx }: Call,
    { digest, size, generation, replaced }: StoredBlob & { replaced: string },
  ): Promise<{ done: boolean }> => ({
    done: (await updateCopy(tx, generation, size, digest, replaced)).length > 0,
  }),
);

/** Records that the stored copy is right after all: it was read whole and verified. */
export const restoreCopy = command(
  "oci.restoreCopy",
  async ({ tx }: Call, { digest, generation }: Omit<StoredBlob, "size">): Promise<void> => {
    await updateSuspicion(tx, null, digest, generation);
  },
);

/**
 * Records that the stored copy is missing or damaged. `isRecorded`: false when it is not the recorded copy any more, so
 * that nothing is lost; `isNew`: whether it was not known before.
 */
export const suspectCopy = command(
  "oci.suspectCopy",
  async (
    { tx, nowMs }: Call,
    { digest, generation }: Omit<StoredBlob, "size">,
  ): Promise<{ isRecorded: boolean; isNew: boolean }> => {
    const isNew = (await updateSuspect(tx, nowMs, digest, generation)).length > 0;
    if (isNew) return { isRecorded: true, isNew };
    const [copy] = await selectCopy(tx, digest);
    return { isRecorded: copy?.generation === generation, isNew };
  },
);

/** The recorded copy of a blob, whoever may read it; undefined when there is none. */
export async function copyOf({ tx }: Pick<Call, "tx">, digest: string): Promise<RecordedCopy | undefined> {
  return (await selectCopy(tx, digest))[0];
}

/**
 * Whether the stored copy is as large as it should be, and not known to be damaged. What is missing or of another size
 * is noted. `fresh`: not by what was seen a moment ago. Throws UNAVAILABLE when the store does not say.
 */
export async function isIntact(
  { blobs }: Pick<CopyDeps, "blobs">,
  digest: string,
  { generation, size, suspect_time: suspectMs }: RecordedCopy,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<boolean> {
  if (suspectMs !== null) return false;
  const found = await blobs.contentSize(digest, generation, { fresh });
  if (found === size) return true;
  await blobs.noted?.({ digest, generation }, found === undefined ? "missing" : "wrong_size");
  return false;
}

// Each round is lost only to somebody else who replaced the copy in the meantime.
const MAX_ROUNDS = 5;

/**
 * After content was stored and recorded: decides between the copy that has just arrived and the one that was retained,
 * which is another one when the same content was stored before. When the retained copy is missing or damaged, the new
 * one replaces it in every repo; otherwise the new one is removed. Without `retained` nobody needs the new one. Throws
 * UNAVAILABLE when the store does not say how the retained copy is.
 */
export async function settleCopy(deps: CopyDeps, stored: StoredBlob, retained: string | undefined): Promise<void> {
  const { transactor, blobs, clock } = deps;
  const { digest, generation } = stored;
  if (retained === generation) return;
  if (retained === undefined || retained === "") return await blobs.remove(digest, generation);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const copy = await transactor.read(systemCallNow(clock), (call) => copyOf(call, digest));
    // Nothing needs it any more: it was collected, or deleted, in the meantime.
    if (copy === undefined) break;
    if (await isIntact(deps, digest, copy, { fresh: true })) return await blobs.remove(digest, generation);
    const replaced = copy.generation;
    if (!(await transactor.write(replaceCopy, systemCallNow(clock), { ...stored, replaced })).done) continue;
    await blobs.noted?.({ digest, generation }, "replaced");
    // What is left of it is removed with the content of abandoned uploads, if not now.
    return await blobs.remove(digest, replaced).catch(() => undefined);
  }
  throw new MoorageError(Code.Unavailable, "Unavailable: the same content is being changed by others", {
    retryAfterMs: 1_000,
  });
}

interface NotingDeps {
  transactor(): Transactor;
  clock: Clock;
  log: { error(fields: object, message: string): void; info(fields: object, message: string): void };
  metrics: ContentMetrics;
}

const WORDS: Readonly<Record<ContentFault, string>> = {
  missing: "the content of a blob is missing: the next push of it replaces it",
  wrong_size: "the content of a blob has another size than it should: the next push of it replaces it",
  damaged: "the content of a blob is not what its digest says: the next push of it replaces it",
};

/**
 * A store that notes what its reads find: content that is missing though it is recorded, or damaged. It is logged with
 * the digest, counted, and recorded, once for each copy.
 */
export function notingBlobs(store: BlobStore, deps: NotingDeps): BlobStore {
  const { transactor, clock, log, metrics } = deps;
  const noted: NonNullable<BlobStore["noted"]> = async ({ digest, generation }, what) => {
    if (what === "replaced") {
      metrics.replaced();
      return log.info({ digest, generation }, "the content of a blob was replaced by a copy that was pushed");
    }
    try {
      if (what === "right") {
        await transactor().write(restoreCopy, systemCallNow(clock), { digest, generation });
        return log.info({ digest, generation }, "the content of a blob was read and is right again");
      }
      const { isRecorded, isNew } = await transactor().write(suspectCopy, systemCallNow(clock), { digest, generation });
      if (!isRecorded || !isNew) return;
      metrics.found(what);
      log.error({ digest, generation, fault: what }, WORDS[what]);
    } catch (error) {
      log.error({ digest, generation, found: what, err: error }, "what was found of a blob could not be recorded");
    }
  };
  const noting = async <T>(digest: string, generation: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof MoorageError && error.code === Code.DataLoss) await noted({ digest, generation }, "damaged");
      else if (error instanceof MoorageError && error.code === Code.NotFound)
        await noted({ digest, generation }, "missing");
      throw error;
    }
  };
  return {
    ...store,
    noted,
    readWhole: (digest, generation) => noting(digest, generation, () => store.readWhole(digest, generation)),
    readAll: (blob, sink) => noting(blob.digest, blob.generation, () => store.readAll(blob, sink)),
    read: (digest, generation, range, sink) =>
      noting(digest, generation, () => store.read(digest, generation, range, sink)),
  };
}
