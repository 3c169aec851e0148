import { bodyOf } from "../../oci/index.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { dropFile, keepFiles, receiveFile, type ReceivedFile } from "../http/receive.ts";
import { sendJson } from "../requests/send.ts";
import { REMOVE } from "../ecosystems.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { fileNamed } from "../artifacts/visible.ts";
import { deprecateNpm, publishNpm, unpublishNpm } from "./changes.ts";
import { splitDocument } from "./document-stream.ts";
import type { HandedOver } from "../reading/handed.ts";
import { holding } from "../reading/holding.ts";
import { ReadingError } from "../reading/reading-error.ts";
import type { TaskInput, TaskOutput } from "../reading/tasks.ts";
import type { SentDocument } from "./read-published.ts";

/**
 * The largest document beside its tarball. Deprecating sends the whole packument back, which of a package with some
 * thousand versions is many megabytes.
 */
const MAX_JSON_BYTES = 32 * 1024 * 1024;

interface Named {
  group: readonly string[];
  name: string;
}

/** PUT of a package: `npm publish` with a tarball, `npm deprecate` without one. */
export async function publish(exchange: LibraryExchange, { group: path, name }: Named): Promise<void> {
  const { deps, ecosystem } = exchange;
  const group = await read(exchange, (call) => groupFor(call, path, ecosystem.publish));
  const target = { group, path: path.join("/"), name };
  await withDocument(exchange, name, async (sent, tarball) => {
    if (tarball === undefined) {
      const texts = await readSent(exchange, "npm.deprecations", sent);
      await deps.transactor.write(deprecateNpm, now(exchange), { ...target, texts });
      return sendJson(exchange, 200, { ok: true, id: name });
    }
    const { sha1, sha512 } = tarball.file;
    const published = { ...sent, tarball: { name: tarball.name, file: { sha1, sha512 } } };
    const { version, tags } = await readSent(exchange, "npm.version", published);
    const { fileName, fileMetadata, ...rest } = version;
    tarball.isTaken = true;
    await keepFiles(deps, [tarball.file], async ([blob]) => {
      if (blob === undefined) throw new Error("the tarball did not become a blob");
      const { md5 } = tarball.file;
      const file = { ...blob, name: fileName, md5, sha1, sha512, metadata: fileMetadata };
      return await deps.transactor.write(publishNpm, now(exchange), { ...target, ...rest, tags, file });
    });
    sendJson(exchange, 201, { ok: true, id: name, rev: rest.version });
  });
}

/** PUT of `<name>/-rev/<rev>`: the package without the versions that `npm unpublish` removes. */
export async function replace(
  exchange: LibraryExchange,
  { group: path, name, rev }: Named & { rev: string },
): Promise<void> {
  const group = await read(exchange, (call) => groupFor(call, path, REMOVE));
  await withDocument(exchange, name, async (sent, tarball) => {
    if (tarball !== undefined) throw libraryError(400, "Invalid argument: _attachments: nothing is published here");
    const { versions: keep, tags } = await readSent(exchange, "npm.kept", sent);
    if (keep.length === 0) throw libraryError(400, "Invalid argument: versions: the last one goes with the package");
    const input = { group, path: path.join("/"), name, rev, keep, tags };
    await exchange.deps.transactor.write(unpublishNpm, now(exchange), input);
  });
  sendJson(exchange, 200, { ok: true, id: name });
}

/** DELETE of `<name>/-rev/<rev>`: the whole package. */
export async function remove(
  exchange: LibraryExchange,
  { group: path, name, rev }: Named & { rev: string },
): Promise<void> {
  const group = await read(exchange, (call) => groupFor(call, path, REMOVE));
  await exchange.deps.transactor.write(unpublishNpm, now(exchange), {
    group,
    path: path.join("/"),
    name,
    rev,
    keep: undefined,
    tags: {},
  });
  sendJson(exchange, 200, { ok: true });
}

/** DELETE of a tarball: npm sends it after it has removed the version, and the tarball went with that. */
export async function removeTarball(
  exchange: LibraryExchange,
  { group: path, name, file = "" }: Named & { file?: string },
): Promise<void> {
  const isThere = await read(exchange, async (call) => {
    const group = await groupFor(call, path, REMOVE);
    const artifact = await artifactNamed(call.tx, { group, ecosystem: exchange.ecosystem, normalized: name });
    return artifact !== undefined && (await fileNamed(call.tx, artifact.uid, file)) !== undefined;
  });
  if (isThere) throw libraryError(400, "Invalid argument: a tarball goes with its version: remove that first");
  sendJson(exchange, 200, { ok: true });
}

/** A tarball that came with a document. `isTaken`: whoever has it now keeps or drops it. */
interface SentFile {
  name: string;
  file: ReceivedFile;
  isTaken: boolean;
}

/** Receives a document and has it read. What is thrown leaves no tarball behind. */
async function withDocument(
  exchange: LibraryExchange,
  name: string,
  work: (sent: SentDocument, tarball: SentFile | undefined) => Promise<void>,
): Promise<void> {
  const { blobs, config, reading } = exchange.deps;
  const maxJsonBytes = MAX_JSON_BYTES;
  let tarball: SentFile | undefined;
  let handed: HandedOver | undefined;
  const held = holding(reading, exchange.caller.identity);
  try {
    const json = await splitDocument(bodyOf(exchange), { maxJsonBytes, hold: held.hold }, async (file, bytes) => {
      const received = await receiveFile(blobs, bytes, { maxBytes: config.maxLibraryFileBytes });
      tarball = { name: file, file: received, isTaken: false };
    });
    handed = await reading.handOver([json]);
    await work({ name, json: handed.bytes, size: json.length }, tarball);
  } catch (error) {
    if (tarball?.isTaken === false) await dropFile(blobs, tarball.file);
    throw error;
  } finally {
    await handed?.release();
    held.release();
  }
}

/** Has a document read, here or in a task. Throws 400, and 413 for one that takes too much time or memory. */
async function readSent<Name extends "npm.version" | "npm.deprecations" | "npm.kept">(
  { deps }: LibraryExchange,
  task: Name,
  input: TaskInput<Name> & SentDocument,
): Promise<TaskOutput<Name>> {
  try {
    return await deps.reading.run(task, input, input.size);
  } catch (error) {
    throw error instanceof ReadingError ? libraryError(413, `Invalid argument: document: ${error.fault}`) : error;
  }
}

/** The call as of now: a slow client's version counts as new when it is complete, not when its first byte arrived. */
function now({ callData, deps }: LibraryExchange): LibraryExchange["callData"] {
  return { ...callData, nowMs: deps.clock.nowMs() };
}
