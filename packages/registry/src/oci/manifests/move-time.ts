import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import { findTag, type TagPlace } from "../../registry/index.ts";
import { rejected, RegistryError } from "../errors.ts";
import { denied, lackingOf } from "../names.ts";
import type { Exchange } from "../request.ts";

/** The header of a push or deletion of a tag that says when the tag moved at the installation that sends it. */
const HEADER = "moorage-move-time";
const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** By how much the clock of an installation may be ahead of ours. */
const MOST_AHEAD_MS = 300_000;

/** A tag that moved or was deleted here later than a push says. */
export interface LaterMove {
  name: string;
  /** Empty for a tag that was deleted. */
  digest: string;
  /** In milliseconds since 1970. */
  timeMs: number;
}

/**
 * When the tag moved at the installation that sends the request, in milliseconds since 1970; undefined without the
 * header. Throws UNSUPPORTED with status 400 for no time, and one that is further ahead of ours than clocks are.
 */
export function moveTimeOf({ req, deps }: Exchange): number | undefined {
  const text = req.headers[HEADER];
  if (text === undefined) return undefined;
  const wrong = (description: string): RegistryError => rejected("UNSUPPORTED", { field: HEADER, description });
  const timeMs = typeof text === "string" && FORM.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(timeMs) || timeMs < 0) throw wrong("must be a time since 1970 as 2026-11-28T08:15:30.123Z");
  if (timeMs > deps.clock.nowMs() + MOST_AHEAD_MS)
    throw wrong(`must not be in the future: the clock here says ${isoTime(deps.clock.nowMs())}`);
  return timeMs;
}

/**
 * The first of the tags that moved here later than at that time, or at that time to a digest that wins by its text, so
 * that of two installations both decide alike. Throws DENIED without the right to say when tags moved.
 */
export async function laterMove(
  call: Call,
  {
    repo,
    name: image,
    tags,
    digest,
    timeMs,
  }: { repo: string; name: string; tags: string[]; digest: string; timeMs: number },
): Promise<LaterMove | undefined> {
  const lacking = await lackingOf(call, repo, [Capability.CAP_TAG_IMPORT]);
  if (lacking.length > 0) throw denied(call, image, lacking);
  for (const name of tags) {
    const place = await findTag(call, repo, name);
    const { lastTime } = place;
    const there = place.tag?.digest ?? "";
    if (lastTime === null || there === digest || isEarlier(lastTime, there, { timeMs, digest })) continue;
    return { name, digest: there, timeMs: lastTime };
  }
  return undefined;
}

function isEarlier(
  lastTime: NonNullable<TagPlace["lastTime"]>,
  there: string,
  { timeMs, digest }: { timeMs: number; digest: string },
): boolean {
  return lastTime < timeMs || (lastTime === timeMs && there < digest);
}

/** The error for a move that is older than what is here. */
export function outdated({ name, digest, timeMs }: LaterMove): RegistryError {
  const since = isoTime(timeMs);
  const what = digest === "" ? `was deleted at ${since}` : `has pointed to ${digest} since ${since}`;
  return new RegistryError("UNSUPPORTED", `Precondition failed: the tag ${name} ${what}, which is later`, {
    status: 412,
    detail: { tag: name, digest, time: since },
  });
}
