import type { Call } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { mavenKey } from "../../lib/versions/index.ts";
import { recordBlob } from "../../oci/index.ts";
import { noteChange } from "../artifacts/events.ts";
import { ORIGIN } from "../artifacts/names.ts";
import { fileNamed, versionNamed, versionsOf } from "../artifacts/visible.ts";
import { addFile, addVersion, type NewFile, settleArtifact, takeArtifact } from "../artifacts/write.ts";
import { ECOSYSTEMS } from "../ecosystems.ts";
import { libraryError } from "../http/errors.ts";
import { publishCommand, type PublishTarget } from "../http/publish-command.ts";
import { isSnapshot } from "./paths.ts";
import type { MavenState } from "./plugins.ts";

export interface DeployInput extends PublishTarget {
  /** `org.example:app`. */
  name: string;
  version: string;
  /** Its name is `<version>/<file>`. */
  file: NewFile;
  /** From a POM; undefined for any other file. */
  description: string | undefined;
  /** What the file says of a plugin of Maven: its POM that it is one, its jar the prefix. */
  plugin: MavenState;
}

/**
 * Adds a file to a version, which is made with its first one. The same file again changes nothing. Throws 409 for
 * another file of a name that is there, and for a version that was removed.
 */
export const deployMaven = publishCommand(
  "libraries.deployMaven",
  "maven",
  async (call: Call, input: DeployInput): Promise<{ generations: string[] }> => {
    const { group, name, version, file, description, plugin } = input;
    const artifact = await takeArtifact(call, { group, ecosystem: ECOSYSTEMS.maven, normalized: name }, name);
    const known = await fileNamed(call.tx, artifact.uid, file.name);
    if (known !== undefined && known.file.digest !== file.digest)
      throw libraryError(409, `Already exists: ${file.name} of ${name}: a published file never changes`);
    if (known !== undefined) return { generations: [(await recordBlob(call, file)).generation] };
    const there = await versionNamed(call.tx, artifact.uid, version);
    if (there?.origin === ORIGIN.upstream)
      throw libraryError(409, `Already exists: ${version} of ${name} came from the upstream: a version never changes`);
    const row =
      there ??
      (await addVersion(call, artifact, {
        version,
        sortKey: mavenKey(version),
        description: description ?? "",
        metadata: "{}",
      }).catch(conflict(`version ${version} of ${name} was removed, and its number is not used again`)));
    const { generation } = await addFile(call, artifact, row.uid, file).catch(
      conflict(`${file.name} of ${name}: a published file never changes`),
    );
    if (description !== undefined)
      await call.tx.updateTable("artifact_versions").set({ description }).where("uid", "=", row.uid).execute();
    const latest = latestOf((await versionsOf(call.tx, artifact.uid)).map((one) => one.version));
    await settleArtifact(call, artifact, {
      version: row.uid,
      latestVersion: latest,
      state: JSON.stringify({ ...(JSON.parse(artifact.state) as MavenState), ...plugin }),
      ...(latest === version && description !== undefined && { description }),
    });
    await noteChange(call, artifact, { what: "published", version, files: [file.name] });
    return { generations: [generation] };
  },
);

/** The newest release, or where there is none the newest snapshot. `versions`: the earliest first. */
export function latestOf(versions: readonly string[]): string {
  return versions.findLast((version) => !isSnapshot(version)) ?? versions.at(-1) ?? "";
}

function conflict(why: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof MoorageError) || error.code !== Code.AlreadyExists) throw error;
    throw libraryError(409, `Already exists: ${why}`);
  };
}

export const mavenCommands = [deployMaven] as const;
