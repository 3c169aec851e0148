import { randomUUID } from "node:crypto";
import type { Auditor } from "@moorage/kernel/audit";
import type { Config } from "@moorage/kernel/config";
import type { Caller, CallData } from "@moorage/kernel/core/call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { networkOf } from "@moorage/kernel/lib/network";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database } from "@moorage/kernel/store";
import {
  ACCOUNTS_ISSUER,
  isOnlyProvider,
  ownCallback,
  personOf,
  type Provider,
  providerOf,
  SHARED_CALLBACK,
} from "../../iam/index.ts";
import { actClaims, MAX_PERSON_ACT_LENGTH } from "../exchange/act-claims.ts";
import { OAuthError } from "../http/oauth.ts";
import { finishSignIn, openSignIn, type Outcome, takeSignIn } from "./flow-commands.ts";
import type { ProviderClient } from "./provider-client.ts";
import { hashOf, newSecret } from "./secrets.ts";
import { denyDevice } from "./device-commands.ts";

/** What a token is narrowed to; see Caller. */
export type Narrowed = Pick<Caller, "capabilities" | "scopes">;

/** What a sign-in is for. */
export type Target =
  | {
      kind: "client";
      clientId: string;
      redirectUri: string;
      challenge: string;
      state: string;
      narrowed: Narrowed;
      /** The audience of the tokens. Defaults to the platform. */
      resource?: string;
    }
  | { kind: "device"; hash: string; clientId?: string; narrowed: Narrowed }
  | { kind: "session"; returnTo: string };

/** How a sign-in ended. `secret`: the authorization code, or the value of the session's cookie; empty for a device. */
export type Ending = { target: Target; secret: string } | { target: Target; fault: OAuthError };

export interface Flow {
  /**
   * Begins a sign-in and answers the URL at the identity provider to which the browser is redirected, or the path of
   * the page for accounts of this installation. Only that browser, identified by its cookie's secret, may finish it.
   * Throws an OAuthError that says what to do.
   */
  begin(target: Target, providerUid: string, browser: string, data: CallData): Promise<string>;
  /**
   * What a sign-in is for that was begun in this browser at the accounts of this installation, used up for who has
   * proved an account there. Undefined for one of other accounts, another browser, or that ended.
   */
  take(state: string, accounts: string, browser: string | undefined, data: CallData): Promise<Target | undefined>;
  /**
   * Finishes a sign-in with the parameters that the identity provider sent the browser back with, to the path
   * `callback`. Undefined when no sign-in with this state was begun in this browser within the last ten minutes, or it
   * was finished already.
   */
  finish(
    callback: string,
    answer: URLSearchParams,
    browser: string | undefined,
    data: CallData,
  ): Promise<Ending | undefined>;
}

export interface FlowDeps {
  config: Pick<Config, "baseUrl" | "localAccounts">;
  reader: Database;
  writer: CommandWriter;
  secrets: Secrets;
  provider: ProviderClient;
  /** Receives the rejected sign-ins. */
  auditor: Pick<Auditor, "note">;
  log: { info(fields: object, message: string): void };
}

/** How long a person may take at the identity provider. The browser's cookie lasts as long. */
export const SIGN_IN_TTL_MS = 600_000;
/** The longest life of a browser session, used or not. */
export const SESSION_TTL_MS = 12 * 3_600_000;
/** The console's page on which programs are signed in with an account of this installation. */
const ACCOUNT_PAGE = "/sign-in/account";
const CODE_TTL_MS = 60_000;
const MAX_UNDER_WAY_PER_NETWORK = 500;

interface StoredSignIn {
  provider: string;
  issuer: string;
  clientId: string;
  nonce: string;
  verifier: string;
  target: Target;
  /** The path to which the provider sends the browser back. Absent in those begun before there was more than one. */
  callback?: string;
}

export function createFlow({ config, reader, writer, secrets, provider: client, auditor, log }: FlowDeps): Flow {
  const sealContext = (hash: string): string => `sign_ins:${hash}`;

  const end = async (
    stored: StoredSignIn,
    callback: string,
    answer: URLSearchParams,
    state: string,
    data: CallData,
  ): Promise<string> => {
    const { nonce, verifier, target } = stored;
    if (callback !== (stored.callback ?? SHARED_CALLBACK) || stored.issuer === ACCOUNTS_ISSUER) throw mixedUp();
    const provider = await providerOf(reader, stored.provider);
    if (
      provider === undefined ||
      provider.issuer !== stored.issuer ||
      provider.clientId !== stored.clientId ||
      callbackOf(provider) !== callback
    )
      throw gone();
    if (provider.sharedCallback) await requireNamedIssuer(reader, provider, answer);
    const redirectUri = `${config.baseUrl}${callback}`;
    const claims = await client.finish(provider, redirectUri, answer, { state, nonce, verifier }, data.nowMs);
    const person = personOf(provider, claims);
    if (person === undefined)
      throw new OAuthError(
        502,
        "server_error",
        "the identity provider does not say who signed in: its administrators must compare its claims with the correlation rule set here",
      );
    const secret = target.kind === "device" ? "" : newSecret();
    const finished = await writer
      .write(finishSignIn, data, {
        person: {
          provider: provider.uid,
          issuer: provider.issuer,
          clientId: provider.clientId,
          groupsUntilMs: Number(claims["exp"]) * 1000,
          ...person,
        },
        grant: {
          audiences: [(target.kind === "client" ? target.resource : undefined) ?? config.baseUrl],
          ...(target.kind !== "session" && { ...target.narrowed, client: target.clientId }),
          act: actClaims(claims, MAX_PERSON_ACT_LENGTH),
        },
        outcome: outcomeOf(target, hashOf(secret), data.nowMs),
      })
      .catch((error: unknown) => {
        // The provider was removed or changed after it was read above.
        throw error instanceof MoorageError && error.code === Code.Unauthenticated ? gone() : error;
      });
    if (finished !== undefined && finished.groupsLeftOut !== "")
      log.info(
        { requestId: data.requestId, identityProvider: provider.uid, ...finished },
        "groups were left out of a sign-in",
      );
    if (finished === undefined)
      throw new OAuthError(400, "expired_token", "the device no longer waits: begin again there");
    return secret;
  };

  return {
    async begin(target, providerUid, browser, data) {
      const provider = await providerOf(reader, providerUid);
      if (provider === undefined)
        throw new OAuthError(400, "invalid_request", "identity_provider names no identity provider of this server");
      const isAccounts = provider.issuer === ACCOUNTS_ISSUER;
      if (isAccounts && config.localAccounts === "off")
        throw new OAuthError(403, "access_denied", "this server has no accounts of its own any more");
      if (isAccounts && target.kind === "session") return `/login?to=${encodeURIComponent(target.returnTo)}`;
      await requireCapacity(reader, data);
      const [state, nonce, verifier] = [newSecret(), newSecret(), newSecret()];
      const callback = callbackOf(provider);
      const redirectUri = `${config.baseUrl}${callback}`;
      const url = isAccounts
        ? `${ACCOUNT_PAGE}?provider=${provider.uid}#${state}`
        : (await client.begin(provider, redirectUri, { state, nonce, verifier }, data.nowMs)).href;
      const hash = hashOf(state);
      const stored: StoredSignIn = {
        provider: provider.uid,
        issuer: provider.issuer,
        clientId: provider.clientId,
        nonce,
        verifier,
        target,
        callback,
      };
      await writer.write(openSignIn, data, {
        hash,
        browser: hashOf(browser),
        network: networkOf(data.remoteAddress),
        content: secrets.seal(JSON.stringify(stored), sealContext(hash)),
        expireTimeMs: data.nowMs + SIGN_IN_TTL_MS,
      });
      return url;
    },
    async take(state, accounts, browser, data) {
      if (browser === undefined) return undefined;
      const hash = hashOf(state);
      const content = await writer.write(takeSignIn, data, { hash, browser: hashOf(browser) });
      if (content === undefined) return undefined;
      const { provider, issuer, target } = JSON.parse(secrets.open(content, sealContext(hash))) as StoredSignIn;
      return provider === accounts && issuer === ACCOUNTS_ISSUER ? target : undefined;
    },
    async finish(callback, answer, browser, data) {
      const denied = (resource: string, reason: string): void =>
        auditor.note(data, { method: "iam.signIn", resource, decision: "denied", code: Code.Unauthenticated, reason });
      const state = answer.get("state");
      if (state === null || answer.getAll("state").length > 1 || browser === undefined) {
        denied("", "NOT_BEGUN_HERE");
        return undefined;
      }
      const hash = hashOf(state);
      const content = await writer.write(takeSignIn, data, { hash, browser: hashOf(browser) });
      if (content === undefined) {
        denied("", "NOT_BEGUN_HERE");
        return undefined;
      }
      // Written by `begin` above.
      const stored = JSON.parse(secrets.open(content, sealContext(hash))) as StoredSignIn;
      try {
        return { target: stored.target, secret: await end(stored, callback, answer, state, data) };
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        denied(stored.provider, `${error.error}: ${error.message}`);
        // Declining at the provider declines the device; after any other failure the person may try again.
        if (stored.target.kind === "device" && error.error === "access_denied")
          await writer.write(denyDevice, data, { hash: stored.target.hash });
        return { target: stored.target, fault: error };
      }
    },
  };
}

/** What a sign-in gives by its target. `hash`: of the code or the session's cookie. */
export function outcomeOf(target: Target, hash: string, nowMs: number): Outcome {
  switch (target.kind) {
    case "client": {
      const { clientId, redirectUri, challenge } = target;
      return {
        kind: "code",
        hash,
        clientId,
        redirectUri,
        challenge,
        family: randomUUID(),
        expireTimeMs: nowMs + CODE_TTL_MS,
      };
    }
    case "device":
      return { kind: "device", hash: target.hash };
    case "session":
      return { kind: "session", hash, expireTimeMs: nowMs + SESSION_TTL_MS };
  }
}

function callbackOf({ uid, sharedCallback }: Provider): string {
  return sharedCallback ? SHARED_CALLBACK : ownCallback(uid);
}

/**
 * Where several providers answer at one callback, an answer must say which of them gives it: otherwise a code that one
 * provider issued could be posted to the token endpoint of another. Whether that is the provider asked is checked with
 * the rest of the answer. Source: RFC 9207 §2.4, RFC 9700 §4.4.
 */
async function requireNamedIssuer(reader: Database, provider: Provider, answer: URLSearchParams): Promise<void> {
  if (answer.has("iss") || (await isOnlyProvider(reader, provider.uid))) return;
  throw new OAuthError(
    400,
    "invalid_request",
    "the identity provider does not name itself in its answer, and still has the callback that providers share: its administrators must register its own redirect URI there",
  );
}

function mixedUp(): OAuthError {
  return new OAuthError(
    400,
    "invalid_request",
    "the answer came from another identity provider than the one that was asked, so nobody was signed in: begin again, and not from a link that somebody sent",
  );
}

/**
 * Counted outside the write transaction, so that sign-ins that begin concurrently do not wait for each other. The limit
 * may be exceeded by a few.
 */
export async function requireCapacity(reader: Database, { remoteAddress, nowMs }: CallData): Promise<void> {
  const { n } = await reader
    .selectFrom("sign_ins")
    .select((query) => query.fn.countAll<number>().as("n"))
    .where("network", "=", networkOf(remoteAddress))
    .where("expire_time", ">", nowMs)
    // Those that end later were begun before the clock was set back.
    .where("expire_time", "<=", nowMs + SIGN_IN_TTL_MS)
    .executeTakeFirstOrThrow();
  if (Number(n) >= MAX_UNDER_WAY_PER_NETWORK)
    throw new OAuthError(
      429,
      "temporarily_unavailable",
      "too many sign-ins were begun from your network: try again in ten minutes",
    );
}

function gone(): OAuthError {
  return new OAuthError(400, "access_denied", "the identity provider was removed or changed meanwhile: begin again");
}
