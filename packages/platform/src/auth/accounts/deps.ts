import type { Auditor } from "@moorage/kernel/audit";
import type { Config } from "@moorage/kernel/config";
import type { CallData } from "@moorage/kernel/core/call";
import type { Request, Response } from "@moorage/kernel/core/http";
import { Code, failedPrecondition, invalidArgument, MoorageError, unauthenticated } from "@moorage/kernel/errors";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import { answerJson, jsonFieldsOf } from "../http/endpoints.ts";
import type { Cookie } from "../sign-in/cookies.ts";
import { type Flow, outcomeOf, SESSION_TTL_MS } from "../sign-in/flow.ts";
import { clientUrl } from "../sign-in/browser-endpoints.ts";
import type { Guesses } from "../sign-in/guess-limit.ts";
import { hashOf, newSecret } from "../sign-in/secrets.ts";
import { requireOwnPage, type SessionDeps, shownSession } from "../sign-in/session-endpoints.ts";
import type { AccountGuesses } from "./guesses.ts";
import type { Passwords } from "./passwords.ts";
import { type Granting, knownBrowserHash } from "./write.ts";

export interface AccountDeps extends SessionDeps {
  config: Pick<Config, "baseUrl" | "localAccounts" | "publicOrganization" | "smtpUrl">;
  secrets: Secrets;
  auditor: Pick<Auditor, "note">;
  passwords: Passwords;
  guesses: AccountGuesses;
  /** Counts codes of invites and recovery links that are not good. */
  links: Guesses;
  /** Counts names of organizations that are not there. */
  names: Guesses;
  /** Ties a challenge to the browser that it was made for. */
  browserCookie: Cookie;
  flow: Pick<Flow, "take">;
  /** By which a browser is known in which somebody has signed in. */
  knownCookie: Cookie;
}

const KNOWN_TTL_S = 365 * 86_400;
const MAX_CHARS: Readonly<Record<string, number>> = { credential: 32_768, password: 1_024, setUp: 2_048 };
const MAX_OTHER_CHARS = 512;

/** Reads the request of one of our own pages: texts of these names, empty for those that are not there. */
export async function fieldsOf<N extends string>(
  deps: Pick<AccountDeps, "addresses">,
  request: Request,
  names: readonly N[],
): Promise<Record<N, string>> {
  requireOwnPage(deps, request);
  const sent = await jsonFieldsOf(request);
  const fields = Object.fromEntries(names.map((name) => [name, ""])) as Record<N, string>;
  for (const [name, value] of sent) {
    if (!(names as readonly string[]).includes(name))
      throw invalidArgument({ field: name.slice(0, 100), description: "is not a parameter" });
    if (value.length > (MAX_CHARS[name] ?? MAX_OTHER_CHARS))
      throw invalidArgument({ field: name, description: "is too long" });
    fields[name as N] = value;
  }
  return fields;
}

/** A session that is about to begin in the browser of the request. */
export interface Beginning {
  /** The secret in the cookie by which the browser is known from now on. */
  browser?: string;
  granting: Granting;
  /** Sets the cookies and answers who is signed in. */
  answer(begun: { identity: string; name: string; email: string }): void;
}

export function beginning(
  deps: AccountDeps,
  request: Request,
  response: Response,
  { nowMs }: CallData,
): Beginning & { browser: string } {
  const [secret, browser] = [newSecret(), deps.knownCookie.read(request) ?? newSecret()];
  const expireTimeMs = nowMs + SESSION_TTL_MS;
  return {
    browser,
    granting: {
      audience: deps.config.baseUrl,
      outcome: { kind: "session", hash: hashOf(secret), expireTimeMs, provesAccount: true },
      browserHash: hashOf(browser),
    },
    answer(begun) {
      deps.sessionCookie.set(response, secret, SESSION_TTL_MS / 1000);
      deps.knownCookie.set(response, browser, KNOWN_TTL_S);
      answerJson(request, response, 200, shownSession({ ...begun, expireTimeMs }));
    },
  };
}

/**
 * What the sign-in with an account gives: to the program or device whose sign-in was begun with `state`, or without one
 * to this browser. Throws FAILED_PRECONDITION for a state that is not good: it is used up by who proved the account.
 */
export async function givingTo(
  deps: AccountDeps,
  state: string,
  provider: string,
  ...[request, response, call]: [Request, Response, CallData]
): Promise<Beginning> {
  const own = beginning(deps, request, response, call);
  if (state === "") return own;
  const target = await deps.flow.take(state, provider, deps.browserCookie.read(request), call);
  if (target === undefined || target.kind === "session")
    throw failedPrecondition({
      type: "NOT_BEGUN_HERE",
      subject: "state",
      description:
        "this sign-in was not begun in this browser, took longer than ten minutes, or has ended: begin again in the program",
    });
  const secret = newSecret();
  return {
    granting: {
      ...own.granting,
      audience: (target.kind === "client" ? target.resource : undefined) ?? own.granting.audience,
      narrowed: target.narrowed,
      ...(target.clientId !== undefined && { client: target.clientId }),
      outcome: outcomeOf(target, hashOf(secret), call.nowMs),
    },
    answer() {
      deps.knownCookie.set(response, own.browser, KNOWN_TTL_S);
      const { baseUrl } = deps.config;
      const redirect =
        target.kind === "client"
          ? { redirect: clientUrl(target.redirectUri, baseUrl, target.state, { code: secret }) }
          : {};
      answerJson(request, response, 200, redirect);
    },
  };
}

/** The name of the request's browser among those that are known for the identity; undefined when it is not. */
export async function knownBrowser(
  { knownCookie, reader }: AccountDeps,
  request: Request,
  identity: string,
  nowMs: number,
): Promise<string | undefined> {
  const secret = knownCookie.read(request);
  if (secret === undefined) return undefined;
  const hash = knownBrowserHash(hashOf(secret), identity);
  const row = await reader
    .selectFrom("known_browsers")
    .select("hash")
    .where("hash", "=", hash)
    .where("expire_time", ">", nowMs)
    .executeTakeFirst();
  return row?.hash;
}

/** Throws FAILED_PRECONDITION where accounts are switched off. */
export function requireOn({ config }: Pick<AccountDeps, "config">): void {
  if (config.localAccounts !== "off") return;
  throw failedPrecondition({
    type: "NO_ACCOUNTS_HERE",
    subject: "account",
    description: "this server has no accounts of its own: sign in through an identity provider",
  });
}

/** Notes a rejected sign-in, where its account belongs to a provider, and makes the error. */
export function rejected(
  deps: AccountDeps,
  call: CallData,
  resource: string,
  reason: string,
  message: string,
): MoorageError {
  const code = Code.Unauthenticated;
  deps.auditor.note(call, { method: "iam.signIn", resource, decision: "denied", code, reason });
  return unauthenticated(message);
}

export function tooMany(what: string): MoorageError {
  return new MoorageError(Code.ResourceExhausted, `Resource exhausted: too many ${what}: try again in ten minutes`, {
    retryAfterMs: 600_000,
  });
}
