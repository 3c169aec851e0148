import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { ByteSink, StoredBlob } from "../blobs/index.ts";
import { algorithmOf } from "../oci/index.ts";
import type { MirrorPlace } from "./commands.ts";
import { Code, MoorageError } from "../errors.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { waitBefore } from "./request.ts";
import type { BlobStream, Upstream } from "./registry-client.ts";
import { asTrouble, UpstreamError } from "./errors.ts";
import { keepCopiedBlob } from "./commands.ts";

/** A blob that a repo shall hold. */
export interface Wanted {
  place: MirrorPlace;
  upstream: Upstream;
  digest: string;
  /** Its size, where a manifest tells it. */
  size?: number | undefined;
  signal: AbortSignal;
  /**
   * Called when its bytes come; the sink gets them as well, the last ones when they were found to be right. One that
   * fails gets no more.
   */
  begin?: (size: number) => ByteSink;
}

/** Copies blobs into the store, each once at a time in this process: who wants one that is under way waits for it. */
export interface Downloads {
  /** False: the source does not have it. Throws an UpstreamError, or a MoorageError of our own stores. */
  fetch(wanted: Wanted): Promise<boolean>;
}

// A transfer that breaks off goes on from there. Beside the tries that bring nothing, of which the source's patience
// says how many there are, so many.
const MAX_ATTEMPTS = 50;

export function createDownloads(deps: Pick<MirrorDeps, "transactor" | "blobs" | "clock" | "metrics">): Downloads {
  const underWay = new Map<string, Promise<boolean>>();
  return {
    fetch(wanted) {
      const key = `${wanted.place.repo} ${wanted.digest}`;
      const running = underWay.get(key);
      if (running !== undefined) return running;
      const started = download(deps, wanted).finally(() => underWay.delete(key));
      underWay.set(key, started);
      return started;
    },
  };
}

async function download(deps: Parameters<typeof createDownloads>[0], wanted: Wanted): Promise<boolean> {
  const { blobs, transactor } = deps;
  const { digest, place } = wanted;
  const upload = randomBytes(16).toString("hex");
  const tee = wanted.begin && openTee(wanted.begin);
  await blobs.startUpload(upload);
  let stored: StoredBlob;
  try {
    if (!(await receive(deps, wanted, upload, tee))) {
      await blobs.removeUpload(upload);
      return false;
    }
    stored = await blobs.finish(upload, digest).catch((error: unknown) => {
      const isWrong = error instanceof MoorageError && error.code === Code.InvalidArgument;
      throw isWrong ? new UpstreamError("wrong", "a blob of the source is not what its digest says") : error;
    });
  } catch (error) {
    await blobs.removeUpload(upload).catch(() => {});
    throw error;
  }
  const { generation } = await transactor
    .write(keepCopiedBlob, mirrorCall(deps), { ...place, blob: stored })
    .catch(async (error: unknown) => {
      // Refused, nothing was written. After anything else the copy may be in use: `cleanUploads` looks later.
      if (error instanceof MoorageError && error.code === Code.Aborted) await blobs.remove(digest, stored.generation);
      throw error;
    });
  if (generation !== stored.generation) await blobs.remove(digest, stored.generation);
  await tee?.end();
  return true;
}

/** Brings all the bytes into the upload, in as many tries as it takes. False: the source does not have them. */
async function receive(
  { blobs, metrics }: Pick<MirrorDeps, "blobs" | "metrics">,
  wanted: Wanted,
  upload: string,
  tee: Tee | undefined,
): Promise<boolean> {
  const { upstream, digest, size, signal } = wanted;
  let fruitless = 0;
  for (let tries = 1; ; tries += 1) {
    const offset = await blobs.uploadSize(upload);
    try {
      const stream = await upstream.blob(digest, offset, signal);
      if (stream === undefined) return false;
      if (size !== undefined && stream.size !== size) {
        stream.discard();
        throw new UpstreamError("wrong", "a blob of the source is not as long as its manifest says");
      }
      if (stream.offset !== offset) await startAgain(stream, upload, blobs);
      tee?.begin(stream.size);
      await blobs.append(upload, stream.offset, passing(stream, metrics, tee), {
        algorithm: algorithmOf(digest),
        length: stream.size - stream.offset,
      });
      return true;
    } catch (thrown) {
      const error = asTrouble(thrown);
      const fruitful = (await blobs.uploadSize(upload)) > offset;
      const waitMs = tries < MAX_ATTEMPTS ? waitBefore(error, fruitful ? 0 : fruitless, upstream.patience) : undefined;
      fruitless = fruitful ? 0 : fruitless + 1;
      if (waitMs === undefined || signal.aborted) throw error;
      await wait(waitMs, undefined, { signal });
    }
  }
}

/** For a source that sends a blob from its beginning, whatever part of it was asked for. */
async function startAgain({ offset, discard }: BlobStream, upload: string, blobs: MirrorDeps["blobs"]): Promise<void> {
  if (offset !== 0) {
    discard();
    throw new UpstreamError("wrong", "the source sends another part of a blob than was asked for");
  }
  await blobs.removeUpload(upload);
  await blobs.startUpload(upload);
}

async function* passing(
  { body, offset }: BlobStream,
  metrics: MirrorDeps["metrics"],
  tee: Tee | undefined,
): AsyncGenerator<Buffer> {
  let at = offset;
  for await (const chunk of body) {
    metrics.received(chunk.length);
    await tee?.take(chunk, at);
    at += chunk.length;
    yield chunk;
  }
}

/** Hands on what passes, each byte once, and keeps the last piece back until all was found to be right. */
interface Tee {
  begin(size: number): void;
  take(chunk: Buffer, at: number): Promise<void>;
  end(): Promise<void>;
}

function openTee(open: NonNullable<Wanted["begin"]>): Tee {
  let sink: ByteSink | undefined;
  let taken = 0;
  let held: Buffer | undefined;
  const flush = async (): Promise<void> => {
    const chunk = held;
    held = undefined;
    // A client that is gone is no reason to stop: others will want it.
    if (chunk !== undefined && sink !== undefined)
      await sink(chunk).catch(() => {
        sink = () => Promise.resolve();
      });
  };
  return {
    begin(size) {
      sink ??= open(size);
    },
    async take(chunk, at) {
      const fresh = chunk.subarray(Math.max(0, taken - at));
      if (fresh.length === 0) return;
      await flush();
      held = fresh;
      taken = at + chunk.length;
    },
    end: flush,
  };
}
