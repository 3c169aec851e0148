import { type Ecosystem, listArtifacts } from "../../api/gen/libraries.ts";
import { listQuery } from "../../api/queries.ts";
import { ECOSYSTEMS } from "./words.ts";

const PAGE_SIZE = 100;

/** What the page of packages shows: an ecosystem by its word, letters of a name, a group. */
export interface PackagesSearch {
  q?: string;
  ecosystem?: string;
  group?: string;
}

/** The packages that the person may see, by name. */
export function packagesQuery({ q, ecosystem, group }: PackagesSearch) {
  const ecosystems = ECOSYSTEMS.filter(([, word]) => word === ecosystem).map(([id]): Ecosystem => id);
  return listQuery(listArtifacts, {
    pageSize: PAGE_SIZE,
    ...(q !== undefined && { query: q }),
    ...(ecosystems.length > 0 && { ecosystems }),
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
  });
}
