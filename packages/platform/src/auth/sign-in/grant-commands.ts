import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { Code } from "@moorage/kernel/errors";
import { sql } from "kysely";
import { ASSUMABLE } from "../../iam/index.ts";
import { insertRefreshToken } from "../tokens/commands.ts";
import { REFRESH_TTL_MS, storedCaller, type StoredCaller } from "../tokens/refresh.ts";

/** What granted tokens allow and for which identity, and when the refresh token ends, in milliseconds since 1970. */
export interface Granted extends Omit<StoredCaller, "relationship"> {
  identity: string;
  refreshExpireTimeMs: number;
}

/** The audit log's method for the exchange of a code for tokens. */
export const REDEEM = "oauth.token";

export interface RedeemCode {
  hash: string;
  clientId: string;
  redirectUri: string;
  challenge: string;
  refreshHash: string;
  /** The resources that the client names again; each must be one that the code was given for. */
  resources: readonly string[];
}

/** The tokens were not granted: the client named another resource than at the authorization endpoint. */
export const OTHER_RESOURCE = "other resource";

/**
 * Exchanges an authorization code for a refresh token, once. A code that is used again revokes the tokens it gave, and
 * a code with a wrong parameter is used up: it may have been stolen. Undefined when the code is not accepted. Source:
 * RFC 6749 §4.1.2, §10.5, RFC 7636 §4.6, RFC 8707 §2.2.
 */
export const redeemCode = command(
  "auth.redeemCode",
  async (
    call: Call,
    { hash, clientId, redirectUri, challenge, refreshHash, resources }: RedeemCode,
  ): Promise<Granted | typeof OTHER_RESOURCE | undefined> => {
    const row = await call.tx.selectFrom("authorization_codes").selectAll().where("hash", "=", hash).executeTakeFirst();
    if (row === undefined) return undefined;
    if (row.used_time !== null) {
      await revokeFamily(call, row.family);
      await audit(call, {
        method: REDEEM,
        resource: row.identity,
        identity: row.identity,
        decision: "denied",
        code: Code.Unauthenticated,
        reason: "CODE_REUSED",
      });
      return undefined;
    }
    const fits =
      row.client_id === clientId &&
      row.redirect_uri === redirectUri &&
      row.challenge === challenge &&
      row.expire_time > call.nowMs;
    // Used up in either case. The row remains, so that a reuse is noticed.
    await call.tx.updateTable("authorization_codes").set({ used_time: call.nowMs }).where("hash", "=", hash).execute();
    if (!fits) return undefined;
    const { audiences = [] } = JSON.parse(row.caller) as Partial<StoredCaller>;
    if (!resources.every((resource) => audiences.includes(resource))) return OTHER_RESOURCE;
    return grantTokens(call, row, refreshHash);
  },
);

/**
 * Stores the refresh token. Undefined when the identity was deleted, or may no longer be assumed as it was when the
 * person signed in.
 */
export async function grantTokens(
  call: Call,
  row: { identity: string; caller: string; family: string },
  refreshHash: string,
): Promise<Granted | undefined> {
  const { identity, caller, family } = row;
  const found = await call.tx
    .selectFrom("identities")
    .select(["relationship", "provider"])
    .where("uid", "=", identity)
    .where(sql.raw<boolean>(ASSUMABLE))
    .executeTakeFirst();
  const known = found && storedCaller(caller, found.relationship);
  if (known === undefined) return undefined;
  const refreshExpireTimeMs = call.nowMs + REFRESH_TTL_MS;
  await insertRefreshToken(call, { hash: refreshHash, family, identity, caller, expireTimeMs: refreshExpireTimeMs });
  await audit(call, {
    method: REDEEM,
    resource: found?.provider || identity,
    identity,
    act: known.act ?? {},
    ...(known.client !== undefined && { details: { client: known.client } }),
  });
  return { ...known, identity, refreshExpireTimeMs };
}

/** Deletes all refresh tokens that descend from one sign-in or exchange. */
export async function revokeFamily(call: Call, family: string): Promise<void> {
  await call.tx.deleteFrom("refresh_tokens").where("family", "=", family).execute();
}

/**
 * Deletes the refresh token and all that descend from the same sign-in or exchange. An unknown token is treated as
 * already revoked.
 */
export const revokeRefreshToken = command(
  "auth.revokeRefreshToken",
  async (call: Call, { hash }: { hash: string }): Promise<void> => {
    const row = await call.tx
      .selectFrom("refresh_tokens")
      .select(["family", "identity"])
      .where("hash", "=", hash)
      .executeTakeFirst();
    if (row === undefined) return;
    await revokeFamily(call, row.family);
    await audit(call, { method: "oauth.revoke", resource: row.identity, identity: row.identity });
  },
);
