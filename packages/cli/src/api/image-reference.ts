// References of images as people write them: acme/team/app:1.2, @sha256:… or @2026-01-01.
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import { UsageFailure } from "../command/failure.ts";

/** A reference of an image, before its names are looked up. */
export interface ImageReference {
  /** The host[:port] that stands in front; absent when none does. */
  host?: string;
  /** The path of the repo, such as `acme/team/app`, or its uid. */
  path: string;
  tag?: string;
  digest?: string;
  /** The last millisecond that the time names, in milliseconds since 1970. */
  timeMs?: number;
  /** The time as it was written. */
  time?: string;
}

const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const PATH = /^[a-z0-9 ._-]+(?:\/[a-z0-9 ._-]+)*$/;
// Source: docs/time-travel.md.
const TIMED_TAG = /^(.+)--at--(\d{8}T\d{6}Z)$/;
const FORMS = "an image is written as acme/app, acme/app:1.2, acme/app@sha256:<64 digits> or acme/app:1.2@2026-01-31";

/** Reads the last millisecond of an ISO 8601 date or time, in UTC without a zone. Throws UsageFailure, also for a time
 * that has not begun. `name`: how the message calls the text. */
export function parseTime(name: string, text: string, nowMs = Date.now()): number {
  const moment = parseIso8601(text);
  if (moment === undefined)
    throw new UsageFailure(
      `${name}: must be an ISO 8601 date or time such as 2026-01-31 or 2026-01-31T08:30Z, not ${text}`,
    );
  if (moment.firstMs > nowMs) throw new UsageFailure(`${name}: ${text} is in the future`);
  return moment.lastMs;
}

/**
 * Reads a reference: a path or the uid of a repo, then `:tag`, `@digest` or `@time`. A host in front is recognized by a
 * dot or a port, as docker does, and a URL by its scheme. Throws UsageFailure for what is none.
 */
export function parseImage(text: string): ImageReference {
  const [, url, bare = ""] = /^(?:https?:\/\/([^/]+)\/)?(.*)$/s.exec(text) ?? [];
  const first = bare.slice(0, Math.max(0, bare.indexOf("/")));
  const isHost = first === "localhost" || (/[.:]/.test(first) && !first.includes("@"));
  const named = url === undefined && isHost ? first : undefined;
  const host = url ?? named;
  const rest = named === undefined ? bare : bare.slice(named.length + 1);
  const at = rest.indexOf("@");
  const front = at < 0 ? rest : rest.slice(0, at);
  const suffix = at < 0 ? undefined : rest.slice(at + 1);
  const colon = front.indexOf(":");
  const path = colon < 0 ? front : front.slice(0, colon);
  const written = colon < 0 ? undefined : front.slice(colon + 1);
  const [, timedTag, second] = TIMED_TAG.exec(written ?? "") ?? [];
  const tag = timedTag ?? written;
  const wrong = (why: string): UsageFailure => new UsageFailure(`${text}: ${why}; ${FORMS}`);
  if (!PATH.test(path)) throw wrong("is no reference of an image");
  if (tag !== undefined && !TAG.test(tag)) throw wrong(`${tag === "" ? "the tag is missing" : `${tag} is no tag`}`);
  if (suffix === "") throw wrong("a digest or a time is missing after @");
  const found = { ...(host !== undefined && { host }), path, ...(tag !== undefined && { tag }) };
  if (suffix === undefined && second === undefined) return found;
  if (suffix !== undefined && second !== undefined) throw wrong("two times are named");
  if (suffix !== undefined && DIGEST.test(suffix)) return { ...found, digest: suffix };
  if (suffix !== undefined && /^sha\d+:/.test(suffix)) throw wrong(`${suffix} is no complete digest`);
  const time = suffix ?? second ?? "";
  // A time of docs/time-travel.md names all milliseconds of its second.
  const timeMs = parseTime(text, time) + (second === undefined ? 0 : 999);
  return { ...found, time, timeMs };
}
