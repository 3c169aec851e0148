import type { StoredBlob } from "@moorage/kernel/blobs";
import { type DatedTarget, type PublishTarget, type Publication, publishLibrary } from "../artifacts/publish.ts";
import { changeLibrary } from "../artifacts/change.ts";
import type { NewFile } from "../artifacts/write.ts";
import { REMOVE } from "../ecosystem/ecosystem.ts";
import { groupFor } from "../http/groups.ts";
import { keepFiles, oneChunk, receiveFile, type ReceivedFile } from "../http/receive.ts";
import { type LibraryExchange, read } from "./exchange.ts";
import { publishTimeIn, requireImporter } from "../http/publish-time.ts";

// The order in which something is published, the same for all ecosystems: the right to it; the bytes, which the
// ecosystem takes and checks; the content, durably; and one command that asks for the right again and writes it all.

/** What is published with a file that is stored. `metadata`: of the file, as JSON. Defaults to none. */
export interface Described extends Omit<Publication, "files"> {
  file: { name: string; metadata?: string };
  /** A small file that is kept beside it. Defaults to none. */
  beside?: { name: string; content: Uint8Array } | undefined;
}

/** A file that a client publishes: received and checked, so far as that needs nothing that is in it. */
export interface TakenFile {
  received: ReceivedFile;
  /** What it is, and what is published with it. What it throws leaves nothing behind. */
  describe(blob: StoredBlob): Promise<Described>;
}

/** How an ecosystem publishes. */
interface PublishSteps {
  /**
   * Takes what the client sends. What it throws leaves nothing behind. Undefined when nothing is published by it: then
   * it has dealt with it.
   */
  take(target: DatedTarget): Promise<TakenFile | undefined>;
  /** Answers when it is published. */
  done(): void;
}

/**
 * Publishes to the group of the path. Throws 403, 400 for a wrong time in the header, and what the steps throw and the
 * ecosystem refuses it with.
 */
export async function answerPublish(
  exchange: LibraryExchange,
  path: readonly string[],
  { take, done }: PublishSteps,
): Promise<void> {
  const { deps, ecosystem } = exchange;
  const publishMs = publishTimeIn(exchange.req.headers["moorage-publish-time"], deps.clock.nowMs());
  const group = await read(exchange, async (call) => {
    const found = await groupFor(call, path, ecosystem.publish);
    if (publishMs !== undefined) await requireImporter(call, found, path.join("/"));
    return found;
  });
  const target = { group, path: path.join("/"), ...(publishMs !== undefined && { publishMs }) };
  const taken = await take(target);
  if (taken === undefined) return;
  const { received, describe } = taken;
  await keepFiles(deps, [received], async ([blob]) => {
    const { file, beside, ...publication } = await describe(storedOf(blob));
    const first = newFile(file, storedOf(blob), received);
    const write = (files: Publication["files"]): Promise<{ generations: string[] }> =>
      deps.transactor.write(publishLibrary, now(exchange), {
        ...target,
        ...publication,
        files,
        ecosystem: ecosystem.number,
      });
    if (beside === undefined) return await write([first]);
    const { name, content } = beside;
    const other = await receiveFile(deps.blobs, oneChunk(content), { maxBytes: content.length });
    let generations: readonly string[] = [];
    await keepFiles(deps, [other], async ([own]) => {
      ({ generations } = await write([first, newFile({ name }, storedOf(own), other)]));
      return { generations: generations.slice(1) };
    });
    return { generations };
  });
  done();
}

function storedOf(blob: StoredBlob | undefined): StoredBlob {
  if (blob === undefined) throw new Error("the file did not become a blob");
  return blob;
}

function newFile(
  { name, metadata = "{}" }: Described["file"],
  blob: StoredBlob,
  { md5, sha1, sha512 }: ReceivedFile,
): NewFile {
  return { ...blob, name, md5, sha1, sha512, metadata };
}

/** A change of an artifact that is there. */
interface WantedChange {
  normalized: string;
  /** Among those of the ecosystem. */
  change: string;
  input: unknown;
}

/** Has a change made, by the ecosystem's plan. */
export async function makeChange(
  exchange: LibraryExchange,
  target: PublishTarget,
  wanted: WantedChange,
): Promise<void> {
  const { deps, ecosystem } = exchange;
  await deps.transactor.write(changeLibrary, now(exchange), { ...target, ...wanted, ecosystem: ecosystem.number });
}

/** The group of the path, on which the caller may remove versions, or publish. Throws 403 and 404. */
export async function changeTarget(
  exchange: LibraryExchange,
  path: readonly string[],
  { removes }: { removes: boolean },
): Promise<PublishTarget> {
  const capability = removes ? REMOVE : exchange.ecosystem.publish;
  return { group: await read(exchange, (call) => groupFor(call, path, capability)), path: path.join("/") };
}

/** The call as of now: a slow client's version counts as new when it is complete, not when its first byte arrived. */
function now({ callData, deps }: LibraryExchange): LibraryExchange["callData"] {
  return { ...callData, nowMs: deps.clock.nowMs() };
}
