import type { CallData } from "@moorage/kernel/core/call";
import type { RequestHandler } from "@moorage/kernel/core/http";
import { networkOf } from "@moorage/kernel/lib/network";
import { isUid } from "@moorage/kernel/lib/uid";
import { accountsProvider, onlyAccountsProvider, providersIn, someAccountsProvider } from "../../iam/index.ts";
import { answerJson } from "../http/endpoints.ts";
import { browserOf } from "../sign-in/browser-endpoints.ts";
import { hashOf } from "../sign-in/secrets.ts";
import { makeChallenge, takeChallenge } from "./challenges.ts";
import { type AccountDeps, fieldsOf, givingTo, knownBrowser, rejected, requireOn, tooMany } from "./deps.ts";
import { type Account, accountName, accountPlace, findAccount } from "./rows.ts";
import { confirmSetUp, offerSetUp } from "./second-factor.ts";
import { type Second, signInAccount } from "./sign-in-commands.ts";
import { recoveryCodeHash, totpStep } from "./totp.ts";
import { readAsserted, relyingParty, requestOptions, verifyAsserted } from "./webauthn.ts";

// One answer for a name that is not there, one without a password, and a wrong password.
const NOT_ACCEPTED = "the name or the password is not right";
const CODE_NOT_ACCEPTED = "the code is not right, or was used already";
const PASSKEY_NOT_ACCEPTED = "this passkey is not accepted here: sign in another way, or ask for a recovery link";

/**
 * POST /session/password: begins a session by an account's name and password. Answers `{"next": "code"}` where a code
 * of an authenticator app is needed too, and a set-up of one where the organization asks for it and there is none.
 */
export function passwordEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const names = ["organization", "provider", "name", "password", "code", "setUp", "state"] as const;
    const fields = await fieldsOf(deps, request, names);
    requireOn(deps);
    const provider = await providerOf(deps, fields, call);
    const name = accountName(fields.name) ?? "";
    const account = await findAccount(deps.reader, { provider, name });
    const back = deps.guesses.begin({
      account: account?.identity ?? `${provider} ${hashOf(fields.name.slice(0, 254).toLowerCase())}`,
      address: call.remoteAddress,
      knownBrowser: account && (await knownBrowser(deps, request, account.identity, call.nowMs)),
      isKnownNetwork: account?.networks.includes(networkOf(call.remoteAddress)) ?? false,
      nowMs: call.nowMs,
    });
    if (back === undefined) throw tooMany("wrong passwords were tried");
    const isRight = await deps.passwords.verify(fields.password, account?.password ?? "", call.remoteAddress);
    if (!isRight || account === undefined) throw rejected(deps, call, provider, "PASSWORD_NOT_ACCEPTED", NOT_ACCEPTED);
    const second = secondOf(deps, account, fields, call.nowMs);
    if (second === "needed") {
      back();
      const next =
        account.totp !== ""
          ? { next: "code" }
          : { next: "setUp", ...offerSetUp(deps, account.identity, account.name, call.nowMs) };
      return answerJson(request, response, 200, next);
    }
    if (second === "wrong") throw rejected(deps, call, provider, "CODE_NOT_ACCEPTED", CODE_NOT_ACCEPTED);
    const { granting, answer } = await givingTo(deps, fields.state, provider, request, response, call);
    const proof = { kind: "password", password: account.password, ...(second && { second }) } as const;
    const signedIn = await deps.writer.write(signInAccount, call, { identity: account.identity, proof, ...granting });
    if (signedIn?.begun === undefined) throw rejected(deps, call, provider, "CODE_NOT_ACCEPTED", CODE_NOT_ACCEPTED);
    back();
    answer(signedIn.begun);
  };
}

/** GET /session/password: whether people sign in here with accounts, and whether they name their organization. */
export function accountsHereEndpoint({ config, reader }: AccountDeps): RequestHandler {
  return async (request, response) => {
    const some = config.localAccounts === "off" ? undefined : await someAccountsProvider(reader);
    answerJson(request, response, 200, {
      accounts: some !== undefined,
      needsOrganization: some !== undefined && (await onlyAccountsProvider(reader)) === undefined,
    });
  };
}

function secondOf(
  deps: AccountDeps,
  account: Account,
  { code, setUp }: { code: string; setUp: string },
  nowMs: number,
): Second | "needed" | "wrong" | undefined {
  const { identity, totp, totpStep: after } = account;
  if (totp === "") {
    if (!account.secondFactor) return undefined;
    if (setUp === "") return "needed";
    const made = confirmSetUp(deps, identity, { setUp, code }, nowMs);
    return made === undefined
      ? "wrong"
      : { setUp: { secret: deps.secrets.seal(made.secret, accountPlace(identity)), step: made.step } };
  }
  if (code === "") return "needed";
  const step = totpStep(deps.secrets.open(totp, accountPlace(identity)), code, { nowMs, after });
  if (step !== undefined) return { totpStep: step };
  const recoveryHash = recoveryCodeHash(code);
  return recoveryHash === undefined ? "wrong" : { recoveryHash };
}

/** The accounts that the person means: empty where there are none, which is answered like a wrong name. */
async function providerOf(
  { reader, names }: AccountDeps,
  { provider, organization }: { provider: string; organization: string },
  { remoteAddress, nowMs }: CallData,
): Promise<string> {
  if (provider !== "") return isUid(provider) ? ((await accountsProvider(reader, { uid: provider }))?.uid ?? "") : "";
  if (organization === "") return (await onlyAccountsProvider(reader))?.uid ?? "";
  if (!names.mayGuess(remoteAddress, nowMs)) throw tooMany("wrong names were asked for");
  const found = (await providersIn(reader, organization)).find(({ isAccounts }) => isAccounts);
  if (found === undefined) names.failed(remoteAddress, nowMs);
  return found?.uid ?? "";
}

/** POST /session/passkey/options: what the browser asks for a passkey by. */
export function passkeyOptionsEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    await fieldsOf(deps, request, []);
    requireOn(deps);
    const party = relyingParty(deps.addresses.platform(request));
    const challenge = await makeChallenge(deps, browserOf(deps, request, response), SIGN_IN, call);
    answerJson(request, response, 200, requestOptions(party, challenge));
  };
}

/** POST /session/passkey: begins a session with a passkey's answer to the challenge of this browser. */
export function passkeyEndpoint(deps: AccountDeps): RequestHandler {
  return async (request, response, data) => {
    const call = deps.callData(request, data);
    const { credential, state } = await fieldsOf(deps, request, ["credential", "state"]);
    requireOn(deps);
    const party = relyingParty(deps.addresses.platform(request));
    const sent = readAsserted(credential);
    const isOwn = await takeChallenge(deps, sent.challenge, deps.browserCookie.read(request), SIGN_IN, call);
    const passkey = isOwn ? await passkeyOf(deps, sent.credential.id) : undefined;
    const account = passkey && (await findAccount(deps.reader, passkey));
    const resource = account?.provider ?? "";
    const signCount = passkey && account && (await verifyAsserted(sent, party, passkey));
    const handle = sent.credential.response.userHandle;
    if (
      passkey === undefined ||
      signCount === undefined ||
      (handle !== undefined && handle !== Buffer.from(account?.handle ?? "").toString("base64url"))
    )
      throw rejected(deps, call, resource, "PASSKEY_NOT_ACCEPTED", PASSKEY_NOT_ACCEPTED);
    const { granting, answer } = await givingTo(deps, state, resource, request, response, call);
    const proof = { kind: "passkey", id: passkey.id, signCount } as const;
    const signedIn = await deps.writer.write(signInAccount, call, { identity: passkey.identity, proof, ...granting });
    if (signedIn?.begun === undefined)
      throw rejected(deps, call, resource, "PASSKEY_NOT_ACCEPTED", PASSKEY_NOT_ACCEPTED);
    answer(signedIn.begun);
  };
}

const SIGN_IN = "sign-in";

function passkeyOf({ reader }: AccountDeps, id: string) {
  return reader.selectFrom("passkeys").selectAll().where("id", "=", id).executeTakeFirst();
}
