import { IdentityProviderSchema } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import type { Database } from "@moorage/kernel/store";
import { ACCOUNTS_ISSUER } from "./assumable.ts";
import { identityProviders } from "./identity-providers.ts";

/** When people may have accounts that the installation keeps; see the setting MOORAGE_LOCAL_ACCOUNTS. */
export type LocalAccounts = "auto" | "on" | "off";

/** The accounts of an organization, which are an identity provider of it. */
export interface AccountsProvider {
  uid: string;
  /** The organization. */
  group: string;
  /** Whether a password alone does not suffice. */
  secondFactor: boolean;
}

/** The accounts with this uid, or those of the organization `group`. Undefined when there are none. */
export async function accountsProvider(
  db: Database,
  by: { uid: string } | { group: string },
): Promise<AccountsProvider | undefined> {
  const row = await db
    .selectFrom("identity_providers")
    .select(["uid", "parent", "second_factor"])
    .where("issuer", "=", ACCOUNTS_ISSUER)
    .where("uid" in by ? "uid" : "parent", "=", "uid" in by ? by.uid : by.group)
    // Of several, which an import may bring, always the same.
    .orderBy("create_time")
    .orderBy("uid")
    .limit(1)
    .executeTakeFirst();
  return row && { uid: row.uid, group: row.parent, secondFactor: row.second_factor === 1 };
}

/** The accounts of the installation's organizations, where it is one organization that has some. */
export async function onlyAccountsProvider(db: Database): Promise<AccountsProvider | undefined> {
  const [row, other] = await db
    .selectFrom("identity_providers")
    .select(["uid", "parent", "second_factor"])
    .where("issuer", "=", ACCOUNTS_ISSUER)
    .limit(2)
    .execute();
  return row === undefined || other !== undefined
    ? undefined
    : { uid: row.uid, group: row.parent, secondFactor: row.second_factor === 1 };
}

/** The uid of the accounts of some organization; undefined where none has any. */
export async function someAccountsProvider(db: Database): Promise<string | undefined> {
  const row = await db
    .selectFrom("identity_providers")
    .select("uid")
    .where("issuer", "=", ACCOUNTS_ISSUER)
    .limit(1)
    .executeTakeFirst();
  return row?.uid;
}

/** Whether an account may be made in the organization. */
export async function mayMakeAccounts(db: Database, setting: LocalAccounts, organization: string): Promise<boolean> {
  if (setting !== "auto") return setting === "on";
  if ((await accountsProvider(db, { group: organization })) !== undefined) return true;
  const other = await db
    .selectFrom("identity_providers")
    .select("uid")
    .where("issuer", "!=", ACCOUNTS_ISSUER)
    .limit(1)
    .executeTakeFirst();
  return other === undefined;
}

const NAME = "accounts";

/** The accounts of the organization, made where there are none: the first account of an organization makes them. */
export async function ensureAccountsProvider(call: Call, organization: string): Promise<AccountsProvider> {
  const known = await accountsProvider(call.tx, { group: organization });
  if (known !== undefined) return known;
  const taken = await call.tx
    .selectFrom("identity_providers")
    .select("name")
    .where("parent", "=", organization)
    .where("name", "like", `${NAME}%`)
    .execute();
  const isTaken = (name: string): boolean => taken.some((row) => row.name === name);
  let name = NAME;
  for (let n = 2; isTaken(name); n += 1) name = `${NAME} ${n}`;
  const row = await identityProviders.insert(call, organization, {
    name,
    description: "people whose passkeys and passwords this installation keeps",
    default_role: "",
    issuer: ACCOUNTS_ISSUER,
    client_id: "",
    client_secret: "",
    additional_scopes: "[]",
    groups_claim: "",
    correlation_rule: 0,
    pkce_enabled: 0,
    shared_callback: 0,
    second_factor: 0,
    create_time: call.nowMs,
    update_time: call.nowMs,
  });
  call.emit(IdentityProviderSchema, {
    type: "api.iam.identity_providers.created.v1",
    subject: row.uid,
    group: organization,
    body: identityProviders.toMessage(row),
    isSystem: true,
  });
  await audit(call, { method: "iam.makeAccounts", resource: row.uid, isSystem: true });
  return { uid: row.uid, group: organization, secondFactor: false };
}
