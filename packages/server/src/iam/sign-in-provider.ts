import { isUid } from "../lib/uid.ts";
import type { Database } from "../store/index.ts";

/** An identity provider as those need it who let people in through it. */
export interface Provider {
  uid: string;
  name: string;
  /** The group it belongs to, where its default role is bound. */
  group: string;
  issuer: string;
  clientId: string;
  /** Sealed for `secretPlace`, or empty for a public client. */
  clientSecret: string;
  /** Asked for beside openid. */
  additionalScopes: string[];
  /** The claim that lists a person's groups; empty: none. */
  groupsClaim: string;
  /** CorrelationRule's number. */
  correlationRule: number;
  pkceEnabled: boolean;
  /** A role's uid, or empty. */
  defaultRole: string;
}

/** Where a provider's client secret is sealed for. */
export function secretPlace(provider: string): string {
  return `identity_provider:${provider}`;
}

/** The provider; undefined for a uid that is none. */
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
    }
  );
}
