import { listArtifacts } from "../../api/gen/libraries.ts";
import { listQuery } from "../../api/queries.ts";
import { ALL_ECOSYSTEMS, ECOSYSTEMS } from "./words.ts";

const PAGE_SIZE = 100;

/** What the page of packages shows: an ecosystem by its word, letters of a name, a group. */
export interface PackagesSearch {
  q?: string;
  ecosystem?: string;
  group?: string;
}

/** The packages that the person may see, by name. */
export function packagesQuery({ q, ecosystem, group }: PackagesSearch) {
  const one = ECOSYSTEMS.filter(([, word]) => word === ecosystem).map(([id]) => id);
  return listQuery(listArtifacts, {
    pageSize: PAGE_SIZE,
    ecosystems: one.length > 0 ? one : ALL_ECOSYSTEMS,
    ...(q !== undefined && { query: q }),
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
  });
}
