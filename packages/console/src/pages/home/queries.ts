import { listGroups } from "../../api/gen/iam.ts";
import { getArtifactCount } from "../../api/gen/libraries.ts";
import { listAttention } from "../../api/gen/operations.ts";
import { listPulls, listStorage, listTags } from "../../api/gen/registry.ts";
import { listFindingDays } from "../../api/gen/vulnerabilities.ts";
import { query } from "../../api/queries.ts";

const MAX_ORGANIZATIONS = 200;
const MAX_GROUPS = 50;
const MAX_TAGS = 40;

/** The organizations that the person may see. */
export const organizationsQuery = query(listGroups, { uidp: { inRoot: true }, pageSize: MAX_ORGANIZATIONS });

/** What the groups directly below an organization take up, or the organizations without one. */
export function storageQuery(group: string | undefined) {
  return query(listStorage, { pageSize: MAX_GROUPS, ...(group !== undefined && { uidp: { descendantsOf: group } }) });
}

/** The tags that moved last, in an organization or in all. */
export function recentTagsQuery(group: string | undefined) {
  return query(listTags, {
    orderBy: "update_time desc",
    pageSize: MAX_TAGS,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
  });
}

/** How many packages there are of each ecosystem. */
export const packageCountsQuery = query(getArtifactCount, {});

/** The open findings of the last days, in an organization or in all. */
export function findingDaysQuery(group: string | undefined) {
  return query(listFindingDays, group === undefined ? {} : { uidp: { descendantsOf: group } });
}

/** The pulls of an organization, or of all, by day since the beginning of one. */
export function pullDaysQuery(group: string | undefined, startTime: string) {
  return query(listPulls, {
    groupBy: ["PULL_GROUPING_DAY"],
    startTime,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
  });
}

/** What needs attention, in an organization or in all. */
export function attentionQuery(group: string | undefined) {
  return query(listAttention, group === undefined ? {} : { uidp: { descendantsOf: group } });
}
