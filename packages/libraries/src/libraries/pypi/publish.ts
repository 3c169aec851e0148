import type { StoredBlob } from "@moorage/kernel/blobs";
import { isVersion } from "@moorage/kernel/lib/versions";
import { bodyOf } from "@moorage/registry/oci";
import { libraryError } from "../http/errors.ts";
import { rangesOf } from "../http/ranges.ts";
import { dropFile, receiveFile, type ReceivedFile } from "../http/receive.ts";
import type { LibraryDeps, LibraryExchange } from "../requests/exchange.ts";
import { answerPublish, type Described } from "../requests/publish.ts";
import { send } from "../requests/send.ts";
import { distributionOf, normalizedVersion } from "./filenames.ts";
import { isProjectName, normalizedName } from "./names.ts";
import { type ProjectReadme, readmeOf } from "./readme.ts";
import { coreMetadata } from "./tasks.ts";
import type { AboutDistribution } from "./versions.ts";

const MAX_SUMMARY_CHARS = 512;

/** What the fields of an upload say, checked. */
interface Upload {
  /** As its publisher writes it. */
  name: string;
  normalized: string;
  /** Normalized. */
  version: string;
  summary: string;
  filename: string;
  kind: "bdist_wheel" | "sdist";
  requiresPython: string;
  /** Undefined where the form has none. */
  readme: ProjectReadme | undefined;
  /** When it was uploaded to the registry that it comes from, in milliseconds since 1970. Defaults to now. */
  uploadMs?: number | undefined;
}

/** POST of `…/legacy/`, as twine, uv and poetry send it. Source: PyPI, "upload API". */
export async function upload(exchange: LibraryExchange, { group }: { group: readonly string[] }): Promise<void> {
  const { deps, req } = exchange;
  await answerPublish(exchange, group, {
    async take({ publishMs }) {
      const { maxLibraryFileBytes: maxBytes } = deps.config;
      // Most servers never read a form.
      const { readUploadForm } = await import("./upload-form.ts");
      const { fields, file } = await readUploadForm<ReceivedFile>(bodyOf(exchange), req.headers["content-type"], {
        take: (source) => receiveFile(deps.blobs, source, { maxBytes }),
        drop: (received) => dropFile(deps.blobs, received),
      });
      if (file === undefined) throw libraryError(400, "Invalid argument: content: is required: the file to publish");
      const { name, taken: received } = file;
      try {
        const checked = uploadOf(fields, name, received);
        return { received, describe: (blob) => described(deps, { ...checked, uploadMs: publishMs }, blob) };
      } catch (error) {
        await dropFile(deps.blobs, received);
        throw error;
      }
    },
    done: () => send(exchange, 200, { "content-type": "text/plain; charset=utf-8" }, Buffer.from("OK\n")),
  });
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
    readme: fields.has("description") ? readmeOf(text("description"), text("description_content_type")) : undefined,
  };
}

/** What is published, with the metadata of a wheel beside it. */
async function described(deps: LibraryDeps, target: Upload, blob: StoredBlob): Promise<Described> {
  const { name, normalized, version, filename, uploadMs } = target;
  const wheel = target.kind === "sdist" ? undefined : await metadataOf(deps, blob, target);
  // What a wheel says about itself counts, not what the form says about it.
  const { summary, requiresPython, readme } = wheel?.said ?? target;
  const about: AboutDistribution = { readme };
  return {
    name,
    normalized,
    version,
    description: summary.slice(0, MAX_SUMMARY_CHARS),
    about,
    file: { name: filename, metadata: JSON.stringify({ requiresPython, uploadMs }) },
    beside: wheel && { name: `${filename}.metadata`, content: wheel.bytes },
  };
}

/** The METADATA of a wheel. Throws 400 when it has none, or one of another project or version. */
async function metadataOf(
  { blobs, reading }: LibraryDeps,
  blob: StoredBlob,
  { normalized, version }: Upload,
): Promise<{ bytes: Buffer; said: Pick<Upload, "summary" | "requiresPython" | "readme"> }> {
  const { WheelError, wheelMetadata } = await import("./wheel.ts");
  let found: Buffer;
  try {
    found = await wheelMetadata(rangesOf(blobs, blob), blob.size, normalized);
  } catch (error) {
    if (error instanceof WheelError) throw libraryError(400, `Invalid argument: content: ${error.message}`);
    throw error;
  }
  const said = await reading.run(coreMetadata, { bytes: found }, found.length);
  if (normalizedName(said.name) !== normalized || normalizedVersion(said.version) !== version)
    throw libraryError(
      400,
      `Invalid argument: content: the wheel's METADATA is of ${said.name} ${said.version}, not of ${normalized} ${version}`,
    );
  return { bytes: found, said };
}
