import type { Call } from "../../core/call.ts";
import type { Row } from "../../store/index.ts";
import { ecosystemOf, type EcosystemKey } from "../ecosystems.ts";
import { settledArtifact } from "../maven/versions.ts";
import { settledPackage } from "../npm/versions.ts";
import { settledProject } from "../pypi/versions.ts";
import { noteChange } from "./events.ts";
import { versionsOf } from "./visible.ts";
import { removeArtifact, removeVersion, type Settled, settleArtifact } from "./write.ts";

// What changes versions that are there, whether a client of the ecosystem asks for it or the API does.

/** What an artifact comes to be with these versions, the earliest first. */
type Settle = (artifact: Row<"artifacts">, versions: readonly Row<"artifact_versions">[]) => Settled;
const SETTLE: Readonly<Record<EcosystemKey, Settle>> = {
  npm: (artifact, versions) => settledPackage(artifact, versions),
  pypi: (_artifact, versions) => settledProject(versions),
  maven: (_artifact, versions) => settledArtifact(versions),
};

/**
 * Removes versions for ever, and the artifact with its last one. `settle`: what it is without them. Defaults to what
 * its ecosystem has of the versions that stay.
 */
export async function removeVersions(
  call: Call,
  artifact: Row<"artifacts">,
  isRemoved: (version: Row<"artifact_versions">) => boolean,
  settle: Settle = SETTLE[ecosystemOf(artifact.ecosystem).key],
): Promise<void> {
  const versions = await versionsOf(call.tx, artifact.uid);
  const removed = versions.filter(isRemoved);
  const gone = new Set(removed);
  const kept = versions.filter((row) => !gone.has(row));
  for (const { version } of removed) await noteChange(call, artifact, { what: "removed", version });
  if (kept.length === 0) return await removeArtifact(call, artifact);
  for (const row of removed) await removeVersion(call, artifact, row);
  await settleArtifact(call, artifact, settle(artifact, kept));
}

/** What of a version can be changed: each is null where it is not so. */
type Withdrawal = Partial<Pick<Row<"artifact_versions">, "yanked" | "deprecated">>;

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
  const settle = SETTLE[ecosystemOf(artifact.ecosystem).key];
  await settleArtifact(call, artifact, settle(artifact, await versionsOf(call.tx, artifact.uid)));
}
