import { Capability } from "@moorage/api/messages";
import { audit } from "../../audit/index.ts";
import type { Call } from "../../core/call.ts";
import { command } from "../../core/command.ts";
import type { RequestHandler } from "../../core/http.ts";
import { invalidArgument, notFound } from "../../errors.ts";
import { requireAdminFor, requireHoldsAllOf } from "../../iam/index.ts";
import { isUid } from "../../lib/uid.ts";
import { answerJson, authorizationOf, jsonFieldsOf } from "../http/endpoints.ts";
import type { Authenticator } from "../tokens/authenticate.ts";
import { deleteExcess } from "../expiry.ts";
import { hashOf, newSecret } from "../sign-in/secrets.ts";
import { type AccountDeps, requireOn } from "./deps.ts";
import { CHANGE_ACCOUNT } from "./write.ts";

const TTL_MS = 86_400_000;
const MAX_PER_IDENTITY = 5;
const PERSON = "moorage.iam.v2.Identity";

/**
 * Stores a recovery link for the account of a person. The caller may change identities where the account belongs to,
 * and holds all that the person holds: whoever takes the link becomes the person. Throws NOT_FOUND for a person without
 * an account and for one that the caller may not see, alike, and PERMISSION_DENIED.
 */
export const makeRecoveryLink = command(
  "auth.makeRecoveryLink",
  async (
    call: Call,
    { identity, hash, expireTimeMs }: { identity: string; hash: string; expireTimeMs: number },
    { admins }: { admins: readonly string[] },
  ): Promise<void> => {
    const { tx, nowMs, caller } = call;
    const account = await tx
      .selectFrom("accounts")
      .select("provider")
      .where("identity", "=", identity)
      .executeTakeFirst();
    const mayChange = account !== undefined && (await call.may(Capability.CAP_IAM_IDENTITY_UPDATE, account.provider));
    if (account === undefined || !mayChange) throw notFound(PERSON, identity);
    await requireHoldsAllOf(call, identity);
    requireAdminFor(call, admins, identity);
    await deleteExcess(tx, "recovery_links", { identity, most: MAX_PER_IDENTITY, nowMs });
    await tx
      .insertInto("recovery_links")
      .values({ hash, identity, creator: caller.identity, create_time: nowMs, expire_time: expireTimeMs })
      .execute();
    await audit(call, {
      method: CHANGE_ACCOUNT,
      resource: account.provider,
      details: { identity, made: "recoveryLink" },
    });
  },
);

/**
 * POST /session/recovery-links with an access token and `{"identity": "<uid>"}`: a link by which that person makes a
 * new passkey or password, once, within a day.
 */
export function recoveryLinksEndpoint(deps: AccountDeps & { authenticate: Authenticator }): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const caller = await deps.authenticate(authorizationOf(request), "platform", call.nowMs);
    data.authenticated?.();
    data.admit?.(caller.identity);
    const fields = await jsonFieldsOf(request);
    const identity = fields.get("identity") ?? "";
    if (fields.size !== 1 || !isUid(identity))
      throw invalidArgument({ field: "identity", description: "must be the uid of a person, and is all there is" });
    requireOn(deps);
    const secret = newSecret();
    const expireTimeMs = call.nowMs + TTL_MS;
    await deps.writer.write(makeRecoveryLink, { ...call, caller }, { identity, hash: hashOf(secret), expireTimeMs });
    const url = `${deps.addresses.platform(request)}/sign-in/recover#${secret}`;
    answerJson(request, response, 200, { url, expireTime: new Date(expireTimeMs).toISOString() });
  };
}
