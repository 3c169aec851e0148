import type { CallData } from "@moorage/kernel/core/call";
import type { Request } from "@moorage/kernel/core/http";
import {
  failedPrecondition,
  invalidArgument,
  type MoorageError,
  notFound,
  permissionDenied,
} from "@moorage/kernel/errors";
import { parentOf } from "@moorage/kernel/lib/uid";
import { accountsProvider, type InvitePreview, invitePreview, mayMakeAccounts } from "../../iam/index.ts";
import { hashOf, isSecret } from "../sign-in/secrets.ts";
import { requireSession } from "../sign-in/session-endpoints.ts";
import { type AccountDeps, tooMany } from "./deps.ts";
import { type Account, findAccount, homeOf } from "./rows.ts";

type Session = Awaited<ReturnType<typeof requireSession>>;

/**
 * By what somebody makes a password or a passkey: an invite, which makes an account; a recovery link; or the session of
 * an account. `purpose`: binds what is done in several steps to it.
 */
export type Authority =
  | { kind: "invite"; code: string; invite: InvitePreview; mayMake: boolean; secondFactor: boolean; purpose: string }
  | { kind: "recovery"; hash: string; account: Account; purpose: string }
  | { kind: "own"; session: Session; account: Account | undefined; purpose: string };

/** How long after an account was proved in a session what proves it may be changed there. */
const FRESH_MS = 900_000;

/**
 * The authority of the request. Throws NOT_FOUND, with the same words, for an invite or a link that is not good for
 * whatever reason, and RESOURCE_EXHAUSTED after some of those.
 */
export async function authorityOf(
  deps: AccountDeps,
  request: Request,
  { invite, recovery }: { invite: string; recovery: string },
  call: CallData,
): Promise<Authority> {
  if (invite !== "" && recovery !== "")
    throw invalidArgument({ field: "recovery", description: "cannot be given beside invite" });
  if (invite === "" && recovery === "") return ownAuthority(deps, request, call);
  if (!deps.links.mayGuess(call.remoteAddress, call.nowMs)) throw tooMany("wrong links were tried from your network");
  const found = invite !== "" ? await byInvite(deps, invite, call) : await byRecovery(deps, recovery, call);
  if (found !== undefined) return found;
  deps.links.failed(call.remoteAddress, call.nowMs);
  throw notGood(invite === "" ? "recovery link" : "invite");
}

/** The answer to an invite or a link that cannot be used any more, and to one that never was. */
export function notGood(what: "recovery link" | "invite"): MoorageError {
  const error = notFound("", what);
  error.message = `Not found: this ${what} was used already, has expired, was taken back, or is not whole: ask for a new one`;
  return error;
}

async function byInvite({ reader, config }: AccountDeps, code: string, call: CallData): Promise<Authority | undefined> {
  const invite = isSecret(code) ? await invitePreview(reader, code, call.nowMs) : undefined;
  if (invite === undefined) return undefined;
  const mayMake = !invite.isForAddress && (await mayMakeAccounts(reader, config.localAccounts, invite.organization));
  const provider = await accountsProvider(reader, { group: invite.organization });
  const purpose = `invite ${hashOf(code)}`;
  return { kind: "invite", code, invite, mayMake, secondFactor: provider?.secondFactor ?? false, purpose };
}

async function byRecovery(
  { reader, config }: AccountDeps,
  secret: string,
  call: CallData,
): Promise<Authority | undefined> {
  if (!isSecret(secret) || config.localAccounts === "off") return undefined;
  const hash = hashOf(secret);
  const link = await reader.selectFrom("recovery_links").selectAll().where("hash", "=", hash).executeTakeFirst();
  if (link === undefined || link.expire_time <= call.nowMs) return undefined;
  const account = await findAccount(reader, link);
  return account && { kind: "recovery", hash, account, purpose: `recovery ${hash}` };
}

async function ownAuthority(deps: AccountDeps, request: Request, call: CallData): Promise<Authority> {
  const session = await requireSession(deps, request, call);
  const account = await findAccount(deps.reader, session);
  return { kind: "own", session, account, purpose: `own ${session.identity}` };
}

/** Whether the session's identity may have an account that it has not: as the owner of the first start. */
export async function mayHaveAccount({ reader, config }: AccountDeps, session: Session): Promise<boolean> {
  const { identity, provider, relationship } = session;
  if (parentOf(identity) !== "" || provider !== "" || relationship !== "") return false;
  const organization = await homeOf(reader, identity, config);
  return organization !== undefined && (await mayMakeAccounts(reader, config.localAccounts, organization));
}

/**
 * Throws unless what proves the account may be changed in this session: the account was proved in it a short while ago.
 * So a session that is left open, or that somebody made of a token, gives nobody a way in that stays.
 */
export function requireFresh({ accountTimeMs, caller }: Session, nowMs: number): void {
  if (caller.capabilities !== undefined || caller.scopes !== undefined)
    throw permissionDenied("a session with narrowed rights changes no account");
  if (accountTimeMs !== 0 && Math.abs(nowMs - accountTimeMs) <= FRESH_MS) return;
  throw failedPrecondition({
    type: "SIGN_IN_AGAIN",
    subject: "session",
    description: "sign in with your passkey or password again: that was too long ago, or not how this session began",
  });
}
