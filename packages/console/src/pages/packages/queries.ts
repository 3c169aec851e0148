import {
  type Ecosystem,
  getArtifact,
  getArtifactReadme,
  listArtifactImages,
  listArtifactPolicies,
  listArtifacts,
  listArtifactVersions,
  listBlocks,
  listDownloads,
  listLibraryFindings,
  listUpstreams,
} from "../../api/gen/libraries.ts";
import { listQuery, query } from "../../api/queries.ts";
import { ALL_ECOSYSTEMS, ECOSYSTEMS } from "./words.ts";

const PAGE_SIZE = 100;
const MAX_RULES = 200;

/** What the pages of packages show: an ecosystem by its word, letters of a name, a group, an order. */
export interface PackagesSearch {
  q?: string;
  ecosystem?: string;
  group?: string;
  order?: string;
}

/** The ecosystem that people call by the word; undefined for none. */
function ecosystemOf(word: string | undefined): Ecosystem | undefined {
  return ECOSYSTEMS.find(([, each]) => each === word)?.[0];
}

/** The packages that the person may see, by name. */
export function packagesQuery({ q, ecosystem, group }: PackagesSearch) {
  const one = ecosystemOf(ecosystem);
  return listQuery(listArtifacts, {
    pageSize: PAGE_SIZE,
    ecosystems: one === undefined ? ALL_ECOSYSTEMS : [one],
    ...(q !== undefined && { query: q }),
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
  });
}

/** A package. */
export const packageQuery = (uid: string) => query(getArtifact, { uid });

/** The readme of a package, where one is kept. */
export const readmeQuery = (uid: string) => query(getArtifactReadme, { uid });

/** The versions of a package, the newest first. */
export const versionsQuery = (artifactId: string) =>
  listQuery(listArtifactVersions, { artifactId, pageSize: PAGE_SIZE });

/** The downloads of the last 30 days of packages or, with `artifactId`, of its versions. */
export const downloadsQuery = (uids: readonly string[], artifactId: string) =>
  query(listDownloads, { uids: [...uids], pageSize: PAGE_SIZE, ...(artifactId !== "" && { artifactId }) });

/** The tags of images that contain a package. */
export const usesQuery = (artifactId: string) => listQuery(listArtifactImages, { artifactId, pageSize: PAGE_SIZE });

/** What is wrong with a package's versions, and whether that is known at all. */
export const packageFindingsQuery = (artifact: string) =>
  listQuery(listLibraryFindings, { artifact, pageSize: PAGE_SIZE });

function paged({ group, ecosystem, order }: PackagesSearch) {
  const one = ecosystemOf(ecosystem);
  return {
    pageSize: PAGE_SIZE,
    ...(one !== undefined && { ecosystem: one }),
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(order !== undefined && { orderBy: order }),
  };
}

/** The registries that groups fetch packages from. */
export const upstreamsList = (search: PackagesSearch) => listQuery(listUpstreams, paged(search));
/** The policies of groups. */
export const policiesList = (search: PackagesSearch) => listQuery(listArtifactPolicies, paged(search));
/** What policies have blocked, or would have. */
export const blocksList = ({ q, ...search }: PackagesSearch) =>
  listQuery(listBlocks, { ...paged(search), ...(q !== undefined && { name: q }) });

/** All policies of an ecosystem that the person sees: the nearest one above a package counts. */
export const policiesOf = (ecosystem: Ecosystem) => query(listArtifactPolicies, { ecosystem, pageSize: MAX_RULES });
/** All upstreams of an ecosystem that the person sees. */
export const upstreamsOf = (ecosystem: Ecosystem) => query(listUpstreams, { ecosystem, pageSize: MAX_RULES });
/** What was blocked of a package. */
export const blocksOf = (ecosystem: Ecosystem, name: string) =>
  query(listBlocks, { ecosystem, name, pageSize: MAX_RULES });
