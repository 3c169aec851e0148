import type { StoredBlob } from "../../blobs/index.ts";
import { isVersion } from "../../lib/versions/index.ts";
import { bodyOf } from "../../oci/index.ts";
import type { NewFile } from "../artifacts/write.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryDeps, type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { rangesOf } from "../http/ranges.ts";
import { dropFile, keepFiles, oneChunk, receiveFile, type ReceivedFile } from "../http/receive.ts";
import { send } from "../requests/send.ts";
import { uploadPypi, type UploadInput } from "./commands.ts";
import type { CoreMetadata } from "./core-metadata.ts";
import { distributionOf, normalizedVersion } from "./filenames.ts";
import { isProjectName, normalizedName } from "./names.ts";

const MAX_SUMMARY_CHARS = 512;

/** What the fields of an upload say, checked. */
interface Upload extends Pick<UploadInput, "name" | "normalized" | "version" | "summary"> {
  filename: string;
  kind: "bdist_wheel" | "sdist";
  requiresPython: string;
}

/** POST of `…/legacy/`, as twine, uv and poetry send it. Source: PyPI, "upload API". */
export async function upload(exchange: LibraryExchange, { group: path }: { group: readonly string[] }): Promise<void> {
  const { deps, ecosystem, req } = exchange;
  const group = await read(exchange, (call) => groupFor(call, path, ecosystem.publish));
  const { maxLibraryFileBytes: maxBytes } = deps.config;
  // Most servers never read a form.
  const { readUploadForm } = await import("./upload-form.ts");
  const { fields, file } = await readUploadForm<ReceivedFile>(bodyOf(exchange), req.headers["content-type"], {
    take: (source) => receiveFile(deps.blobs, source, { maxBytes }),
    drop: (received) => dropFile(deps.blobs, received),
  });
  if (file === undefined) throw libraryError(400, "Invalid argument: content: is required: the file to publish");
  let checked: Upload;
  try {
    checked = uploadOf(fields, file.name, file.taken);
  } catch (error) {
    await dropFile(deps.blobs, file.taken);
    throw error;
  }
  await store(exchange, { ...checked, group, path: path.join("/") }, file.taken);
  send(exchange, 200, { "content-type": "text/plain; charset=utf-8" }, Buffer.from("OK\n"));
}

/** Checks the fields. Throws 400 that names the one that is wrong. */
function uploadOf(fields: ReadonlyMap<string, string>, filename: string, file: ReceivedFile): Upload {
  const wrong = (field: string, why: string): Error => libraryError(400, `Invalid argument: ${field}: ${why}`);
  const text = (field: string): string => fields.get(field)?.trim() ?? "";
  if (text(":action") !== "file_upload") throw wrong(":action", "must be file_upload");
  const [name, given] = [text("name"), text("version")];
  if (!isProjectName(name))
    throw wrong("name", "must be the name of a project: letters, digits, and . _ - between them");
  if (!isVersion("pypi", given)) throw wrong("version", "must be a version as PEP 440 has them, such as 1.0 or 2.1rc1");
  const [normalized, version] = [normalizedName(name), normalizedVersion(given)];
  const said = distributionOf(filename, normalized);
  if (said === undefined)
    throw wrong("content", `the file's name must be that of a wheel or a source distribution of ${normalized}`);
  if (normalizedVersion(said.version) !== version)
    throw wrong("content", `the file's name says version ${said.version}, and the field version ${given}`);
  const filetype = text("filetype");
  if (filetype !== "" && filetype !== said.kind) throw wrong("filetype", `must be ${said.kind} for this file`);
  for (const [field, sum] of [
    ["sha256_digest", file.sha256],
    ["md5_digest", file.md5],
  ] as const)
    if (text(field) !== "" && text(field).toLowerCase() !== sum)
      throw wrong(field, `the file that arrived has ${sum}: send it again`);
  return {
    name,
    normalized,
    version,
    filename,
    kind: said.kind,
    summary: text("summary"),
    requiresPython: text("requires_python"),
  };
}

type Target = Upload & Pick<UploadInput, "group" | "path">;

/** Makes the file a blob, with the metadata of a wheel beside it, and records them. */
async function store(exchange: LibraryExchange, target: Target, received: ReceivedFile): Promise<void> {
  const { deps } = exchange;
  await keepFiles(deps, [received], async ([blob]) => {
    if (blob === undefined) throw new Error("the file did not become a blob");
    const wheel = target.kind === "sdist" ? undefined : await metadataOf(deps, blob, target);
    const metadata = wheel?.bytes;
    // What a wheel says about itself counts, not what the form says about it.
    const said = wheel?.said ?? target;
    const described = { ...target, summary: said.summary.slice(0, MAX_SUMMARY_CHARS) };
    const file = newFile(target.filename, blob, received, { requiresPython: said.requiresPython });
    if (metadata === undefined) return await record(exchange, described, file, undefined);
    let generations: readonly string[] = [];
    const beside = await receiveFile(deps.blobs, oneChunk(metadata), { maxBytes: metadata.length });
    await keepFiles(deps, [beside], async ([own]) => {
      if (own === undefined) throw new Error("the metadata did not become a blob");
      const metadataFile = newFile(`${target.filename}.metadata`, own, beside, {});
      ({ generations } = await record(exchange, described, file, metadataFile));
      return { generations: generations.slice(1) };
    });
    return { generations };
  });
}

function newFile(name: string, blob: StoredBlob, { md5, sha1, sha512 }: ReceivedFile, metadata: object): NewFile {
  return { ...blob, name, md5, sha1, sha512, metadata: JSON.stringify(metadata) };
}

async function record(
  { deps, callData }: LibraryExchange,
  { name, normalized, version, summary, group, path }: Target,
  file: NewFile,
  metadataFile: NewFile | undefined,
): Promise<{ generations: string[] }> {
  const input = { group, path, name, normalized, version, summary, file, metadataFile };
  return await deps.transactor.write(uploadPypi, { ...callData, nowMs: deps.clock.nowMs() }, input);
}

/** The METADATA of a wheel. Throws 400 when it has none, or one of another project or version. */
async function metadataOf(
  { blobs, reading }: LibraryDeps,
  blob: StoredBlob,
  { normalized, version }: Target,
): Promise<{ bytes: Buffer; said: CoreMetadata }> {
  const { WheelError, wheelMetadata } = await import("./wheel.ts");
  let found: Buffer;
  try {
    found = await wheelMetadata(rangesOf(blobs, blob), blob.size, normalized);
  } catch (error) {
    if (error instanceof WheelError) throw libraryError(400, `Invalid argument: content: ${error.message}`);
    throw error;
  }
  const said = await reading.run("pypi.metadata", { bytes: found }, found.length);
  if (normalizedName(said.name) !== normalized || normalizedVersion(said.version) !== version)
    throw libraryError(
      400,
      `Invalid argument: content: the wheel's METADATA is of ${said.name} ${said.version}, not of ${normalized} ${version}`,
    );
  return { bytes: found, said };
}
