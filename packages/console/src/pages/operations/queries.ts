import { listSessions } from "../../api/gen/iam.ts";
import { listStorage } from "../../api/gen/registry.ts";
import { listQuery } from "../../api/queries.ts";

const SESSIONS_PAGE = 100;

const STORAGE_PAGE = 50;

/** What takes up space directly below a group; for an empty one below nothing. */
export function storageQuery(group: string) {
  return listQuery(listStorage, { ...(group !== "" && { uidp: { descendantsOf: group } }), pageSize: STORAGE_PAGE });
}

/** The sessions of an identity; the person's own for an empty one. */
export function sessionsQuery(identity: string, orderBy: string) {
  return listQuery(listSessions, { ...(identity !== "" && { identity }), orderBy, pageSize: SESSIONS_PAGE });
}
