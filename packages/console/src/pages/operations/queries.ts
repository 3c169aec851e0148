import { listSessions } from "../../api/gen/iam.ts";
import { listStorage, listUsage } from "../../api/gen/registry.ts";
import { listQuery, query } from "../../api/queries.ts";

const SESSIONS_PAGE = 100;

const STORAGE_PAGE = 50;

/** What takes up space directly below a group; for an empty one below nothing. */
export function storageQuery(group: string) {
  return listQuery(listStorage, { ...(group !== "" && { uidp: { descendantsOf: group } }), pageSize: STORAGE_PAGE });
}

/** What a group took up by day, or for an empty one the outermost groups, of the last 30 days. */
export function storageDaysQuery(group: string) {
  const period = "USAGE_PERIOD_DAY" as const;
  // The named group comes first.
  if (group !== "") return query(listUsage, { period, pageSize: 1, uidp: { descendantsOf: group } });
  return query(listUsage, { period, pageSize: STORAGE_PAGE });
}

/** The sessions of an identity; the person's own for an empty one. */
export function sessionsQuery(identity: string, orderBy: string) {
  return listQuery(listSessions, { ...(identity !== "" && { identity }), orderBy, pageSize: SESSIONS_PAGE });
}
