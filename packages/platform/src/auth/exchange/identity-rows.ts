import { sql } from "kysely";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, statement } from "@moorage/kernel/store";
import { ASSUMABLE } from "../../iam/index.ts";

const COLUMNS = ["uid", "relationship", "last_seen_time", "provider", "subject"] as const;
// Whoever may create identities may create any number with the issuer and subject of others.
const MAX_CANDIDATES_OF_ONE = 100;
const MAX_CANDIDATES = 1_000;

/** The columns of an identity that a token exchange reads. */
export type IdentityRow = Pick<Row<"identities">, (typeof COLUMNS)[number]>;

const selectIdentity = statement<IdentityRow>(
  `select ${COLUMNS.join(", ")} from identities where uid = ? and ${ASSUMABLE}`,
  ["text"],
);

/** The identity of that uid. Undefined when it does not exist or cannot be assumed. */
export async function findIdentity(reader: Database, uid: string): Promise<IdentityRow | undefined> {
  return (await selectIdentity(reader, uid))[0];
}

/** The organization of an identity; of a person's, the one whose identity provider signed the person in. */
export function organizationOfIdentity({ uid, provider }: Pick<IdentityRow, "uid" | "provider">): string {
  return organizationOf(provider === "" ? uid : provider);
}

/**
 * The uids of the identities whose issuer and subject equal those of the claims: those of the given organizations
 * first, the first 100 of each organization by uid, 1,000 in all. Each is read when it is looked at: all that they
 * accept would be too much for one step.
 */
export async function identitiesWithSubject(
  reader: Database,
  { iss, sub }: Record<string, unknown>,
  organizations: readonly string[],
): Promise<string[]> {
  if (typeof iss !== "string" || typeof sub !== "string" || iss === "" || sub === "") return [];
  // A uid begins with the 40 characters of its organization's.
  const organization = sql<string>`substr(case when provider = '' then uid else provider end, 1, 40)`;
  const asked =
    organizations.length === 0
      ? sql<number>`1`
      : sql<number>`case when organization in (${sql.join(organizations)}) then 0 else 1 end`;
  const rows = await reader
    .selectFrom(
      reader
        .selectFrom("identities")
        .select("uid")
        .select(organization.as("organization"))
        .select(sql<number>`row_number() over (partition by ${organization} order by uid)`.as("place"))
        .where("issuer", "=", iss)
        .where("subject", "=", sub)
        .where(sql.raw<boolean>(ASSUMABLE))
        .as("found"),
    )
    .select("uid")
    .where("place", "<=", MAX_CANDIDATES_OF_ONE)
    .orderBy(asked)
    .orderBy("uid")
    .limit(MAX_CANDIDATES)
    .execute();
  return rows.map(({ uid }) => uid);
}

/** The uids of the organizations with these names, as the first components of image paths have them. */
export async function organizationsNamed(reader: Database, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await reader
    .selectFrom("groups")
    .select("uid")
    .where("parent", "=", "")
    .where("name", "in", names)
    .execute();
  return rows.map(({ uid }) => uid);
}

/** The names of the organizations, by uid. */
export async function organizationNames(reader: Database, uids: readonly string[]): Promise<Map<string, string>> {
  const rows = await reader.selectFrom("groups").select(["uid", "name"]).where("uid", "in", uids).execute();
  return new Map(rows.map(({ uid, name }) => [uid, name]));
}
