import { isObject, parseJson } from "../../lib/json.ts";
import { unauthenticated, type MoorageError } from "../../errors.ts";

/** A token taken apart; nothing in it is to be believed before its signature is verified over `token` itself. */
export interface Jwt {
  token: string;
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const MAX_DEPTH = 16;
const SKEW_MS = 60_000;
const MAX_TIME_S = 100_000_000_000;

/**
 * The answer to a token that cannot be read, or that is not ours though it says so: it tells a prober nothing. See
 * `rejections.ts` for those of others.
 */
export function rejection(): MoorageError {
  return unauthenticated("the token was not accepted");
}

/**
 * Takes a JWS in compact form apart (RFC 7515, RFC 7519). Undefined for another form, one over `maxLength` characters,
 * and one with critical extensions: we know none.
 */
export function parseJwt(token: string, maxLength: number): Jwt | undefined {
  if (token.length > maxLength || !FORM.test(token)) return undefined;
  const parts = token.split(".");
  // One token, one spelling: spare bits at the end of a part would let several texts pass for it.
  if (!parts.every((part) => Buffer.from(part, "base64url").toString("base64url") === part)) return undefined;
  const [header, claims] = parts.map(decode);
  if (!isObject(header) || !isObject(claims) || "crit" in header || typeof header["alg"] !== "string") return undefined;
  return { token, header, claims };
}

/**
 * Whether the token is within its times. `exp` is required and has no tolerance; `nbf` and `iat` may lie 60 s ahead,
 * for clocks that disagree. Times are seconds since 1970. Source: RFC 7519 §4.1.
 */
export function isWithinTimes(claims: Record<string, unknown>, nowMs: number): boolean {
  return timeFault(claims, nowMs) === undefined;
}

/** Which of the times keeps the token from being good now; undefined when none does. */
export function timeFault(claims: Record<string, unknown>, nowMs: number): "exp" | "nbf" | "iat" | undefined {
  const { exp, nbf, iat } = claims;
  if (!isTime(exp) || exp * 1000 <= nowMs) return "exp";
  const ahead = (time: unknown): boolean => time !== undefined && !(isTime(time) && time * 1000 <= nowMs + SKEW_MS);
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
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(part, "base64url")), MAX_DEPTH);
  } catch {
    return undefined;
  }
}
