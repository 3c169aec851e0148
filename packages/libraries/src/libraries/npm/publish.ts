import { bodyOf } from "@moorage/registry/oci";
import { artifactNamed } from "../artifacts/names.ts";
import type { PublishTarget } from "../artifacts/publish.ts";
import { fileNamed } from "../artifacts/visible.ts";
import { REMOVE } from "../ecosystem/ecosystem.ts";
import { libraryError } from "../http/errors.ts";
import { groupFor } from "../http/groups.ts";
import { dropFile, receiveFile, type ReceivedFile } from "../http/receive.ts";
import type { HandedOver } from "../reading/hand-over.ts";
import { holding } from "../reading/holding.ts";
import { ReadingError } from "../reading/reading-error.ts";
import type { Task } from "../reading/task.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { answerPublish, changeTarget, makeChange, type TakenFile } from "../requests/publish.ts";
import { sendJson } from "../requests/send.ts";
import { splitDocument } from "./document-stream.ts";
import type { NewNpmVersion } from "./document.ts";
import type { SentDocument } from "./read-publication.ts";
import type { PackagePath } from "./resolve.ts";
import { deprecations, keptVersions, publishedVersion } from "./tasks.ts";
import type { AboutPublished } from "./versions.ts";

/**
 * The largest document beside its tarball. Deprecating sends the whole packument back, which of a package with some
 * thousand versions is many megabytes.
 */
const MAX_JSON_BYTES = 32 * 1024 * 1024;

/** PUT of a package: `npm publish` with a tarball, `npm deprecate` without one. */
export async function publish(exchange: LibraryExchange, { group, name }: PackagePath): Promise<void> {
  let version = "";
  await answerPublish(exchange, group, {
    take: (target) =>
      withDocument(exchange, name, async (sent, tarball) => {
        if (tarball === undefined) return await deprecate(exchange, target, sent);
        const { sha1, sha512 } = tarball.file;
        const published = { ...sent, tarball: { name: tarball.name, file: { sha1, sha512 } } };
        const { version: found, tags } = await readSent(exchange, publishedVersion, published);
        ({ version } = found);
        tarball.isTaken = true;
        return takenVersion(name, tarball.file, found, tags);
      }),
    done: () => sendJson(exchange, 201, { ok: true, id: name, rev: version }),
  });
}

function takenVersion(
  name: string,
  received: ReceivedFile,
  { version, description, metadata, deprecated, readme, fileName, fileMetadata }: NewNpmVersion,
  tags: Record<string, string>,
): TakenFile {
  const about: AboutPublished = { tags, readme };
  return {
    received,
    describe: async () => ({
      name,
      normalized: name,
      version,
      description,
      metadata,
      deprecated,
      about,
      file: { name: fileName, metadata: fileMetadata },
    }),
  };
}

async function deprecate(exchange: LibraryExchange, target: PublishTarget, sent: SentDocument): Promise<undefined> {
  const { name } = sent;
  const texts = await readSent(exchange, deprecations, sent);
  await makeChange(exchange, target, { normalized: name, change: "deprecate", input: { texts } });
  sendJson(exchange, 200, { ok: true, id: name });
}

/** PUT of `<name>/-rev/<rev>`: the package without the versions that `npm unpublish` removes. */
export async function replace(
  exchange: LibraryExchange,
  { group, name, rev }: PackagePath & { rev: string },
): Promise<void> {
  const target = await changeTarget(exchange, group, { removes: true });
  await withDocument(exchange, name, async (sent, tarball) => {
    if (tarball !== undefined) throw libraryError(400, "Invalid argument: _attachments: nothing is published here");
    const { versions: keep, tags } = await readSent(exchange, keptVersions, sent);
    if (keep.length === 0) throw libraryError(400, "Invalid argument: versions: the last one goes with the package");
    await makeChange(exchange, target, { normalized: name, change: "unpublish", input: { rev, keep, tags } });
  });
  sendJson(exchange, 200, { ok: true, id: name });
}

/** DELETE of `<name>/-rev/<rev>`: the whole package. */
export async function remove(
  exchange: LibraryExchange,
  { group, name, rev }: PackagePath & { rev: string },
): Promise<void> {
  const target = await changeTarget(exchange, group, { removes: true });
  const input = { rev, keep: undefined, tags: {} };
  await makeChange(exchange, target, { normalized: name, change: "unpublish", input });
  sendJson(exchange, 200, { ok: true });
}

/** DELETE of a tarball: npm sends it after it has removed the version, and the tarball went with that. */
export async function removeTarball(
  exchange: LibraryExchange,
  { group: path, name, file = "" }: PackagePath & { file?: string },
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
async function withDocument<T>(
  exchange: LibraryExchange,
  name: string,
  work: (sent: SentDocument, tarball: SentFile | undefined) => Promise<T>,
): Promise<T> {
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
    return await work({ name, json: handed.bytes, size: json.length }, tarball);
  } catch (error) {
    if (tarball?.isTaken === false) await dropFile(blobs, tarball.file);
    throw error;
  } finally {
    await handed?.release();
    held.release();
  }
}

/** Has a document read, here or in a task. Throws 400, and 413 for one that takes too much time or memory. */
async function readSent<Input extends SentDocument, Output>(
  { deps }: LibraryExchange,
  task: Task<Input, Output>,
  input: Input,
): Promise<Output> {
  try {
    return await deps.reading.run(task, input, input.size);
  } catch (error) {
    throw error instanceof ReadingError ? libraryError(413, `Invalid argument: document: ${error.fault}`) : error;
  }
}
