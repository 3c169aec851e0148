import { sql } from "kysely";
import type { Database, Row } from "../../store/index.ts";
import { ASSUMABLE } from "./assumable.ts";

const COLUMNS = ["uid", "relationship", "last_seen_time", "provider", "subject"] as const;
const MAX_CANDIDATES = 20;

/** The columns of an identity that a token exchange reads. */
export type IdentityRow = Pick<Row<"identities">, (typeof COLUMNS)[number]>;

/** The identity of that uid. Undefined when it does not exist or cannot be assumed. */
export function findIdentity(reader: Database, uid: string): Promise<IdentityRow | undefined> {
  return reader
    .selectFrom("identities")
    .select(COLUMNS)
    .where("uid", "=", uid)
    .where(sql.raw<boolean>(ASSUMABLE))
    .executeTakeFirst();
}

/** The first 20 identities, by uid, whose issuer and subject equal those of the claims. */
export async function identitiesWithSubject(
  reader: Database,
  { iss, sub }: Record<string, unknown>,
): Promise<IdentityRow[]> {
  if (typeof iss !== "string" || typeof sub !== "string" || iss === "" || sub === "") return [];
  return reader
    .selectFrom("identities")
    .select(COLUMNS)
    .where("issuer", "=", iss)
    .where("subject", "=", sub)
    .where(sql.raw<boolean>(ASSUMABLE))
    .orderBy("uid")
    .limit(MAX_CANDIDATES)
    .execute();
}
