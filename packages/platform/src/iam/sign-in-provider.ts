import { isUid } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { ACCOUNTS_ISSUER } from "./assumable.ts";

/** An identity provider, with what signing in through it needs. */
export interface Provider {
  uid: string;
  name: string;
  /** The group it belongs to, where its default role is bound. */
  group: string;
  issuer: string;
  clientId: string;
  /** Sealed for `secretPlace`; empty for a public client. */
  clientSecret: string;
  /** Scopes that are requested in addition to openid. */
  additionalScopes: string[];
  /** The claim that lists a person's groups; empty for none. */
  groupsClaim: string;
  /** CorrelationRule's number. */
  correlationRule: number;
  pkceEnabled: boolean;
  /** A role's uid; empty for none. */
  defaultRole: string;
  /** Whether people come back to `SHARED_CALLBACK`, not to the provider's own callback. */
  sharedCallback: boolean;
}

/** The path to which the browser came back from every provider, before providers had callbacks of their own. */
export const SHARED_CALLBACK = "/oauth/callback";

/**
 * The path to which the browser comes back from that provider alone. An answer of one provider that arrives at the
 * callback of another is thereby recognized. Source: RFC 9700 §4.4.2.
 */
export function ownCallback(uid: string): string {
  return `${SHARED_CALLBACK}/${uid}`;
}

/** The purpose for which a provider's client secret is sealed. */
export function secretPlace(provider: string): string {
  return `identity_provider:${provider}`;
}

const MAX_NESTED = 8;
const MAX_LISTED = 100;

/**
 * The identity providers of the group with this path, such as `acme` or `acme/team`, by name; at most 100. None when
 * there is no such group. `isAccounts`: whether it is the accounts that the installation keeps.
 */
export async function providersIn(
  db: Database,
  path: string,
): Promise<(Pick<Provider, "uid" | "name"> & { isAccounts: boolean })[]> {
  const names = path.split("/");
  if (names.length > MAX_NESTED) return [];
  let parent = "";
  for (const name of names) {
    const group = await db
      .selectFrom("groups")
      .select("uid")
      .where("parent", "=", parent)
      .where("name", "=", name)
      .executeTakeFirst();
    if (group === undefined) return [];
    parent = group.uid;
  }
  const rows = await db
    .selectFrom("identity_providers")
    .select(["uid", "name", "issuer"])
    .where("parent", "=", parent)
    .orderBy("name")
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ uid, name, issuer }) => ({ uid, name, isAccounts: issuer === ACCOUNTS_ISSUER }));
}

/** Whether it is the only OpenID provider of the installation. */
export async function isOnlyProvider(db: Database, uid: string): Promise<boolean> {
  const other = await db
    .selectFrom("identity_providers")
    .select("uid")
    .where("uid", "!=", uid)
    .where("issuer", "!=", ACCOUNTS_ISSUER)
    .limit(1)
    .executeTakeFirst();
  return other === undefined;
}

/** The provider. Undefined when no provider has the uid. */
export async function providerOf(db: Database, uid: string): Promise<Provider | undefined> {
  if (!isUid(uid)) return undefined;
  const row = await db.selectFrom("identity_providers").selectAll().where("uid", "=", uid).executeTakeFirst();
  return (
    row && {
      uid: row.uid,
      name: row.name,
      group: row.parent,
      issuer: row.issuer,
      clientId: row.client_id,
      clientSecret: row.client_secret,
      additionalScopes: JSON.parse(row.additional_scopes) as string[],
      groupsClaim: row.groups_claim,
      correlationRule: row.correlation_rule,
      pkceEnabled: row.pkce_enabled === 1,
      defaultRole: row.default_role,
      sharedCallback: row.shared_callback === 1,
    }
  );
}
