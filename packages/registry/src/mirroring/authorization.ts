import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { readBounded } from "@moorage/kernel/lib/guarded-fetch";
import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import type { Clock } from "@moorage/kernel/lib/clock";
import { readChallenges } from "./challenge.ts";
import { asUpstreamError, retryAfterMs, UpstreamError } from "./errors.ts";

/** The credentials for one repository at its registry. An empty user name means anonymous access. */
export interface Credentials {
  username: string;
  password: string;
}

/** The Authorization headers that are sent to a registry in order to pull. */
export interface Authorization {
  /** The current header. Undefined before the first challenge, and when the token has expired. */
  known(): string | undefined;
  /**
   * The header to send after a challenge of the registry itself; challenges of hosts that it redirects to must not be
   * answered. Undefined when the challenge cannot be met. Throws an UpstreamError when the token endpoint gives no
   * token.
   */
  answer(header: string | string[] | undefined, signal: AbortSignal): Promise<string | undefined>;
}

interface AuthorizationDeps {
  client: StreamClient;
  clock: Clock;
  /** What the token is to be for, as `repository:acme/app:pull`. */
  scopes: readonly string[];
  /** A function makes them anew for each request of a token, for credentials that end soon. */
  credentials: Credentials | (() => Promise<Credentials>);
  /** What the registry is to us, for messages. */
  party?: "source" | "destination";
}

const MAX_TOKEN_BYTES = 256 * 1024;
const MAX_DEPTH = 16;
const TIMEOUT_MS = 30_000;
const DEFAULT_TTL_S = 60;
// The share of a token's lifetime for which it is used, so that it does not expire on the way.
const SPARE = 0.8;

/**
 * Authorizes by Basic, or by a token from the realm that the registry names. The token is requested for these
 * scopes alone, whatever scope the challenge has. Credentials are sent to that realm over https only, unless
 * private networks are allowed: like every client, the server trusts the registry to name its token endpoint. Source:
 * distribution token protocol.
 */
export function createAuthorization({
  client,
  clock,
  scopes,
  credentials,
  party = "source",
}: AuthorizationDeps): Authorization {
  let current: { header: string; untilMs: number } | undefined;

  const fetchToken = async (
    realm: string,
    service: string | undefined,
    signal: AbortSignal,
  ): Promise<{ token: string; ttlMs: number }> => {
    const url = URL.parse(realm);
    if (url === null) throw new UpstreamError("wrong", `the ${party} names a token endpoint that is no URL`);
    const { username, password } = typeof credentials === "function" ? await credentials() : credentials;
    if (service !== undefined) url.searchParams.set("service", service);
    for (const scope of scopes) url.searchParams.append("scope", scope);
    if (username !== "") url.searchParams.set("account", username);
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const answer = await client.request(url.href, {
        headers: username === "" ? {} : { authorization: basicOf({ username, password }) },
        signal: within,
      });
      if (answer.status !== 200) {
        answer.discard();
        throw tokenError(party, answer.status, retryAfterMs(answer.headers["retry-after"], clock.nowMs()));
      }
      return readToken(party, await readBounded(answer.body, MAX_TOKEN_BYTES));
    } catch (error) {
      throw asUpstreamError(error);
    }
  };
  return {
    known: () => (current !== undefined && performance.now() < current.untilMs ? current.header : undefined),
    async answer(header, signal) {
      current = undefined;
      const challenges = readChallenges(header);
      const bearer = challenges.find(
        ({ scheme, parameters }) => scheme === "bearer" && parameters["realm"] !== undefined,
      );
      if (bearer !== undefined) {
        const { token, ttlMs } = await fetchToken(
          bearer.parameters["realm"] ?? "",
          bearer.parameters["service"],
          signal,
        );
        current = { header: `Bearer ${token}`, untilMs: performance.now() + ttlMs * SPARE };
      } else if (
        typeof credentials !== "function" &&
        credentials.username !== "" &&
        challenges.some(({ scheme }) => scheme === "basic")
      ) {
        current = { header: basicOf(credentials), untilMs: Number.POSITIVE_INFINITY };
      }
      return current?.header;
    },
  };
}

function basicOf({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function tokenError(party: string, status: number, afterMs: number | undefined): UpstreamError {
  if (status === 429)
    return new UpstreamError("limited", `the ${party}'s token endpoint asks to come back later (429)`, {
      retryAfterMs: afterMs,
    });
  if (status >= 500)
    return new UpstreamError("unreachable", `the ${party}'s token endpoint answered ${status}`, {
      retryAfterMs: afterMs,
    });
  if (status >= 300 && status < 400)
    return new UpstreamError("refused", `the ${party}'s token endpoint redirects elsewhere, which is not followed`);
  return new UpstreamError("refused", `the ${party}'s token endpoint refused the credentials (${status})`);
}

function readToken(party: string, body: Buffer): { token: string; ttlMs: number } {
  let answer: unknown;
  try {
    answer = parseJson(body.toString(), MAX_DEPTH);
  } catch {
    answer = undefined;
  }
  const { token, access_token: accessToken, expires_in: ttlS } = isObject(answer) ? answer : {};
  const found = typeof token === "string" && token !== "" ? token : accessToken;
  if (typeof found !== "string" || !/^[\x21-\x7e]+$/.test(found))
    throw new UpstreamError("wrong", `the ${party}'s token endpoint answers without a token`);
  return { token: found, ttlMs: (typeof ttlS === "number" && ttlS > 0 ? ttlS : DEFAULT_TTL_S) * 1000 };
}
