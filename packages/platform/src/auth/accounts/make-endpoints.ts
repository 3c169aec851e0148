import type { CallData } from "@moorage/kernel/core/call";
import type { Request, RequestHandler, Response } from "@moorage/kernel/core/http";
import { invalidArgument } from "@moorage/kernel/errors";
import { accountsProvider } from "../../iam/index.ts";
import { answerJson } from "../http/endpoints.ts";
import { hashOf } from "../sign-in/secrets.ts";
import { browserOf } from "../sign-in/browser-endpoints.ts";
import { type Authority, authorityOf, mayHaveAccount, notGood, requireFresh } from "./authority.ts";
import { makeChallenge, takeChallenge } from "./challenges.ts";
import { type AccountDeps, beginning, fieldsOf, requireOn } from "./deps.ts";
import { changeProof, makeAccount, makeOwnAccount, recoverAccount } from "./make-commands.ts";
import { passwordFault } from "./password-rules.ts";
import { noAccounts } from "./refusals.ts";
import { accountName, accountPlace, homeOf, NEW_ACCOUNT, passkeysOf } from "./rows.ts";
import { confirmSetUp, offerSetUp } from "./second-factor.ts";
import { creationOptions, readCreated, relyingParty, verifyCreated } from "./webauthn.ts";
import type { NewProof } from "./write.ts";

const BY = ["invite", "recovery", "name"] as const;
const MAX_LABEL_CHARS = 64;

/** POST /session/account/offer: what an invite or a recovery link is for, before it is used. */
export function offerEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const by = await fieldsOf(deps, request, ["invite", "recovery"]);
    if (by.invite === "" && by.recovery === "") throw invalidArgument({ field: "invite", description: "is required" });
    const authority = await authorityOf(deps, request, by, call);
    answerJson(request, response, 200, await shownOffer(deps, authority));
  };
}

async function shownOffer(deps: AccountDeps, authority: Authority): Promise<object> {
  if (authority.kind === "invite") {
    const { invite, mayMake, secondFactor } = authority;
    const { path, role, roleDescription, expireTimeMs, isForAddress } = invite;
    const expireTime = new Date(expireTimeMs).toISOString();
    return { group: path, role, roleDescription, expireTime, isForAddress, mayMake, secondFactor };
  }
  if (authority.kind === "own") throw new Error("a session is no offer");
  const { name, organization, secondFactor } = authority.account;
  return { name, group: await organizationName(deps, organization), secondFactor };
}

async function organizationName({ reader }: AccountDeps, uid: string): Promise<string> {
  const row = await reader.selectFrom("groups").select("name").where("uid", "=", uid).executeTakeFirst();
  return row?.name ?? "";
}

/**
 * POST /session/account/password: makes an account with a password, or gives the account a new one. Answers the set-up
 * of an authenticator app first where the organization asks for one; then who is signed in.
 */
export function newPasswordEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const fields = await fieldsOf(deps, request, [...BY, "password", "setUp", "code"]);
    requireOn(deps);
    const authority = await authorityOf(deps, request, fields, call);
    const name = await requireMayMake(deps, authority, fields.name, call);
    const organization = authority.kind === "invite" ? authority.invite.path : "";
    const own = [name, ...organization.split("/"), ...new URL(deps.addresses.platform(request)).hostname.split(".")];
    const fault = await passwordFault(fields.password, [...own, "moorage"]);
    if (fault !== undefined) throw invalidArgument({ field: "password", description: fault });
    const needsApp = await needsSetUp(deps, authority);
    if (needsApp && fields.setUp === "")
      return answerJson(request, response, 200, {
        next: "setUp",
        ...offerSetUp(deps, authority.purpose, name, call.nowMs),
      });
    const app = needsApp ? confirmSetUp(deps, authority.purpose, fields, call.nowMs) : undefined;
    if (needsApp && app === undefined)
      throw invalidArgument({ field: "code", description: "is not the one that the app shows now" });
    const place = placeOf(authority);
    await make(deps, request, response, call, authority, name, {
      kind: "password",
      hash: await deps.passwords.hash(fields.password, call.remoteAddress),
      ...(app && { totp: { secret: deps.secrets.seal(app.secret, place), step: app.step } }),
    });
  };
}

function placeOf(authority: Authority): string {
  if (authority.kind === "invite") return NEW_ACCOUNT;
  return accountPlace(authority.kind === "own" ? authority.session.identity : authority.account.identity);
}

async function needsSetUp({ reader, config }: AccountDeps, authority: Authority): Promise<boolean> {
  switch (authority.kind) {
    case "invite":
      return authority.secondFactor;
    case "recovery":
      return authority.account.secondFactor;
    case "own": {
      if (authority.account !== undefined) return authority.account.secondFactor && authority.account.totp === "";
      const organization = await homeOf(reader, authority.session.identity, config);
      const provider = organization === undefined ? undefined : await accountsProvider(reader, { group: organization });
      return provider?.secondFactor ?? false;
    }
  }
}

/** POST /session/account/passkey/options: what the browser makes a passkey by. */
export function newPasskeyOptionsEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const fields = await fieldsOf(deps, request, BY);
    requireOn(deps);
    const party = relyingParty(deps.addresses.platform(request));
    const authority = await authorityOf(deps, request, fields, call);
    const name = await requireMayMake(deps, authority, fields.name, call);
    const challenge = await makeChallenge(deps, browserOf(deps, request, response), authority.purpose, call);
    // A recovery replaces all that there are.
    const has = authority.kind === "own" ? await passkeysOf(deps.reader, authority.session.identity) : [];
    const handle = handleFor(authority, name);
    answerJson(request, response, 200, creationOptions(party, challenge, { handle, name, has }));
  };
}

/** POST /session/account/passkey: makes an account with a passkey, or gives the account another one. */
export function newPasskeyEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const fields = await fieldsOf(deps, request, [...BY, "label", "credential"]);
    requireOn(deps);
    const party = relyingParty(deps.addresses.platform(request));
    const authority = await authorityOf(deps, request, fields, call);
    const name = await requireMayMake(deps, authority, fields.name, call);
    const sent = readCreated(fields.credential);
    const isOwn = await takeChallenge(deps, sent.challenge, deps.browserCookie.read(request), authority.purpose, call);
    const passkey = isOwn ? await verifyCreated(sent, party) : undefined;
    if (passkey === undefined)
      throw invalidArgument({ field: "credential", description: "is not accepted: begin again, in this browser" });
    await make(deps, request, response, call, authority, name, {
      kind: "passkey",
      passkey,
      label: labelOf(fields.label),
    });
  };
}

/** What passkeys call the account: for one that is not made yet, the same in each step of that. */
function handleFor(authority: Authority, name: string): string {
  if (authority.kind !== "invite" && authority.account !== undefined) return authority.account.handle;
  return hashOf(`handle ${authority.purpose} ${name}`);
}

/** The name that a person gives a passkey; "Passkey" for none. */
export function labelOf(text: string): string {
  return text.replaceAll("\0", "").toWellFormed().trim().slice(0, MAX_LABEL_CHARS) || "Passkey";
}

/** The account's name. Throws unless an account may be made or changed by this authority now. */
async function requireMayMake(
  deps: AccountDeps,
  authority: Authority,
  sentName: string,
  { nowMs }: CallData,
): Promise<string> {
  if (authority.kind === "own") requireFresh(authority.session, nowMs);
  if (authority.kind !== "invite" && authority.account !== undefined) return authority.account.name;
  const mayMake =
    authority.kind === "invite"
      ? authority.mayMake
      : authority.kind === "own" && (await mayHaveAccount(deps, authority.session));
  if (!mayMake) throw noAccounts();
  const name = accountName(sentName);
  if (name === undefined)
    throw invalidArgument({
      field: "name",
      description:
        "must be an e-mail address or a name: letters, digits, space and . _ + @ -, beginning with a letter or digit",
    });
  return name;
}

async function make(
  deps: AccountDeps,
  request: Request,
  response: Response,
  call: CallData,
  authority: Authority,
  name: string,
  proof: NewProof,
): Promise<void> {
  const { localAccounts: setting, publicOrganization } = deps.config;
  const handle = handleFor(authority, name);
  if (authority.kind === "own") {
    const { uid: session, identity } = authority.session;
    if (authority.account === undefined)
      await deps.writer.write(makeOwnAccount, call, {
        identity,
        session,
        name,
        handle,
        proof,
        setting,
        publicOrganization,
      });
    else if (!(await deps.writer.write(changeProof, call, { identity, session, proof }))) throw noAccounts();
    return answerJson(request, response, 200, {});
  }
  const { granting, answer } = beginning(deps, request, response, call);
  const begun =
    authority.kind === "invite"
      ? await deps.writer.write(makeAccount, call, { code: authority.code, name, handle, proof, setting, granting })
      : await deps.writer.write(recoverAccount, call, { hash: authority.hash, proof, granting });
  if (begun === undefined) throw notGood(authority.kind === "invite" ? "invite" : "recovery link");
  answer(begun);
}
