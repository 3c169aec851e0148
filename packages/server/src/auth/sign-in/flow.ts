import { randomUUID } from "node:crypto";
import type { Auditor } from "../../audit/index.ts";
import type { Secrets } from "../../lib/secrets.ts";
import type { Caller, CallData } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { personOf, providerOf } from "../../iam/index.ts";
import type { Database } from "../../store/index.ts";
import type { CommandWriter } from "../../core/transactor.ts";
import { actClaims, MAX_PERSON_ACT_LENGTH } from "../exchange/exchange.ts";
import { OAuthError } from "../http/oauth.ts";
import { finishSignIn, openSignIn, type Outcome, takeSignIn } from "./flow-commands.ts";
import type { ProviderClient } from "./provider-client.ts";
import { hashOf, newSecret } from "./secrets.ts";
import { denyDevice } from "./device-commands.ts";

/** What a token is narrowed to; see Caller. */
export type Narrowed = Pick<Caller, "capabilities" | "scopes">;

/** What somebody signs in for. */
export type Target =
  | { kind: "client"; clientId: string; redirectUri: string; challenge: string; state: string; narrowed: Narrowed }
  | { kind: "device"; hash: string; narrowed: Narrowed }
  | { kind: "session"; returnTo: string };

/** How a sign-in ended. `secret`: the authorization code, or what the session's cookie holds; empty for a device. */
export type Ending = { target: Target; secret: string } | { target: Target; fault: OAuthError };

export interface Flow {
  /**
   * Where the browser goes to sign in; it alone, known by its cookie's secret, may come back. Throws an OAuthError that
   * says what to do.
   */
  begin(target: Target, providerUid: string, browser: string, data: CallData): Promise<URL>;
  /**
   * Takes what the provider sent the browser back with. Undefined when nobody began it, in this browser and within ten
   * minutes, or it was ended already.
   */
  finish(answer: URLSearchParams, browser: string | undefined, data: CallData): Promise<Ending | undefined>;
}

export interface FlowDeps {
  config: { baseUrl: string };
  reader: Database;
  writer: CommandWriter;
  secrets: Secrets;
  provider: ProviderClient;
  /** Told of what is refused. */
  auditor: Pick<Auditor, "note">;
}

/** How long a person may take at the provider; for as long the browser keeps its cookie. */
export const SIGN_IN_TTL_MS = 600_000;
/** A browser session ends then, whatever its person does. */
export const SESSION_TTL_MS = 12 * 3_600_000;
const CODE_TTL_MS = 60_000;
const MAX_UNDER_WAY_PER_ADDRESS = 500;

interface Kept {
  provider: string;
  issuer: string;
  clientId: string;
  nonce: string;
  verifier: string;
  target: Target;
}

export function createFlow({ config, reader, writer, secrets, provider: client, auditor }: FlowDeps): Flow {
  const redirectUri = `${config.baseUrl}/oauth/callback`;
  const placeOf = (hash: string): string => `sign_ins:${hash}`;

  const end = async (kept: Kept, answer: URLSearchParams, state: string, data: CallData): Promise<string> => {
    const { nonce, verifier, target } = kept;
    const provider = await providerOf(reader, kept.provider);
    if (provider === undefined || provider.issuer !== kept.issuer || provider.clientId !== kept.clientId) throw gone();
    const claims = await client.finish(provider, redirectUri, answer, { state, nonce, verifier }, data.nowMs);
    const person = personOf(provider, claims);
    if (person === undefined)
      throw new OAuthError(
        502,
        "server_error",
        "the identity provider does not say who signed in: its administrators must compare its claims with the correlation rule set here",
      );
    const secret = target.kind === "device" ? "" : newSecret();
    const identity = await writer
      .write(finishSignIn, data, {
        person: { provider: provider.uid, issuer: provider.issuer, clientId: provider.clientId, ...person },
        grant: {
          audiences: [config.baseUrl],
          ...(target.kind !== "session" && target.narrowed),
          act: actClaims(claims, MAX_PERSON_ACT_LENGTH),
        },
        groupsUntilMs: Number(claims["exp"]) * 1000,
        outcome: outcomeOf(target, hashOf(secret), data.nowMs),
      })
      .catch((error: unknown) => {
        // It went between the look above and the transaction.
        throw error instanceof MoorageError && error.code === Code.Unauthenticated ? gone() : error;
      });
    if (identity === undefined)
      throw new OAuthError(400, "expired_token", "the device no longer waits: begin again there");
    return secret;
  };

  return {
    async begin(target, providerUid, browser, data) {
      const provider = await providerOf(reader, providerUid);
      if (provider === undefined)
        throw new OAuthError(400, "invalid_request", "identity_provider names no identity provider of this server");
      await requireCapacity(reader, data);
      const [state, nonce, verifier] = [newSecret(), newSecret(), newSecret()];
      const url = await client.begin(provider, redirectUri, { state, nonce, verifier }, data.nowMs);
      const hash = hashOf(state);
      const kept: Kept = {
        provider: provider.uid,
        issuer: provider.issuer,
        clientId: provider.clientId,
        nonce,
        verifier,
        target,
      };
      await writer.write(openSignIn, data, {
        hash,
        browser: hashOf(browser),
        address: data.remoteAddress,
        content: secrets.seal(JSON.stringify(kept), placeOf(hash)),
        expireTimeMs: data.nowMs + SIGN_IN_TTL_MS,
      });
      return url;
    },
    async finish(answer, browser, data) {
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
      // The writing end is `begin` above.
      const kept = JSON.parse(secrets.open(content, placeOf(hash))) as Kept;
      try {
        return { target: kept.target, secret: await end(kept, answer, state, data) };
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        denied(kept.provider, `${error.error}: ${error.message}`);
        // Who declines at the provider declines the device; after anything else it may be tried again.
        if (kept.target.kind === "device" && error.error === "access_denied")
          await writer.write(denyDevice, data, { hash: kept.target.hash });
        return { target: kept.target, fault: error };
      }
    },
  };
}

function outcomeOf(target: Target, hash: string, nowMs: number): Outcome {
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

/** Looked at beside the writing, so that those who begin at once do not wait for each other: a few more do no harm. */
async function requireCapacity(reader: Database, { remoteAddress, nowMs }: CallData): Promise<void> {
  const { n } = await reader
    .selectFrom("sign_ins")
    .select((query) => query.fn.countAll<number>().as("n"))
    .where("address", "=", remoteAddress)
    .where("expire_time", ">", nowMs)
    .executeTakeFirstOrThrow();
  if (Number(n) >= MAX_UNDER_WAY_PER_ADDRESS)
    throw new OAuthError(
      429,
      "temporarily_unavailable",
      "too many sign-ins were begun from your address: try again in ten minutes",
    );
}

function gone(): OAuthError {
  return new OAuthError(400, "access_denied", "the identity provider was removed or changed meanwhile: begin again");
}
