import { type Group, listGroups } from "../api/gen/iam.ts";
import { query } from "../api/queries.ts";

const MAX_GROUPS = 200;

/** The groups that the person may see, the first 200 of them. */
export const groupsQuery = query(listGroups, { pageSize: MAX_GROUPS });

/** `acme/team` of a group's uid; the names that are not known are left out. */
export function groupPath(uid: string, groups: readonly Group[]): string {
  return groups
    .filter((group) => uid === group.uid || uid.startsWith(`${group.uid}/`))
    .toSorted((a, b) => a.uid.length - b.uid.length)
    .map(({ name }) => name)
    .join("/");
}
