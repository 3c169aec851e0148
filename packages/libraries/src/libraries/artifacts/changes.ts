import type { Call } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";
import type { ArtifactChange, Withdrawal } from "../ecosystem/plan.ts";
import { ecosystemOf } from "../ecosystem/lookup.ts";
import { noteChange } from "./events.ts";
import { versionsOf } from "./visible.ts";
import { removeArtifact, removeVersion, settleArtifact } from "./write.ts";

// What changes versions that are there, whether a client of the ecosystem asks for it or the API does.

/**
 * Removes versions for ever, and the artifact with its last one. `settle`: what it is without them. Defaults to what
 * its ecosystem has of the versions that stay.
 */
export async function removeVersions(
  call: Call,
  artifact: Row<"artifacts">,
  isRemoved: (version: Row<"artifact_versions">) => boolean,
  settle?: (kept: readonly Row<"artifact_versions">[]) => ArtifactChange,
): Promise<void> {
  const versions = await versionsOf(call.tx, artifact.uid);
  const removed = versions.filter(isRemoved);
  const gone = new Set(removed);
  const kept = versions.filter((row) => !gone.has(row));
  for (const { version } of removed) await noteChange(call, artifact, { what: "removed", version });
  if (kept.length === 0) return await removeArtifact(call, artifact);
  for (const row of removed) await removeVersion(call, artifact, row);
  await settleArtifact(call, artifact, settle?.(kept) ?? (await changeWith(artifact, kept)));
}

/** What the artifact is with these versions, the earliest first. */
async function changeWith(
  artifact: Row<"artifacts">,
  versions: readonly Row<"artifact_versions">[],
): Promise<ArtifactChange> {
  return await ecosystemOf(artifact.ecosystem).versions.settle(artifact, () => Promise.resolve(versions));
}

/** Yanks or deprecates a version, or takes that back. The artifact has to be settled afterwards. */
export async function withdraw(
  call: Call,
  artifact: Row<"artifacts">,
  { uid, version }: Pick<Row<"artifact_versions">, "uid" | "version">,
  changes: Withdrawal,
): Promise<void> {
  await call.tx
    .updateTable("artifact_versions")
    .set({ ...changes, update_time: call.nowMs })
    .where("uid", "=", uid)
    .execute();
  for (const change of Object.keys(changes)) await noteChange(call, artifact, { what: "changed", version, change });
}

/** Settles the artifact after its versions were withdrawn or are back. */
export async function settleWithdrawn(call: Call, artifact: Row<"artifacts">): Promise<void> {
  await settleArtifact(call, artifact, await changeWith(artifact, await versionsOf(call.tx, artifact.uid)));
}
