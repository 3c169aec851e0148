// What pull tokens of a center may pull there, as it said last: for while it is away.
import { FollowWay } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, type Row, select, statement } from "@moorage/kernel/store";
import { followStateOf } from "./follow-state.ts";

/** A pull token of a center, as it is known here. */
interface CenterPulls {
  /** The upstream by which the center is followed. */
  upstream: string;
  /** A keyed hash of the token with its user name, in hex. */
  secret: string;
}

/** What a center said of a pull token. */
export interface NotedPulls extends CenterPulls {
  /** Names there that it may pull, and those that it may not; the empty name is for the token itself. */
  granted: string[];
  refused: string[];
  /** When the token ends, in milliseconds since 1970; undefined when it does not say. */
  endMs: number | undefined;
}

/** For how long what a center said counts while it is away. */
const KEPT_MS = 24 * 3_600_000;
// What was noted lately is not written again with each log-in.
const AGAIN_MS = 600_000;
const MAX_ROWS = 50_000;
const MAX_CENTERS = 100;

/** The upstreams that are known to follow a Moorage at this host (and port), at most a hundred. */
export async function centersOf(tx: Database, host: string): Promise<Row<"registry_upstreams">[]> {
  const rows = await select<Row<"registry_upstreams">>(
    tx,
    `select * from registry_upstreams where follow is not null and lower(registry) in (?, ?, ?) order by uid limit ${MAX_CENTERS}`,
    [host, `https://${host}`, `http://${host}`],
  );
  return rows.filter(({ follow_state: state }) => {
    const { way, apiProblem } = followStateOf(state);
    return way === FollowWay.API || apiProblem !== "";
  });
}

const selectHeld = statement<{ name: string; seen_time: number; until_time: number }>(
  "select name, seen_time, until_time from center_pulls where upstream = ? and secret = ? and until_time > ? and name = ?",
  ["text", "text", "bigint", "text"],
);

/** Which of these names the token may pull at the center by what that said last, and until when that counts here. */
export async function heldPulls(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  { upstream, secret }: CenterPulls,
  names: readonly string[],
): Promise<Map<string, { seenMs: number; untilMs: number }>> {
  const held = new Map<string, { seenMs: number; untilMs: number }>();
  for (const name of names)
    for (const row of await selectHeld(tx, upstream, secret, nowMs, name))
      held.set(row.name, { seenMs: row.seen_time, untilMs: row.until_time });
  return held;
}

/**
 * Notes what a center said of a token. What it may not pull is forgotten, and with the empty name all of the token.
 * Beyond 50,000 names of all tokens of an upstream nothing more is noted: `isFull`.
 */
export const noteCenterPulls = command(
  "upstreams.noteCenterPulls",
  async (call: Call, { upstream, secret, granted, refused, endMs }: NotedPulls): Promise<{ isFull: boolean }> => {
    const { tx, nowMs } = call;
    await tx.deleteFrom("center_pulls").where("until_time", "<=", nowMs).execute();
    const ofToken = tx.deleteFrom("center_pulls").where("upstream", "=", upstream).where("secret", "=", secret);
    if (refused.includes("")) await ofToken.execute();
    else if (refused.length > 0) await ofToken.where("name", "in", refused).execute();
    const held = await heldPulls(call, { upstream, secret }, granted);
    const fresh = granted.filter((name) => (held.get(name)?.seenMs ?? 0) <= nowMs - AGAIN_MS).toSorted();
    if (fresh.length === 0) return { isFull: false };
    const there = await tx
      .selectFrom("registry_upstreams")
      .select("uid")
      .where("uid", "=", upstream)
      .executeTakeFirst();
    if (there === undefined) return { isFull: false };
    // What is there already adds nothing.
    const added = fresh.filter((name) => !held.has(name)).length;
    if (added > 0 && (await countNames(tx, upstream)) + added > MAX_ROWS) return { isFull: true };
    const times = { seen_time: nowMs, until_time: Math.min(nowMs + KEPT_MS, endMs ?? Infinity) };
    await tx
      .insertInto("center_pulls")
      .values(fresh.map((name) => ({ upstream, secret, name, ...times })))
      .onConflict((on) => on.columns(["upstream", "secret", "name"]).doUpdateSet(times))
      .execute();
    return { isFull: false };
  },
  { isolation: "read committed" },
);

/** How many names are noted of all tokens of the upstream, up to the limit. */
async function countNames(tx: Database, upstream: string): Promise<number> {
  const [found] = await select<{ count: number }>(
    tx,
    `select count(*) as count from (select 1 from center_pulls where upstream = ? limit ${MAX_ROWS}) as c`,
    [upstream],
  );
  return Number(found?.count);
}
