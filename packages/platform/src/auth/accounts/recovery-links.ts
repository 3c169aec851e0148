import { Capability } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { RequestHandler } from "@moorage/kernel/core/http";
import { failedPrecondition, invalidArgument, notFound } from "@moorage/kernel/errors";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import { isUid } from "@moorage/kernel/lib/uid";
import { requireAdminFor, requireHoldsAllOf } from "../../iam/index.ts";
import { enqueueMail, mailTime, type MailText, quotable, requireMailable } from "../../mail/index.ts";
import { answerJson, authorizationOf, jsonFieldsOf } from "../http/endpoints.ts";
import type { Authenticator } from "../tokens/authenticate.ts";
import { deleteExcess } from "../expiry.ts";
import { hashOf, newSecret } from "../sign-in/secrets.ts";
import { type AccountDeps, requireOn } from "./deps.ts";
import { requireSession } from "../sign-in/session-endpoints.ts";
import { findAccount } from "./rows.ts";
import { CHANGE_ACCOUNT } from "./write.ts";

const TTL_MS = 86_400_000;
const MAX_PER_IDENTITY = 5;
const PERSON = "moorage.iam.v2.Identity";
/** The console's page on which a recovery link is used. */
const RECOVERY_PAGE = "/sign-in/recover";

/** A recovery link to be stored. @public in the packed package's declarations. */
export interface NewRecoveryLink {
  identity: string;
  hash: string;
  expireTimeMs: number;
  /** Where it is mailed to, and what it is; undefined where whoever makes it passes it on. */
  mail?: { address: string; url: string; baseUrl: string };
}

/**
 * Stores a recovery link for the account of a person, and has it mailed where that is asked for. The caller may change
 * identities where the account belongs to, and holds all that the person holds: whoever takes the link becomes the
 * person. Throws NOT_FOUND for a person without an account and for one that the caller may not see, alike,
 * PERMISSION_DENIED, FAILED_PRECONDITION for another address than the account's, and RESOURCE_EXHAUSTED.
 */
export const makeRecoveryLink = command(
  "auth.makeRecoveryLink",
  async (
    call: Call,
    { identity, hash, expireTimeMs, mail }: NewRecoveryLink,
    { admins, secrets }: { admins: readonly string[]; secrets: Secrets },
  ): Promise<void> => {
    const { tx, nowMs, caller } = call;
    const account = await findAccount(tx, { identity });
    const mayChange = account !== undefined && (await call.may(Capability.CAP_IAM_IDENTITY_UPDATE, account.provider));
    if (account === undefined || !mayChange) throw notFound(PERSON, identity);
    await requireHoldsAllOf(call, identity);
    requireAdminFor(call, admins, identity);
    if (mail !== undefined) {
      if (account.name !== mail.address.toLowerCase()) throw anotherAddress();
      const { organization, identityName } = account;
      await enqueueMail(call, secrets, {
        purpose: "recovery",
        subject: identity,
        organization,
        address: mail.address,
        expireTimeMs,
        text: recoveryMail({ ...mail, name: identityName, expireTimeMs }),
      });
    }
    await deleteExcess(tx, "recovery_links", { identity, most: MAX_PER_IDENTITY, nowMs });
    await tx
      .insertInto("recovery_links")
      .values({ hash, identity, creator: caller.identity, create_time: nowMs, expire_time: expireTimeMs })
      .execute();
    await audit(call, {
      method: CHANGE_ACCOUNT,
      resource: account.provider,
      details: { identity, made: "recoveryLink", ...(mail !== undefined && { mailTo: mail.address }) },
    });
  },
);

function anotherAddress(): Error {
  return failedPrecondition({
    type: "ANOTHER_ADDRESS",
    subject: "mailTo",
    description: "a recovery link is mailed to the e-mail address that is the account's name, and to no other",
  });
}

function recoveryMail({
  name,
  url,
  baseUrl,
  expireTimeMs,
}: {
  name: string;
  url: string;
  baseUrl: string;
  expireTimeMs: number;
}): MailText {
  return {
    subject: "A new passkey or password",
    lines: [
      `An owner of your organization on ${baseUrl} made this address, so that you (${quotable(name)}) can make a new`,
      "passkey or password. The old ones, and all of your sessions, end when you use it:",
      url,
      "",
      `Good until: ${mailTime(expireTimeMs)}, once`,
      "",
      "Pass it on to nobody: whoever opens it gets your account. If you did not ask for it, ask the owners why they made it.",
    ],
  };
}

/** GET /session/mail: whether this server sends mail, for who is signed in in this browser; otherwise 401. */
export function sendsMailEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    await requireSession(deps, request, deps.callData(request, data));
    answerJson(request, response, 200, { sendsMail: deps.config.smtpUrl !== "" });
  };
}

/**
 * POST /session/recovery-links with an access token and `{"identity": "<uid>"}`: a link by which that person makes a
 * new passkey or password, once, within a day. With `"mailTo": "<the account's address>"` it is mailed there, and is
 * not in the answer.
 */
export function recoveryLinksEndpoint(deps: AccountDeps & { authenticate: Authenticator }): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const caller = await deps.authenticate(authorizationOf(request), "platform", call.nowMs);
    data.authenticated?.();
    data.admit?.(caller.identity);
    const fields = await jsonFieldsOf(request);
    const identity = fields.get("identity") ?? "";
    const mailTo = fields.get("mailTo");
    const other = [...fields.keys()].find((name) => name !== "identity" && name !== "mailTo");
    if (other !== undefined) throw invalidArgument({ field: other.slice(0, 100), description: "is not a parameter" });
    if (!isUid(identity)) throw invalidArgument({ field: "identity", description: "must be the uid of a person" });
    requireOn(deps);
    const { baseUrl, smtpUrl } = deps.config;
    if (mailTo !== undefined) requireMailable(smtpUrl !== "", "mailTo", mailTo);
    const secret = newSecret();
    const expireTimeMs = call.nowMs + TTL_MS;
    const urlAt = (origin: string): string => `${origin}${RECOVERY_PAGE}#${secret}`;
    await deps.writer.write(
      makeRecoveryLink,
      { ...call, caller },
      {
        identity,
        hash: hashOf(secret),
        expireTimeMs,
        // Whatever host the request named: a mail leads to this server alone.
        ...(mailTo !== undefined && { mail: { address: mailTo, url: urlAt(baseUrl), baseUrl } }),
      },
    );
    const shown = mailTo === undefined ? { url: urlAt(deps.addresses.platform(request)) } : { mailTo };
    answerJson(request, response, 200, { ...shown, expireTime: new Date(expireTimeMs).toISOString() });
  };
}
