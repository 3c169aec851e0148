import { listPersonalTokens, listRoles } from "../../../api/gen/iam.ts";
import { listQuery, query } from "../../../api/queries.ts";

const PAGE_SIZE = 100;

const MAX_ROLES = 200;

/** The tokens of one person, or of all whose tokens the person sees. */
export function tokensQuery(filter: { identity?: string; group?: string }, order = "createTime desc") {
  return listQuery(listPersonalTokens, { ...filter, orderBy: order, pageSize: PAGE_SIZE });
}

/** The roles of every installation, whose capabilities a token's permissions stand for. */
export const builtInRolesQuery = query(listRoles, { uidp: { inRoot: true }, pageSize: MAX_ROLES });
