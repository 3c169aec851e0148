import { type RawBuilder, sql } from "kysely";
import { invalidArgument } from "@moorage/kernel/errors";
import { isWithin } from "@moorage/kernel/lib/uid";
import {
  fixingAdvisories,
  fixingAdvisoriesBelow,
  type FixingAdvisory,
  isFixedBy,
  libraryIn,
} from "@moorage/security/security";
import { type Database, type Row, select, statement } from "@moorage/kernel/store";
import { allEcosystems } from "../ecosystem/lookup.ts";
import { ORIGIN } from "./names.ts";
import { libraryOf } from "./purls.ts";

type Named = Pick<Row<"artifacts">, "uid" | "parent" | "ecosystem" | "name" | "normalized">;

const MAX_FOUND = 10_000;

/** Those of the versions that an advisory of the artifact's group, or of one above, says fix something. */
export async function remediatedVersions(
  db: Database,
  artifact: Named,
  versions: readonly string[],
): Promise<ReadonlySet<string>> {
  const names = [...new Set([artifact.name, artifact.normalized])];
  const advisories = await fixingAdvisories(db, artifact.parent, names);
  const library = libraryOf(artifact);
  return new Set(versions.filter((version) => advisories.some((each) => isFixedBy(each, library, version))));
}

/**
 * The condition on the table `t` of artifacts with a version of which an advisory of these organizations says that it
 * fixes something. Throws INVALID_ARGUMENT when they are more than 10,000.
 */
export async function isRemediated(db: Database, organizations: readonly string[]): Promise<RawBuilder<unknown>> {
  const found = new Set<string>();
  for await (const advisories of fixingAdvisoriesBelow(db, organizations))
    for (const advisory of advisories) {
      for (const { uid } of await fixedBy(db, advisory)) found.add(uid);
      if (found.size > MAX_FOUND)
        throw invalidArgument({ field: "remediated", description: `finds more than ${MAX_FOUND} libraries` });
    }
  return found.size === 0 ? sql`1 = 0` : sql`t.uid in (${sql.join([...found])})`;
}

const selectNamed = statement<Named>(
  "select uid, parent, ecosystem, name, normalized from artifacts where ecosystem = ? and normalized = ? and uid > ? and uid < ? order by uid limit ?",
);

/** The artifacts that the advisory is about and that have one of its versions. */
async function fixedBy(db: Database, advisory: FixingAdvisory): Promise<Named[]> {
  const found: Named[] = [];
  for (const { key, number } of allEcosystems()) {
    const name = libraryIn(advisory, key);
    if (name === undefined) continue;
    const rows = await selectNamed(db, number, name, `${advisory.group}/`, `${advisory.group}0`, MAX_FOUND + 1);
    for (const artifact of rows)
      if (isWithin(artifact.uid, advisory.group) && (await hasVersion(db, artifact, advisory))) found.push(artifact);
  }
  return found;
}

async function hasVersion(db: Database, artifact: Named, advisory: FixingAdvisory): Promise<boolean> {
  const library = libraryOf(artifact);
  // Versions are stored as their publishers write them, and advisories write them so.
  const rows = await select<{ version: string }>(
    db,
    `select version from artifact_versions where parent = ? and origin = ${ORIGIN.published} and version in (${advisory.versions.map(() => "?").join(", ")})`,
    [artifact.uid, ...advisory.versions],
  );
  return rows.some(({ version }) => isFixedBy(advisory, library, version));
}
