import { ReplicationConflict, ReplicationDeletions } from "@moorage/api/messages";
import type { Database } from "@moorage/kernel/store";
import { UpstreamError } from "../mirroring/index.ts";
import { type ClaimedItem, type HeldItem, noteAttached, notePut, noteUpload } from "./commands.ts";
import { attachedTags, blobOf, imageOf, type LocalImage, pushedWith, referrersOf } from "./content.ts";
import { type ReplicationDeps, replicationCall } from "./context.ts";
import { BlockedError, OutdatedError } from "./errors.ts";
import { moveTime } from "./move-times.ts";
import type { Opened } from "./destinations.ts";
import type { ByteRate } from "./byte-rates.ts";
import { deleteTagAt, hasBlob, manifestAt, mountBlob, putManifest } from "./target.ts";
import { PART_BYTES, sendBlob } from "./upload.ts";

/** An item that is being pushed. */
export interface Push {
  deps: ReplicationDeps;
  claimed: ClaimedItem;
  held: HeldItem;
  opened: Opened;
  byteRate: ByteRate;
  signal: AbortSignal;
  /** Bytes that were sent so far. */
  sent: number;
}

// More than images have, with all platforms and what is attached to them.
const MAX_MANIFESTS = 2_000;

/** What an attempt found or left at the destination. */
export interface Pushed {
  digest: string;
  /** What there is to say of it. */
  reason: string;
  /** Whether the destination keeps what it moved to later. */
  isOutdated?: boolean;
}

/**
 * Brings the destination's tag to where the item's is here: first everything that the image consists of, then what
 * refers to it, the tag last. Throws a BlockedError for what is not ours there, and an UpstreamError.
 */
export async function pushItem(push: Push): Promise<Pushed> {
  try {
    return await bring(push);
  } catch (error) {
    if (!(error instanceof OutdatedError)) throw error;
    return { digest: push.claimed.item.digest, reason: error.message, isOutdated: true };
  }
}

async function bring(push: Push): Promise<Pushed> {
  const { item, rule } = push.claimed;
  const { exchange, name } = push.opened;
  const there = await manifestAt(exchange, name, item.tag, push.signal);
  if (item.digest === "") return await removeTag(push, there);
  if (there !== item.digest && rule.on_conflict !== ReplicationConflict.OVERWRITE) await requireOurs(push, there);
  const walk = createWalk(push);
  const image = await read(push, (tx) => imageOf(tx, item.repo, item.digest));
  if (image === undefined)
    throw new UpstreamError("wrong", "the repo does not hold the manifest that its tag points to");
  await walk.push(image);
  if (there !== item.digest) {
    await requireHeld(push.deps.transactor.write(notePut, replicationCall(push.deps), heldWith(push, item.digest)));
    const movedMs = await movedAt(push, item.tag, item.digest);
    const put = { name, reference: item.tag, manifest: image, moves: there !== undefined, movedMs };
    await putManifest(exchange, put, push.signal);
    const now = await manifestAt(exchange, name, item.tag, push.signal);
    if (now !== item.digest)
      throw new UpstreamError("wrong", `the destination took the tag, and says that it points to ${now ?? "nothing"}`);
  }
  return { digest: item.digest, reason: walk.words() };
}

/** When a tag moved here, for a destination that is a Moorage; undefined for others. */
async function movedAt(push: Push, tag: string, digest: string): Promise<number | undefined> {
  const { item, rule } = push.claimed;
  if (rule.destination_identity === "") return undefined;
  return await read(push, (tx) => moveTime(tx, { repo: item.repo, tag, digest }));
}

/**
 * Throws a BlockedError when the destination's tag points to what the rule did not push. What the tag pointed to here
 * before may have come from a Moorage there, so that it is no conflict.
 */
async function requireOurs(push: Push, there: string | undefined): Promise<void> {
  const { item } = push.claimed;
  if (there === undefined || there === item.pushed_digest || there === item.put_digest) return;
  if ((await movedAt(push, item.tag, there)) !== undefined) return;
  throw new BlockedError(`the destination's tag points to ${there}, which the replication did not push`);
}

async function removeTag(push: Push, there: string | undefined): Promise<Pushed> {
  const { item, rule } = push.claimed;
  if (there === undefined) return { digest: "", reason: "deleted here and there" };
  if (rule.deletions !== ReplicationDeletions.FOLLOW)
    return { digest: "", reason: "deleted here; the destination keeps it" };
  await requireOurs(push, there);
  const movedMs = await movedAt(push, item.tag, "");
  await deleteTagAt(push.opened.exchange, { name: push.opened.name, tag: item.tag, movedMs }, push.signal);
  return { digest: "", reason: "deleted here and there" };
}

function heldWith({ held }: Push, digest: string): HeldItem & { digest: string } {
  return { ...held, digest };
}

async function requireHeld(holding: Promise<{ held: boolean }>): Promise<void> {
  if (!(await holding).held) throw new DOMException("the item is no longer held", "AbortError");
}

function read<T>({ deps }: Push, work: (tx: Database) => Promise<T>): Promise<T> {
  return deps.transactor.read(replicationCall(deps), (call) => work(call.tx));
}

/** Pushes manifests with all that belongs to them, each once. */
interface Walk {
  push(image: LocalImage): Promise<void>;
  /** What was left out. */
  words(): string;
}

function createWalk(push: Push): Walk {
  const { item, rule } = push.claimed;
  const { exchange, name } = push.opened;
  const { signal } = push;
  const seen = new Set<string>();
  const left = { children: 0, attached: 0, unlisted: 0 };

  const pushManifest = async (image: LocalImage): Promise<void> => {
    if (seen.has(image.digest)) return;
    seen.add(image.digest);
    if (seen.size > MAX_MANIFESTS)
      throw new UpstreamError("wrong", `the image has more than ${MAX_MANIFESTS} manifests with what is attached`);
    signal.throwIfAborted();
    const isThere = (await manifestAt(exchange, name, image.digest, signal)) === image.digest;
    if (!isThere) for (const blob of image.blobs) await pushBlob(push, blob);
    for (const child of image.children) {
      const found = await read(push, (tx) => imageOf(tx, item.repo, child));
      if (found === undefined) left.children += 1;
      else await pushManifest(found);
    }
    const referrers = await read(push, (tx) => referrersOf(tx, item.repo, image.digest));
    if (!isThere) await putManifest(exchange, { name, reference: image.digest, manifest: image, moves: false }, signal);
    for (const referrer of referrers) {
      const found = await read(push, (tx) => imageOf(tx, item.repo, referrer));
      if (found !== undefined) await pushManifest(found);
    }
    for (const tag of await read(push, (tx) => attachedTags(tx, item.repo, image.digest))) await pushAttached(tag);
  };

  const pushAttached = async ({ name: tag, digest }: { name: string; digest: string }): Promise<void> => {
    const image = await read(push, (tx) => imageOf(tx, item.repo, digest));
    if (image === undefined) return void (left.attached += 1);
    await pushManifest(image);
    const there = await manifestAt(exchange, name, tag, signal);
    const note = (isPut: boolean): Promise<void> =>
      requireHeld(
        push.deps.transactor.write(noteAttached, replicationCall(push.deps), {
          item: push.held,
          tag,
          repo: item.repo,
          digest,
          isPut,
        }),
      );
    if (there === digest) return await note(true);
    const known = await read(push, (tx) => ownTag(tx, push.held, tag));
    if (rule.on_conflict !== ReplicationConflict.OVERWRITE && !isOurs(known, there)) return void (left.attached += 1);
    await note(false);
    const movedMs = await movedAt(push, tag, digest);
    const put = { name, reference: tag, manifest: image, moves: there !== undefined, movedMs };
    if (await isTaken(putManifest(exchange, put, signal))) await note(true);
    else left.attached += 1;
  };

  return {
    push: pushManifest,
    words: () =>
      [
        ...(left.children > 0
          ? [`${left.children} manifests that the index names are not here, and were left out`]
          : []),
        ...(left.attached > 0
          ? [`${left.attached} tags of signatures were left out: the destination has others, or they are not here`]
          : []),
      ].join("; "),
  };
}

/** Whether the destination took it; not when it moved the tag later itself. */
async function isTaken(putting: Promise<unknown>): Promise<boolean> {
  try {
    await putting;
    return true;
  } catch (error) {
    if (!(error instanceof OutdatedError)) throw error;
    return false;
  }
}

function isOurs(known: { pushed_digest: string; put_digest: string } | undefined, there: string | undefined): boolean {
  return there === undefined || there === known?.pushed_digest || there === known?.put_digest;
}

async function ownTag(
  tx: Database,
  { replication, repository }: HeldItem,
  tag: string,
): Promise<{ pushed_digest: string; put_digest: string } | undefined> {
  return await tx
    .selectFrom("replication_items")
    .select(["pushed_digest", "put_digest"])
    .where("replication", "=", replication)
    .where("repository", "=", repository)
    .where("tag", "=", tag)
    .executeTakeFirst();
}

async function pushBlob(push: Push, digest: string): Promise<void> {
  const { deps, held, opened, signal } = push;
  const { item } = push.claimed;
  const { exchange, name } = opened;
  if (await hasBlob(exchange, name, digest, signal)) return;
  const from = await read(push, (tx) => pushedWith(tx, held, digest));
  if (from !== undefined && (await opened.mount(from, digest, signal, mountBlob))) return;
  const blob = await read(push, (tx) => blobOf(tx, item.repo, digest));
  if (blob === undefined)
    throw new UpstreamError("wrong", `the repo does not hold ${digest}, of which the image consists`);
  const resume = resumable(item.upload, digest);
  const sending = {
    exchange,
    name,
    resume,
    note: (location: string) =>
      deps.transactor.write(noteUpload, replicationCall(deps), {
        ...held,
        upload: JSON.stringify({ digest, location }),
      }),
    async take(bytes: number, touch: () => void) {
      await push.byteRate.take(bytes, touch, signal);
      push.sent += bytes;
      deps.metrics.sent(bytes);
    },
    signal,
  };
  await sendBlob(sending, {
    digest,
    size: blob.size,
    read: (offset, length) => readPart(deps, blob, offset, length),
  });
}

function resumable(upload: string, digest: string): string | undefined {
  if (upload === "") return undefined;
  const { digest: of, location } = JSON.parse(upload) as { digest: string; location: string };
  return of === digest ? location : undefined;
}

async function readPart(
  { blobs }: ReplicationDeps,
  { digest, generation }: { digest: string; generation: string },
  offset: number,
  length: number,
): Promise<Buffer> {
  if (length > PART_BYTES) throw new RangeError("a part is too large");
  const bytes = Buffer.alloc(length);
  let at = 0;
  if (length > 0)
    await blobs.read(digest, generation, { start: offset, end: offset + length - 1 }, async (chunk) => {
      at += chunk.copy(bytes, at);
    });
  return bytes;
}
