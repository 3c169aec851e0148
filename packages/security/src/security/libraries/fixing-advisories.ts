import { EventTypeFilter } from "@moorage/api/messages";
import { ancestorsOf, organizationOf, parentOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { folded, MAX_SEARCHED } from "../advisories/lookups.ts";
import { isAboutPackage, isImageType, packageOf as nameIn, purlType, type Subject } from "../advisories/subject.ts";
import { decisionOf } from "../findings/decisions.ts";
import { marks } from "../marks.ts";
import { isSameVersion } from "../matching/versions.ts";
import { REGISTRY_BY_PURL_TYPE } from "../matching/ecosystems.ts";
import type { LibraryName } from "./held-versions.ts";
import { packageOf } from "./library-vulnerabilities.ts";

/** An advisory whose latest approved event says that versions fix a vulnerability, or have a patch for it. */
export interface FixingAdvisory {
  /** Whose advisory it is: it is about libraries at and below this group. */
  group: string;
  about: Subject;
  versions: string[];
}

type DecisionRow = Row<"advisory_decisions">;

const ROWS = 500;
const FIXING = `d.until_time is null and d.type in (${EventTypeFilter.FIXED}, ${EventTypeFilter.PATCHED})`;

/**
 * Those of the groups at and above this one whose artifact or component has one of the names, in upper or lower case,
 * or a name that ends with one.
 */
export async function fixingAdvisories(
  db: Database,
  group: string,
  names: readonly string[],
): Promise<FixingAdvisory[]> {
  const groups = [...ancestorsOf(group), group];
  const ends = [...new Set(names.map((name) => [...folded(name)].slice(0, MAX_SEARCHED).join("")))];
  const rows = await select<DecisionRow>(
    db,
    `select distinct d.* from advisory_suffixes as s join advisories as a on a.uid = s.advisory
     join advisory_decisions as d on d.advisory = a.uid and ${FIXING}
     where s.organization = ? and s.suffix in (${marks(ends)}) and a.parent in (${marks(groups)})`,
    [organizationOf(group), ...ends, ...groups],
  );
  return rows.map(advisoryOf);
}

/** All of these groups and those below them, some at a time. */
export async function* fixingAdvisoriesBelow(
  db: Database,
  groups: readonly string[],
): AsyncGenerator<FixingAdvisory[]> {
  for (const group of groups)
    for (let after = `${group}/`; ;) {
      const rows = await select<DecisionRow>(
        db,
        // "0" follows "/", by which uids continue those of their ancestors.
        `select d.* from advisory_decisions as d where d.advisory > ? and d.advisory < ? and ${FIXING}
         order by d.advisory limit ${ROWS}`,
        [after, `${group}0`],
      );
      const last = rows.at(-1);
      if (last === undefined) break;
      yield rows.map(advisoryOf);
      after = last.advisory;
    }
}

function advisoryOf(row: DecisionRow): FixingAdvisory {
  const { about, versions } = decisionOf(row, "");
  return { group: parentOf(row.advisory), about, versions };
}

/** Whether the advisory is about the library, and the version one of those that it says are fixed. */
export function isFixedBy({ about, versions }: FixingAdvisory, library: LibraryName, version: string): boolean {
  const held = packageOf(library, version);
  const name = nameIn(about);
  const isNamed = isAboutPackage(
    about,
    NO_IMAGE,
    held.package,
    held.places.map(({ path }) => path),
  );
  return isNamed && name !== undefined && versions.some((each) => isSameVersion(held.package, name, each));
}

const NO_IMAGE = { path: "", architecture: "" };

/** The name that a library has, whose purl is of this type, which the advisory may be about; undefined for none. */
export function libraryIn({ about }: FixingAdvisory, type: string): string | undefined {
  const { artifact_name: name, artifact_type: kind, component_type: componentKind } = about;
  if (name === "" || isImageType(kind)) return undefined;
  const wanted = purlType(kind) ?? purlType(componentKind);
  if (wanted !== undefined && wanted !== type) return undefined;
  return REGISTRY_BY_PURL_TYPE.get(type)?.normalize(name) ?? name;
}
