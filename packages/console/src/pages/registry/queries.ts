import { listGroups } from "../../api/gen/iam.ts";
import { listRepos, listStorage, listTags, search } from "../../api/gen/registry.ts";
import { listQuery, query } from "../../api/queries.ts";

const PAGE_SIZE = 100;
/** The server searches for no less. */
export const MIN_LETTERS = 2;
const MAX_GROUPS = 200;
const MAX_FOLDERS = 100;

/** A tag in a list. */
export interface TagRow {
  uid: string;
  name: string;
  digest: string;
  updateTime?: string | undefined;
  deprecated?: boolean | undefined;
  /** When it was last pulled, as far as pulls are counted. */
  lastPullTime?: string | undefined;
}

/** The groups that the person may see, the first 200 of them. */
export const allGroupsQuery = query(listGroups, { pageSize: MAX_GROUPS });

/** What is found by a few letters, in a group or in all that the person may see. */
export function foundQuery(text: string, group?: string) {
  return listQuery(search, {
    query: text,
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
  });
}

/** The view of the list of images that has no folders. */
export const FLAT = "flat";

/** What the list of images shows. */
export interface ImagesSearch {
  group?: string;
  order?: string;
  view?: string;
}

/** The images of a group: its own, or in the flat view those below it too. Without a group there are all. */
export function reposQuery({ group, order = "name", view }: ImagesSearch) {
  return listQuery(listRepos, {
    orderBy: order,
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: view === FLAT ? { descendantsOf: group } : { childrenOf: group } }),
  });
}

// An image and what is attached to it.
const NEWEST = 5;

/** The groups directly below a group, or the organizations, with how much is in each. */
export function foldersQuery(group: string | undefined) {
  return query(listStorage, { pageSize: MAX_FOLDERS, ...(group !== undefined && { uidp: { descendantsOf: group } }) });
}

/** The tags of a repo that moved last: some of them may name signatures. */
export function newestTagsQuery(repoUid: string) {
  return query(listTags, { uidp: { childrenOf: repoUid }, orderBy: "update_time desc", pageSize: NEWEST });
}

/** The groups that the uid of a resource names, from the organization down. */
export function groupsAboveQuery(uid: string) {
  const parts = uid.split("/");
  const ids = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join("/"));
  return query(listGroups, { uidp: { ids }, pageSize: MAX_GROUPS });
}
