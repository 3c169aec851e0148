import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { ByteSink, StoredBlob } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { algorithmOf, settleCopy } from "../oci/index.ts";
import type { MirrorPlace } from "./commands.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { waitBefore } from "./request.ts";
import type { BlobStream } from "./source-blobs.ts";
import type { Upstream } from "./registry-client.ts";
import { linkShared, originOf } from "./shared-content.ts";
import { quotaOfError, wantCacheSpace } from "../registry/index.ts";
import { asUpstreamError, UpstreamError } from "./errors.ts";
import { keepCopiedBlob } from "./commands.ts";

/** A blob to copy to a repo. */
interface Wanted {
  place: MirrorPlace;
  upstream: Upstream;
  digest: string;
  /** Its size in bytes, where a manifest states it. */
  size?: number | undefined;
  /** Its size in bytes where a manifest stated it earlier: it counts when the source does not say one. */
  likelySize?: number | undefined;
  signal: AbortSignal;
  /**
   * Called before the first bytes. The sink it returns gets a copy of all bytes, the last chunk only after the digest
   * was checked. A sink that rejects gets no more.
   */
  begin?: (size: number) => ByteSink;
}

/** Copies blobs into the blob store. Concurrent requests in this process for one blob of a repo share one download. */
export interface Downloads {
  /**
   * False when the source does not have the blob. True for one that a quota refused, too, if `begin` got all of it.
   * Throws an UpstreamError, or a MoorageError of this server's stores.
   */
  fetch(wanted: Wanted): Promise<boolean>;
}

// The most attempts for one blob: an interrupted transfer is resumed. The source's retry policy bounds the consecutive
// attempts that bring no bytes.
const MAX_ATTEMPTS = 50;

export function createDownloads(deps: Pick<MirrorDeps, "transactor" | "blobs" | "clock" | "metrics">): Downloads {
  const underWay = new Map<string, Promise<boolean>>();
  // By what is fetched from where: the other repos that need it wait for the first, and link it then.
  const byContent = new Map<string, Promise<unknown>>();
  const start = async (wanted: Wanted): Promise<boolean> => {
    const origin = originOf(wanted.place);
    // A client that waits for the bytes gets its own.
    if (origin === "" || wanted.begin !== undefined) return await download(deps, wanted);
    const key = `${organizationOf(wanted.place.repo)} ${origin} ${wanted.digest}`;
    const first = byContent.get(key);
    if (first !== undefined) {
      await first.catch(() => {});
      return await download(deps, wanted);
    }
    const started = download(deps, wanted).finally(() => byContent.delete(key));
    byContent.set(key, started);
    return await started;
  };
  const fetch = async (wanted: Wanted): Promise<boolean> => {
    const key = `${wanted.place.repo} ${wanted.digest}`;
    const running = underWay.get(key);
    const started = running ?? start(wanted).finally(() => underWay.delete(key));
    if (running === undefined) underWay.set(key, started);
    try {
      return await started;
    } catch (thrown) {
      const isPassed = thrown instanceof PassedOn;
      if (isPassed && running === undefined) return true;
      const error = isPassed ? thrown.rejection : thrown;
      // What a quota refused is not here for those who waited: they fetch it one after the other.
      const wantsBytes = running !== undefined && wanted.begin !== undefined && !wanted.signal.aborted;
      if (!wantsBytes || quotaOfError(error) === undefined) throw error;
      return await fetch(wanted);
    }
  };
  return { fetch };
}

/** A quota refused a blob, and the client that waited for it has all its bytes. */
class PassedOn extends Error {
  readonly rejection: unknown;

  constructor(rejection: unknown) {
    super("a blob was passed on without being kept", { cause: rejection });
    this.rejection = rejection;
  }
}

async function download(deps: Parameters<typeof createDownloads>[0], wanted: Wanted): Promise<boolean> {
  const { blobs, transactor } = deps;
  const { digest, place, upstream } = wanted;
  if (upstream.link !== undefined) return await upstream.link(place, digest);
  if (wanted.begin === undefined && (await linkShared(deps, wanted))) return true;
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
      // After ABORTED, and when a quota refused it, nothing was written. After any other error the stored blob may be
      // in use; `cleanUploads` checks later.
      const isRefused = quotaOfError(error) !== undefined;
      await askForSpace(deps, place, error, stored.size);
      if (isRefused || (error instanceof MoorageError && error.code === Code.Aborted))
        await blobs.remove(digest, stored.generation);
      // Who pulls through a mirror has the content all the same.
      if (!isRefused || tee === undefined) throw error;
      await tee.end();
      throw new PassedOn(error);
    });
  await settleCopy(deps, stored, generation);
  await tee?.end();
  return true;
}

/** Has space made for what a group that stands for a registry could not keep. */
export async function askForSpace(
  deps: Pick<MirrorDeps, "transactor" | "clock">,
  { upstream }: MirrorPlace,
  error: unknown,
  bytes: number,
): Promise<void> {
  const group = upstream === undefined ? undefined : quotaOfError(error);
  if (group === undefined) return;
  // Without it, space is made once more is pulled.
  await deps.transactor.write(wantCacheSpace, mirrorCall(deps), { group, bytes }).catch(() => {});
}

/** Receives all bytes into the upload, resuming after interruptions. False when the source does not have the blob. */
async function receive(
  { blobs, metrics }: Pick<MirrorDeps, "blobs" | "metrics">,
  wanted: Wanted,
  upload: string,
  tee: Tee | undefined,
): Promise<boolean> {
  const { upstream, digest, size, likelySize, signal } = wanted;
  let fruitless = 0;
  for (let attempt = 1; ; attempt += 1) {
    const offset = await blobs.uploadSize(upload);
    // Everything came before the transfer broke off.
    if (offset > 0 && offset === size) return true;
    try {
      const stream = await upstream.blob(digest, offset, signal);
      if (stream === undefined) return false;
      const total = sizeOf(stream, size ?? stream.size ?? likelySize);
      if (stream.offset !== offset) await startAgain(stream, upload, blobs);
      tee?.begin(total);
      await blobs.append(upload, stream.offset, passing(stream, total, metrics, tee), {
        algorithm: algorithmOf(digest),
        length: total - stream.offset,
      });
      return true;
    } catch (thrown) {
      const error = asUpstreamError(thrown);
      const fruitful = (await blobs.uploadSize(upload)) > offset;
      const waitMs =
        attempt < MAX_ATTEMPTS ? waitBefore(error, fruitful ? 0 : fruitless, upstream.retryPolicy) : undefined;
      fruitless = fruitful ? 0 : fruitless + 1;
      if (waitMs === undefined || signal.aborted) throw error;
      await wait(waitMs, undefined, { signal });
    }
  }
}

/**
 * Empties the upload, for a source that sends a blob from its beginning although a later part was asked for. Throws
 * when the source sends yet another part.
 */
async function startAgain({ offset, discard }: BlobStream, upload: string, blobs: MirrorDeps["blobs"]): Promise<void> {
  if (offset !== 0) {
    discard();
    throw new UpstreamError("wrong", "the source sends another part of a blob than was asked for");
  }
  await blobs.removeUpload(upload);
  await blobs.startUpload(upload);
}

/**
 * The size of the whole blob. Throws an UpstreamError when the source states another one, or nobody states it: then
 * nothing bounds what the source sends.
 */
function sizeOf(stream: BlobStream, size: number | undefined): number {
  if (size !== undefined && (stream.size ?? size) === size && stream.offset <= size) return size;
  stream.discard();
  throw new UpstreamError(
    "wrong",
    size === undefined
      ? "the source does not say how long a blob is, and no manifest here does"
      : "a blob of the source is not as long as its manifest says",
  );
}

/**
 * The bytes of the stream as they come. Throws an UpstreamError when there are more than the blob has, or fewer: what
 * ends early is asked for again from there.
 */
async function* passing(
  { body, offset }: BlobStream,
  total: number,
  metrics: MirrorDeps["metrics"],
  tee: Tee | undefined,
): AsyncGenerator<Buffer> {
  let at = offset;
  for await (const chunk of body) {
    metrics.received(chunk.length);
    if (at + chunk.length > total)
      throw new UpstreamError("wrong", "a blob of the source is longer than its manifest says");
    await tee?.take(chunk, at);
    at += chunk.length;
    yield chunk;
  }
  if (at < total) throw new UpstreamError("unreachable", "a blob of the source ended early");
}

/** Copies the bytes to the sink, each once, and holds the last chunk back until the digest was checked. */
interface Tee {
  /** Opens the sink, unless an earlier attempt has. */
  begin(size: number): void;
  /** Takes the bytes at the offset `at`; those that an earlier attempt brought are skipped. */
  take(chunk: Buffer, at: number): Promise<void>;
  /** Sends the last chunk. */
  end(): Promise<void>;
}

function openTee(open: NonNullable<Wanted["begin"]>): Tee {
  let sink: ByteSink | undefined;
  let taken = 0;
  let held: Buffer | undefined;
  const flush = async (): Promise<void> => {
    const chunk = held;
    held = undefined;
    // The download continues when the client has gone, so that the next one finds the blob here.
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
