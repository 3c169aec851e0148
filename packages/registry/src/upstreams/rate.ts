import { create, fromJson, type JsonValue, toJsonString } from "@bufbuild/protobuf";
import { UpstreamRateSchema } from "@moorage/api/messages";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";

/** What a registry says of its limit. */
export interface RegistryRate {
  limit: number;
  remaining: number;
  /** When there are more again at the latest, in milliseconds since 1970. */
  resetMs: number;
}

type Headers = Record<string, string | string[] | undefined>;

const MAX_WINDOW_S = 30 * 24 * 3_600;
const MAX_COUNT = 2 ** 31 - 1;
const DEFAULT_WINDOW_S = 6 * 3_600;

/**
 * The limit that the headers of an answer state: `ratelimit-limit: 100;w=21600`, `ratelimit-remaining: 76;w=21600` and,
 * where there is one, `ratelimit-reset` in seconds. Undefined when they state none. Source: Docker Hub's documentation
 * of its pull limit, and draft-ietf-httpapi-ratelimit-headers.
 */
export function rateIn(headers: Headers, nowMs: number): RegistryRate | undefined {
  const limit = countIn(headers["ratelimit-limit"]);
  const remaining = countIn(headers["ratelimit-remaining"]);
  if (limit === undefined || remaining === undefined) return undefined;
  const reset = countIn(headers["ratelimit-reset"])?.count;
  const windowS = reset ?? remaining.windowS ?? limit.windowS ?? DEFAULT_WINDOW_S;
  return {
    limit: limit.count,
    remaining: remaining.count,
    resetMs: nowMs + Math.min(windowS, MAX_WINDOW_S) * 1_000,
  };
}

function countIn(header: string | string[] | undefined): { count: number; windowS: number | undefined } | undefined {
  if (typeof header !== "string") return undefined;
  const [, count, windowS] = /^ *(\d{1,10}) *(?:; *w=(\d{1,10}))?/.exec(header.slice(0, 100)) ?? [];
  if (count === undefined) return undefined;
  return {
    count: Math.min(Number(count), MAX_COUNT),
    windowS: windowS === undefined ? undefined : Number(windowS),
  };
}

/** The text for `registry_upstreams.rate`. */
export function rateText({ limit, remaining, resetMs }: RegistryRate): string {
  return toJsonString(
    UpstreamRateSchema,
    create(UpstreamRateSchema, { limit, remaining, resetTime: timestamp(resetMs) }),
  );
}

/** The limit of that text; undefined for none. */
export function rateOf(text: string | null): RegistryRate | undefined {
  if (text === null) return undefined;
  const { limit, remaining, resetTime } = fromJson(UpstreamRateSchema, JSON.parse(text) as JsonValue);
  return { limit, remaining, resetMs: resetTime === undefined ? 0 : milliseconds(resetTime) };
}
