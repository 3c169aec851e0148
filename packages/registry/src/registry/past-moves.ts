import type { Call } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";

/** A move of a tag at another installation. */
export interface PastMove {
  /** Empty: it was deleted. */
  digest: string;
  /** When, in milliseconds since 1970. */
  timeMs: number;
}

const selectLast = statement<{ time: number; digest: string }>(
  "select time, digest from tag_history where repo = ? and tag = ? order by time desc limit 1",
);
const selectBefore = statement<{ time: number }>(
  "select time from tag_history where repo = ? and tag = ? and time < ? order by time desc limit 1",
  ["text", "text", "bigint"],
);
const insertRecord = statement(
  "insert into tag_history (repo, tag, time, digest, actor, reason, source) values (?, ?, ?, ?, ?, 'import', ?)",
  ["text", "text", "bigint", "text", "text", "text"],
);
const setUpdateTime = statement("update tags set update_time = ? where parent = ? and name = ?", [
  "bigint",
  "text",
  "text",
]);

/** The time of the last record of a tag's history, in milliseconds since 1970; 0 without one. */
export async function lastMoveMs(call: Call, repo: string, tag: string): Promise<number> {
  const [last] = await selectLast(call.tx, repo, tag);
  return Number(last?.time ?? 0);
}

/**
 * Adds to the history of a tag what it pointed to at another installation before its last move here, with the times
 * there and the reason `import`: of the moves, from the oldest on, those after the record before that last one. The tag
 * points to what it did.
 */
export async function addPastMoves(
  call: Call,
  { repo, tag, source, movedMs }: { repo: string; tag: string; source: string; movedMs: number },
  moves: readonly PastMove[],
): Promise<void> {
  const [before] = await selectBefore(call.tx, repo, tag, movedMs);
  let after = Number(before?.time ?? -1);
  for (const { digest, timeMs } of moves) {
    if (timeMs <= after || timeMs >= movedMs) continue;
    await insertRecord(call.tx, repo, tag, timeMs, digest, call.caller.identity, source);
    after = timeMs;
  }
}

/**
 * Adds moves of a tag at another installation that led back to what it points to, all after its last record here. The
 * times of its records strictly increase.
 */
export async function addRoundTrip(
  call: Call,
  { repo, tag, source }: { repo: string; tag: string; source: string },
  moves: readonly PastMove[],
): Promise<void> {
  const [last] = await selectLast(call.tx, repo, tag);
  let after = Number(last?.time ?? -1);
  let digest = last?.digest ?? "";
  for (const move of moves) {
    if (move.timeMs <= after || move.digest === digest || move.timeMs > call.nowMs) continue;
    ({ timeMs: after, digest } = move);
    await insertRecord(call.tx, repo, tag, after, digest, call.caller.identity, source);
  }
  await setUpdateTime(call.tx, after, repo, tag);
}
