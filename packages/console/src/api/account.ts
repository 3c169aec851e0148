import { ApiError, errorOf, noAnswer } from "./errors.ts";
import { forgetToken } from "./session.ts";

// Accounts that the server keeps: what proves them is sent to endpoints beside the API, from the server's own pages.

/** By what an account is made or changed: the code of an invite, the secret of a recovery link, or the own session. */
export interface Authority {
  invite?: string;
  recovery?: string;
}

/** An authenticator app to set up: `setUp` goes back with a code of the app. */
export interface AppSetUp {
  next: "setUp";
  setUp: string;
  secret: string;
  uri: string;
}

/** What is asked for next; `done` when the person is signed in, or what was to be changed is. */
export type Step = { next: "done"; redirect?: string } | { next: "code" } | AppSetUp;

/** What an invite is for. */
export interface InviteOffer {
  group: string;
  role: string;
  roleDescription: string;
  expireTime: string;
  isForAddress: boolean;
  mayMake: boolean;
}

/** A passkey as the profile shows it. */
export interface Passkey {
  keyId: string;
  label: string;
  host: string;
  createTime: string;
  usedTime: string | null;
}

/** The account of who is signed in. */
export interface Account {
  name: string;
  hasPassword: boolean;
  hasApp: boolean;
  needsSecondFactor: boolean;
  recoveryCodes: number;
  passkeys: readonly Passkey[];
}

const TIMEOUT_MS = 60_000;

/** Sends the fields; throws an ApiError that says what is wrong. */
export async function postAccount<T>(path: string, fields: object = {}): Promise<T> {
  return await ask<T>(path, "POST", JSON.stringify(fields));
}

/** Whether people sign in here with accounts of the server, and whether they must name their organization. */
export async function accountsHere(): Promise<{ accounts: boolean; needsOrganization: boolean }> {
  return await ask("/session/password", "GET");
}

/** Whether the server sends mail. */
export async function readMail(): Promise<{ sendsMail: boolean }> {
  return await ask("/session/mail", "GET");
}

/** The own account, or whether one can be made. */
export async function readAccount(): Promise<{ account: Account | null; mayMake: boolean }> {
  return await ask("/session/account", "GET");
}

/** Signs in with a name and a password, and what was asked for before. */
export async function signInByPassword(fields: Record<string, string>): Promise<Step> {
  return stepOf(await postAccount("/session/password", fields));
}

/** Signs in with a passkey that the person chooses in the browser. `state`: of a program's sign-in. */
export async function signInByPasskey(state = ""): Promise<Step> {
  const optionsJSON = await postAccount<never>("/session/passkey/options");
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const credential = JSON.stringify(await inBrowser(() => startAuthentication({ optionsJSON })));
  return stepOf(await postAccount("/session/passkey", { credential, ...(state !== "" && { state }) }));
}

/** Makes a password; answers what is asked for next. */
export async function makePassword(fields: Authority & Record<string, string>): Promise<Step> {
  return stepOf(await postAccount("/session/account/password", fields));
}

/** Makes a passkey in the browser and gives it to the account. */
export async function makePasskey(by: Authority & { name?: string }, label: string): Promise<Step> {
  const optionsJSON = await postAccount<never>("/session/account/passkey/options", by);
  const { startRegistration } = await import("@simplewebauthn/browser");
  const credential = JSON.stringify(await inBrowser(() => startRegistration({ optionsJSON })));
  return stepOf(await postAccount("/session/account/passkey", { ...by, label, credential }));
}

/** Why no passkey can be made or used on this page; undefined where they can. */
export function noPasskeys(): string | undefined {
  if (/^[\d.]+$|^\[/.test(window.location.hostname))
    return "Passkeys need a host name in the address of this page, not an IP address.";
  if (!window.isSecureContext) return "Passkeys need https.";
  return window.PublicKeyCredential === undefined ? "This browser does not support passkeys." : undefined;
}

function stepOf(answer: { next?: string; redirect?: string }): Step {
  if (answer.next === "code" || answer.next === "setUp") return answer as Step;
  forgetToken();
  return { next: "done", ...(answer.redirect !== undefined && { redirect: answer.redirect }) };
}

async function inBrowser<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw new ApiError(0, {
      code: "CANCELED",
      message: "No passkey was used: the request was canceled or timed out.",
    });
  }
}

async function ask<T>(path: string, method: string, body?: string): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body, headers: { "content-type": "application/json" } }),
    });
  } catch {
    throw noAnswer();
  }
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as T;
}
