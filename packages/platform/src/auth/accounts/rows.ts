import { isUid } from "@moorage/kernel/lib/uid";
import type { Database, Row } from "@moorage/kernel/store";
import { sql } from "kysely";
import { ACCOUNTS_ISSUER, ASSUMABLE } from "../../iam/index.ts";

/** An account that can be signed in with, and its person's identity. */
export interface Account extends Omit<Row<"accounts">, "networks" | "totp_step"> {
  totpStep: number;
  /** Networks from which the person signed in lately, the last one first. */
  networks: readonly string[];
  /** The organization that the account belongs to. */
  organization: string;
  /** Whether the organization asks for two factors. */
  secondFactor: boolean;
  /** The identity provider of the identity: that of the account, or empty for the owner of the first start. */
  personProvider: string;
  subject: string;
  relationship: string;
  email: string;
  identityName: string;
}

/** The account of the identity, or the one of that name at the provider. Undefined when nobody can sign in with it. */
export async function findAccount(
  db: Database,
  by: { identity: string } | { provider: string; name: string },
): Promise<Account | undefined> {
  const rows = db
    .selectFrom("accounts")
    .innerJoin("identities", "identities.uid", "accounts.identity")
    .innerJoin("identity_providers as own", "own.uid", "accounts.provider")
    .select([
      "accounts.identity",
      "accounts.provider",
      "accounts.name",
      "accounts.handle",
      "accounts.password",
      "accounts.totp",
      "accounts.totp_step",
      "accounts.networks",
      "accounts.create_time",
      "accounts.update_time",
      "own.parent as organization",
      "own.second_factor as second_factor",
      "identities.provider as personProvider",
      "identities.subject as subject",
      "identities.relationship as relationship",
      "identities.email as email",
      "identities.name as identityName",
    ])
    .where("own.issuer", "=", ACCOUNTS_ISSUER)
    .where(sql.raw<boolean>(ASSUMABLE));
  const row = await (
    "identity" in by
      ? rows.where("accounts.identity", "=", by.identity)
      : rows.where("accounts.provider", "=", by.provider).where("accounts.name", "=", by.name)
  ).executeTakeFirst();
  if (row === undefined) return undefined;
  const { totp_step: totpStep, second_factor: secondFactor, networks, ...rest } = row;
  return {
    ...rest,
    totpStep,
    secondFactor: secondFactor === 1,
    // Written by addNetwork.
    networks: JSON.parse(networks) as string[],
  };
}

/** The passkeys of the identity, the oldest first. */
export function passkeysOf(db: Database, identity: string): Promise<Row<"passkeys">[]> {
  return db
    .selectFrom("passkeys")
    .selectAll()
    .where("identity", "=", identity)
    .orderBy("create_time")
    .orderBy("id")
    .execute();
}

const MAX_NAME_CHARS = 254;
const NAME = /^[a-z0-9][a-z0-9 ._+@-]*$/;

/** The name of an account as it is stored and compared; undefined for a text that cannot be one. */
export function accountName(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return name.length <= MAX_NAME_CHARS && NAME.test(name) ? name : undefined;
}

/** What an account's secrets are sealed for. */
export function accountPlace(identity: string): string {
  return `account:${identity}`;
}

/** What the secrets of an account are sealed for that has no identity yet. */
export const NEW_ACCOUNT = accountPlace("new");

/**
 * The organization of which the identity is the first owner or member by a role of its own; undefined for none. The
 * public organization, made together with the first one and named here, only where there is no other.
 */
export async function homeOf(
  db: Database,
  identity: string,
  { publicOrganization }: { publicOrganization: string },
): Promise<string | undefined> {
  if (!isUid(identity)) return undefined;
  const rows = await db
    .selectFrom("role_bindings")
    .innerJoin("groups", "groups.uid", "role_bindings.parent")
    .select(["groups.uid", "groups.name"])
    .where("identity_uid", "=", identity)
    .where("groups.parent", "=", "")
    .orderBy("role_bindings.create_time")
    .orderBy("role_bindings.uid")
    .limit(2)
    .execute();
  return (rows.find(({ name }) => name !== publicOrganization) ?? rows[0])?.uid;
}
