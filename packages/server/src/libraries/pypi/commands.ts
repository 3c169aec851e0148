import type { Call } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { pypiKey } from "../../lib/versions/index.ts";
import { recordBlob } from "../../oci/index.ts";
import type { Row } from "../../store/index.ts";
import { noteChange } from "../artifacts/events.ts";
import { ORIGIN } from "../artifacts/names.ts";
import { fileNamed, versionNamed, versionsOf } from "../artifacts/visible.ts";
import { addFile, addVersion, type NewFile, settleArtifact, takeArtifact } from "../artifacts/write.ts";
import { ECOSYSTEMS } from "../ecosystems.ts";
import { libraryError } from "../http/errors.ts";
import { publishCommand, type PublishTarget } from "../http/publish-command.ts";
import { cudaOf, newestOf } from "./versions.ts";

export interface UploadInput extends PublishTarget {
  /** As its publisher writes it. */
  name: string;
  normalized: string;
  /** Normalized. */
  version: string;
  summary: string;
  file: NewFile;
  /** The core metadata of a wheel, as a file of its own. */
  metadataFile: NewFile | undefined;
}

/**
 * Adds a file to a version, which is made with its first one. The same file again changes nothing. Throws 409 for
 * another file of a name that is there, and for a version that was removed. The generations are those of the file and,
 * where there is one, of its metadata.
 */
export const uploadPypi = publishCommand(
  "libraries.uploadPypi",
  "pypi",
  async (call: Call, input: UploadInput): Promise<{ generations: string[] }> => {
    const { group, name, normalized, version, summary, file, metadataFile } = input;
    const artifact = await takeArtifact(call, { group, ecosystem: ECOSYSTEMS.pypi, normalized }, name);
    const known = await fileNamed(call.tx, artifact.uid, file.name);
    if (known !== undefined && known.file.digest !== file.digest) throw isThere(file.name);
    if (known !== undefined) return { generations: await generationsOf(call, [file, metadataFile]) };
    const there = await versionNamed(call.tx, artifact.uid, version);
    if (there?.origin === ORIGIN.upstream)
      throw libraryError(
        409,
        `Already exists: version ${version} of ${name} is here from the upstream, and never changes`,
      );
    const row =
      there ??
      (await addVersion(call, artifact, {
        version,
        sortKey: pypiKey(version),
        description: summary,
        metadata: "{}",
        cuda: cudaOf(version),
      }).catch(conflict(`version ${version} of ${name} was removed, and its number is not used again`)));
    const generations: string[] = [];
    for (const one of [file, metadataFile])
      if (one !== undefined) {
        const { generation } = await addFile(call, artifact, row.uid, one).catch(conflict(sameName(one.name)));
        generations.push(generation);
      }
    await settle(call, artifact, row.uid);
    await noteChange(call, artifact, { what: "published", version, files: [file.name] });
    return { generations };
  },
);

async function generationsOf(call: Call, files: readonly (NewFile | undefined)[]): Promise<string[]> {
  const generations: string[] = [];
  for (const file of files) if (file !== undefined) generations.push((await recordBlob(call, file)).generation);
  return generations;
}

async function settle(call: Call, artifact: Row<"artifacts">, version: string): Promise<void> {
  const newest = newestOf(await versionsOf(call.tx, artifact.uid));
  await settleArtifact(call, artifact, {
    version,
    latestVersion: newest?.version ?? "",
    ...(newest !== undefined && { description: newest.description }),
  });
}

function sameName(file: string): string {
  return `file already exists: another ${file} was published before, and a published file never changes`;
}

function isThere(file: string): MoorageError {
  return libraryError(409, `Already exists: ${sameName(file)}`);
}

function conflict(why: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof MoorageError) || error.code !== Code.AlreadyExists) throw error;
    throw libraryError(409, `Already exists: ${why}`);
  };
}

export const pypiCommands = [uploadPypi] as const;
