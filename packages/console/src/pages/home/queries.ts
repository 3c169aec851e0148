import { listGroups } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";

const MAX_ORGANIZATIONS = 200;

/** The organizations that the person may see. */
export const organizationsQuery = query(listGroups, { uidp: { inRoot: true }, pageSize: MAX_ORGANIZATIONS });
