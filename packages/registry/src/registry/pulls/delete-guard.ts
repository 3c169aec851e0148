import type { Duration } from "@bufbuild/protobuf/wkt";
import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition, invalidArgument } from "@moorage/kernel/errors";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import { type Database, select } from "@moorage/kernel/store";
import { coversSince, pullCoverage } from "./coverage.ts";
import { dayOf, dayText } from "@moorage/kernel/lib/days";
import { RUNNING_FOR_MS } from "./last-uses.ts";

/** What is to be deleted: a repo, or a tag of it. */
interface Deleted {
  repo: string;
  tag?: { name: string; digest: string };
}

interface Use {
  /** Who pulled, or reported; empty without a log-in. */
  identity: string;
  /** Where it runs; empty for a pull. */
  source: string;
  time: number;
}

const MAX_NAMED = 10;
const MAX_S = 100 * 366 * 24 * 3600;

/**
 * Throws FAILED_PRECONDITION when what is to be deleted was pulled within the duration, or is said to run
 * (STILL_PULLED), by whom, for callers that may list events; or when it is not known whether it was (PULLS_UNKNOWN).
 * Nothing is asked for without a duration. INVALID_ARGUMENT for a wrong one.
 */
export async function requireNotPulled(call: Call, deleted: Deleted, duration: Duration | undefined): Promise<void> {
  if (duration === undefined) return;
  const withinMs = Number(duration.seconds) * 1000 + duration.nanos / 1_000_000;
  if (!(withinMs > 0) || duration.seconds > MAX_S)
    throw invalidArgument({
      field: "unless_pulled_within",
      description: "must be longer than 0s, and at most 100 years",
    });
  const sinceMs = call.nowMs - withinMs;
  const coverage = await pullCoverage(call.tx);
  const subject = deleted.tag?.name ?? deleted.repo;
  const uses = await usesOf(call.tx, deleted, sinceMs, call.nowMs - Math.max(RUNNING_FOR_MS, withinMs));
  const [last] = uses;
  if (last !== undefined) {
    const who = (await call.may(Capability.CAP_EVENTS_LIST, deleted.repo)) ? `by ${await namesOf(call.tx, uses)}` : "";
    throw failedPrecondition({
      type: "STILL_PULLED",
      subject,
      description:
        `it was ${last.source === "" ? "pulled" : "running"} ${who} last at ${isoTime(Number(last.time))}`.replace(
          "  ",
          " ",
        ),
    });
  }
  if (coversSince(coverage, sinceMs)) return;
  const why =
    coverage.sinceMs === undefined
      ? "pulls are not counted"
      : coverage.sinceMs > sinceMs
        ? `pulls are counted only since ${isoTime(coverage.sinceMs)}`
        : `some pulls of ${dayText(coverage.lossyDays[0] ?? dayOf(sinceMs))} are missing`;
  throw failedPrecondition({
    type: "PULLS_UNKNOWN",
    subject,
    description: `it is not known whether it was pulled since ${isoTime(Math.floor(sinceMs))}: ${why}`,
  });
}

/** The uses since the time, the last ones first, one for each identity and source. */
async function usesOf(db: Database, { repo, tag }: Deleted, sinceMs: number, runningMs: number): Promise<Use[]> {
  const [since, running] = [Math.floor(sinceMs), Math.floor(runningMs)];
  const of = tag === undefined ? "" : `and digest in (${BELOW})`;
  const named = tag === undefined ? "" : `and (tag = ? or digest in (${BELOW}))`;
  const digests = tag === undefined ? [] : [tag.digest, repo, tag.digest];
  return await select<Use>(
    db,
    `select identity, source, max(time) as time from (
      select identity, '' as source, last_time as time from pull_days
        where repo = ? and day >= ? and last_time >= ? and count > 0 ${named}
      union all select identity, '' as source, time from last_pulls where repo = ? and time >= ? ${of}
      union all select identity, source, time from running_images where repo = ? and time >= ? ${of}
    ) as uses group by identity, source order by max(time) desc, identity limit ${MAX_NAMED + 1}`,
    [
      repo,
      dayOf(since),
      since,
      ...(tag === undefined ? [] : [tag.name, ...digests]),
      repo,
      since,
      ...digests,
      repo,
      running,
      ...digests,
    ],
  );
}

// The tag's manifest, and those that an index names.
const BELOW =
  "select ? union select target from manifest_references where repo = ? and digest = ? and kind = 'manifest'";

async function namesOf(db: Database, uses: readonly Use[]): Promise<string> {
  const uids = [...new Set(uses.map(({ identity }) => identity))].filter((uid) => uid !== "");
  const rows =
    uids.length === 0
      ? []
      : await db.selectFrom("identities").select(["uid", "name"]).where("uid", "in", uids).execute();
  const names = new Map(rows.map(({ uid, name }) => [uid, name]));
  const words = uses.slice(0, MAX_NAMED).map(({ identity, source }) => {
    const who =
      identity === "" ? "somebody without a log-in" : `${names.get(identity) ?? "a removed identity"} (${identity})`;
    return source === "" ? who : `${who} at ${source}`;
  });
  return `${words.join(", ")}${uses.length > MAX_NAMED ? " and others" : ""}`;
}
