import { bodyOf } from "../../oci/index.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { dropFile, keepFiles, receiveFile, type ReceivedFile } from "../http/receive.ts";
import { sendJson } from "../http/send.ts";
import { REMOVE } from "../ecosystems.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { fileNamed } from "../artifacts/visible.ts";
import { deprecateNpm, publishNpm, unpublishNpm } from "./commands.ts";
import { splitDocument } from "./document-stream.ts";
import { documentOf, newVersionOf, type NpmDocument } from "./document.ts";

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
  const { document, tarball } = await receiveDocument(exchange, name);
  if (tarball === undefined) {
    const texts = Object.entries(document.versions).map(([version, { deprecated }]) => [
      version,
      typeof deprecated === "string" ? deprecated : "",
    ]);
    await deps.transactor.write(deprecateNpm, now(exchange), {
      ...target,
      texts: Object.fromEntries(texts) as Record<string, string>,
    });
    return sendJson(exchange, 200, { ok: true, id: name });
  }
  let version;
  try {
    version = newVersionOf(document, tarball);
  } catch (error) {
    await dropFile(deps.blobs, tarball.file);
    throw error;
  }
  const { fileName, fileMetadata, ...rest } = version;
  await keepFiles(deps, [tarball.file], async ([blob]) => {
    if (blob === undefined) throw new Error("the tarball did not become a blob");
    const { md5, sha1, sha512 } = tarball.file;
    const file = { ...blob, name: fileName, md5, sha1, sha512, metadata: fileMetadata };
    return await deps.transactor.write(publishNpm, now(exchange), {
      ...target,
      ...rest,
      tags: document.tags,
      file,
    });
  });
  sendJson(exchange, 201, { ok: true, id: name, rev: rest.version });
}

/** PUT of `<name>/-rev/<rev>`: the package without the versions that `npm unpublish` removes. */
export async function replace(
  exchange: LibraryExchange,
  { group: path, name, rev }: Named & { rev: string },
): Promise<void> {
  const group = await read(exchange, (call) => groupFor(call, path, REMOVE));
  const { document, tarball } = await receiveDocument(exchange, name);
  if (tarball !== undefined) {
    await dropFile(exchange.deps.blobs, tarball.file);
    throw libraryError(400, "Invalid argument: _attachments: nothing is published here");
  }
  const keep = Object.keys(document.versions);
  if (keep.length === 0) throw libraryError(400, "Invalid argument: versions: the last one goes with the package");
  await exchange.deps.transactor.write(unpublishNpm, now(exchange), {
    group,
    path: path.join("/"),
    name,
    rev,
    keep,
    tags: document.tags,
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

/** Reads the document. What it throws leaves no tarball behind. */
async function receiveDocument(
  exchange: LibraryExchange,
  name: string,
): Promise<{ document: NpmDocument; tarball: { name: string; file: ReceivedFile } | undefined }> {
  const { blobs, config } = exchange.deps;
  let tarball: { name: string; file: ReceivedFile } | undefined;
  try {
    const json = await splitDocument(bodyOf(exchange), { maxJsonBytes: MAX_JSON_BYTES }, async (file, bytes) => {
      tarball = { name: file, file: await receiveFile(blobs, bytes, { maxBytes: config.maxLibraryFileBytes }) };
    });
    return { document: documentOf(json, name), tarball };
  } catch (error) {
    if (tarball !== undefined) await dropFile(blobs, tarball.file);
    throw error;
  }
}

/** The call as of now: a slow client's version counts as new when it is complete, not when its first byte arrived. */
function now({ callData, deps }: LibraryExchange): LibraryExchange["callData"] {
  return { ...callData, nowMs: deps.clock.nowMs() };
}
