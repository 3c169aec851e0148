import type { Call } from "../../core/call.ts";
import { command } from "../../core/command.ts";
import { Code, MoorageError } from "../../errors.ts";
import { semverKey } from "../../lib/versions/index.ts";
import type { Row } from "../../store/index.ts";
import { ECOSYSTEMS, REMOVE } from "../ecosystems.ts";
import { noteChange } from "../artifacts/events.ts";
import { removeVersions, withdraw } from "../artifacts/changes.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { versionNamed, versionsOf } from "../artifacts/visible.ts";
import { addFile, addVersion, type NewFile, settleArtifact, takeArtifact } from "../artifacts/write.ts";
import { libraryError } from "../http/errors.ts";
import { requireOn } from "../http/groups.ts";
import { publishCommand, type PublishTarget } from "../http/publish-command.ts";
import { settledPackage } from "./versions.ts";
import { stateOf } from "./manifest.ts";
import { revOf } from "./render.ts";

/** A package of a group. */
export interface Target extends PublishTarget {
  name: string;
}

export interface PublishInput extends Target {
  version: string;
  description: string;
  metadata: string;
  readme: string;
  deprecated: string | null;
  tags: Record<string, string>;
  file: NewFile;
}

/**
 * Publishes a version. Its tags come to point to it, `latest` also where the package has no version yet. Throws 403, as
 * npm's registry does, for a version that is there or was.
 */
export const publishNpm = publishCommand(
  "libraries.publishNpm",
  "npm",
  async (call: Call, input: PublishInput): Promise<{ generations: string[] }> => {
    const { name, group, version, description, metadata, readme, deprecated, file } = input;
    const artifact = await takeArtifact(call, { group, ecosystem: ECOSYSTEMS.npm, normalized: name }, name);
    const row = await addVersion(call, artifact, {
      version,
      sortKey: semverKey(version),
      description,
      metadata,
      deprecated,
    }).catch(notAgain(version));
    const { generation } = await addFile(call, artifact, row.uid, file).catch(notAgain(version));
    const state = stateOf(artifact.state);
    const tags = { ...state.tags };
    for (const [tag, target] of Object.entries(input.tags)) if (target === version) tags[tag] = version;
    tags["latest"] ??= version;
    const isLatest = tags["latest"] === version;
    await settleArtifact(call, artifact, {
      version: row.uid,
      latestVersion: tags["latest"],
      ...(isLatest && { description }),
      state: JSON.stringify({ ...state, tags, ...(isLatest && { readme }) }),
    });
    await noteChange(call, artifact, { what: "published", version, files: [file.name] });
    return { generations: [generation] };
  },
);

function notAgain(version: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof MoorageError) || error.code !== Code.AlreadyExists) throw error;
    throw libraryError(403, `You cannot publish over the previously published versions: ${version}.`);
  };
}

/** Changes which versions are deprecated: `texts` has the reason by version, empty to end it. */
export const deprecateNpm = publishCommand(
  "libraries.deprecateNpm",
  "npm",
  async (call: Call, input: Target & { texts: Record<string, string> }): Promise<void> => {
    const artifact = await existing(call, input);
    let changed = 0;
    for (const row of await versionsOf(call.tx, artifact.uid)) {
      const text = input.texts[row.version];
      if (text === undefined || (row.deprecated ?? "") === text) continue;
      changed += 1;
      await withdraw(call, artifact, row, { deprecated: text === "" ? null : text });
    }
    if (changed > 0) await settleArtifact(call, artifact);
  },
);

/** Has a tag point to a version, or removes it with an empty one. `latest` is never removed. */
export const tagNpm = publishCommand(
  "libraries.tagNpm",
  "npm",
  async (call: Call, input: Target & { tag: string; version: string }): Promise<void> => {
    const { tag, version } = input;
    const artifact = await existing(call, input);
    if (version === "" && tag === "latest") throw libraryError(400, "Invalid argument: tag: latest is not removed");
    const row = version === "" ? undefined : await versionNamed(call.tx, artifact.uid, version);
    if (version !== "" && row === undefined)
      throw libraryError(400, `Invalid argument: version: there is no version ${version} of ${input.name}`);
    const state = stateOf(artifact.state);
    if ((state.tags[tag] ?? "") === version) return;
    const { [tag]: _, ...others } = state.tags;
    const tags = version === "" ? others : { ...state.tags, [tag]: version };
    await settleArtifact(call, artifact, {
      state: JSON.stringify({ ...state, tags }),
      latestVersion: tags["latest"] ?? "",
      ...(tag === "latest" && row !== undefined && { description: row.description }),
    });
    await noteChange(call, artifact, { what: "changed", version, change: `tag ${tag}` });
  },
);

/**
 * Removes versions, or with none named the whole package. `rev`: the revision that the client has read. Throws 409 when
 * the package has changed since.
 */
export const unpublishNpm = command(
  "libraries.unpublishNpm",
  async (
    call: Call,
    input: Target & { rev: string; keep: string[] | undefined; tags: Record<string, string> },
  ): Promise<void> => {
    await requireOn(call, input.group, input.path, REMOVE);
    const artifact = await existing(call, input);
    if (input.rev !== revOf(artifact))
      throw libraryError(409, `Aborted: ${input.name} has changed since it was read: try again`);
    const keep = new Set(input.keep);
    await removeVersions(
      call,
      artifact,
      ({ version }) => !keep.has(version),
      (_artifact, kept) => settledPackage(artifact, kept, input.tags),
    );
  },
);

async function existing(call: Call, { group, name }: Target): Promise<Row<"artifacts">> {
  const found = await artifactNamed(call.tx, { group, ecosystem: ECOSYSTEMS.npm, normalized: name });
  if (found === undefined) throw libraryError(404, `Not found: ${name}`);
  return found;
}

export const npmCommands = [publishNpm, deprecateNpm, tagNpm, unpublishNpm] as const;
