import { type Database, type Row, statement } from "@moorage/kernel/store";
import type { Ecosystem } from "../ecosystem/ecosystem.ts";

/** A name in a group, in the form in which its ecosystem compares names. */
export interface ArtifactName {
  /** The uid of the group. */
  group: string;
  ecosystem: Pick<Ecosystem, "number">;
  normalized: string;
}

const selectArtifact = statement<Row<"artifacts">>(
  "select * from artifacts where parent = ? and ecosystem = ? and normalized = ?",
  ["text", "bigint", "text"],
);
const selectTaken = statement<{ found: number }>(
  `select 1 as found where exists (select 1 from artifacts as a where a.parent = ? and a.ecosystem = ? and lower(a.normalized) = lower(?)
     and exists (select 1 from artifact_versions as v where v.parent = a.uid and v.origin = 1))
   or exists (select 1 from removed_versions as r where r.parent = ? and r.ecosystem = ? and lower(r.name) = lower(?))`,
  ["text", "bigint", "text", "text", "bigint", "text"],
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
 * Whether the name is the group's own: something was published here under it, even if all of that was removed since.
 * Such a name means nothing of an upstream, and neither does one that differs from it in upper case alone, also where
 * that is another name: who mistypes it must not get somebody else's artifact.
 */
export async function isTaken(
  tx: Database,
  { group, ecosystem: { number }, normalized }: ArtifactName,
): Promise<boolean> {
  if (normalized.includes("\0")) return false;
  return (await selectTaken(tx, group, number, normalized, group, number, normalized)).length > 0;
}

export { ORIGIN } from "../ecosystem/origin.ts";
