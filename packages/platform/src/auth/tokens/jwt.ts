import { exactNumber, isObject, parseJson } from "@moorage/kernel/lib/json";
import { createLru } from "@moorage/kernel/lib/lru";
import { unauthenticated, type MoorageError } from "@moorage/kernel/errors";

/** A decoded token. Nothing in it is trustworthy before its signature is verified over `token` itself. */
export interface Jwt {
  readonly token: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const MAX_DEPTH = 16;
const SKEW_MS = 60_000;
const OWN_AHEAD_MS = 3_600_000 + SKEW_MS;
const MAX_TIME_S = 100_000_000_000;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });

// The same token comes with every log-in. Nobody changes a decoded one.
const MAX_PARSED_LENGTH = 2 ** 21;
const parsed = createLru<string, Jwt>(MAX_PARSED_LENGTH, ({ token }) => token.length);

/**
 * The answer to a token that is malformed, or that names this issuer but is not valid. It gives no reason, so that an
 * attacker learns nothing. See `rejections.ts` for tokens of other issuers.
 */
export function rejection(): MoorageError {
  return unauthenticated("the token was not accepted");
}

/**
 * Decodes a JWS in compact form (RFC 7515, RFC 7519). Undefined for another form, for more than `maxLength` characters,
 * and for critical extensions, none of which are supported.
 */
export function parseJwt(token: string, maxLength: number): Jwt | undefined {
  if (token.length > maxLength) return undefined;
  const known = parsed.get(token);
  if (known !== undefined) return known;
  const jwt = parse(token);
  if (jwt !== undefined) parsed.set(token, jwt);
  return jwt;
}

function parse(token: string): Jwt | undefined {
  if (!FORM.test(token)) return undefined;
  const parts = token.split(".");
  // Only the canonical base64url encoding is accepted: with spare bits set, several texts would decode to the same
  // token.
  if (!parts.every((part) => Buffer.from(part, "base64url").toString("base64url") === part)) return undefined;
  const [header, claims] = parts.map(decode);
  if (!isObject(header) || !isObject(claims) || "crit" in header || typeof header["alg"] !== "string") return undefined;
  return { token, header, claims };
}

/**
 * Whether a token that this installation issued is valid at this time. `nbf` and `iat` may be an hour ahead, as long as
 * our tokens live: then the clock was set back since, which must not shut out everybody who has a token. It ends at its
 * `exp` all the same.
 */
export function isWithinTimes(claims: Record<string, unknown>, nowMs: number): boolean {
  return timeFault(claims, nowMs, OWN_AHEAD_MS) === undefined;
}

/**
 * The first time claim by which the token is not valid now; undefined when it is valid. `exp` is required and has no
 * tolerance; `nbf` and `iat` may be `mayBeAheadMs` ahead, by default 60 s, since clocks differ. Claims are in seconds
 * since 1970. Source: RFC 7519 §4.1.
 */
export function timeFault(
  claims: Record<string, unknown>,
  nowMs: number,
  mayBeAheadMs = SKEW_MS,
): "exp" | "nbf" | "iat" | undefined {
  const { exp, nbf, iat } = claims;
  if (!isTime(exp) || exp * 1000 <= nowMs) return "exp";
  const ahead = (time: unknown): boolean =>
    time !== undefined && !(isTime(time) && time * 1000 <= nowMs + mayBeAheadMs);
  return ahead(nbf) ? "nbf" : ahead(iat) ? "iat" : undefined;
}

/** The `aud` claim as a list; empty when it is absent or malformed. */
export function audiencesOf(claims: Record<string, unknown>): string[] {
  const { aud } = claims;
  if (typeof aud === "string") return [aud];
  return Array.isArray(aud) && aud.every((one) => typeof one === "string") ? aud : [];
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < MAX_TIME_S;
}

function decode(part: string): unknown {
  try {
    return parseJson(UTF_8.decode(Buffer.from(part, "base64url")), MAX_DEPTH, Infinity, exactNumber);
  } catch {
    return undefined;
  }
}
