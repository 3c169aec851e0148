import { type Database, type Row, statement } from "../../store/index.ts";
import type { EcosystemRules } from "../ecosystems.ts";

/** A name in a group, in the form in which its ecosystem compares names. */
export interface ArtifactName {
  /** The uid of the group. */
  group: string;
  ecosystem: Pick<EcosystemRules, "number">;
  normalized: string;
}

const selectArtifact = statement<Row<"artifacts">>(
  "select * from artifacts where parent = ? and ecosystem = ? and normalized = ?",
  ["text", "bigint", "text"],
);
const selectRemoved = statement<{ version: string }>(
  "select version from removed_versions where parent = ? and ecosystem = ? and name = ? limit 1",
);

/**
 * The artifact that this name means in this group; undefined when the group has none. Every protocol asks here and
 * nowhere else. Checks no rights.
 */
export async function artifactNamed(
  tx: Database,
  { group, ecosystem, normalized }: ArtifactName,
): Promise<Row<"artifacts"> | undefined> {
  if (normalized.includes("\0")) return undefined;
  return (await selectArtifact(tx, group, ecosystem.number, normalized))[0];
}

/**
 * Whether the name is the group's own: something was published here under it, even if all of that was removed since. Such
 * a name means nothing of an upstream.
 */
export async function isTaken(tx: Database, name: ArtifactName): Promise<boolean> {
  const artifact = await artifactNamed(tx, name);
  if (artifact !== undefined && (await hasPublished(tx, artifact.uid))) return true;
  return (await selectRemoved(tx, name.group, name.ecosystem.number, name.normalized)).length > 0;
}

/** Where a version comes from. */
export const ORIGIN = { published: 1, upstream: 2 } as const;

const selectPublished = statement<{ uid: string }>(
  "select uid from artifact_versions where parent = ? and origin = 1 limit 1",
);

async function hasPublished(tx: Database, artifact: string): Promise<boolean> {
  return (await selectPublished(tx, artifact)).length > 0;
}
