import type { Logger } from "pino";
import { sql } from "kysely";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Database, putValue, type Store } from "@moorage/kernel/store";

/**
 * The time on which all processes of an installation agree: for leases and for when work in the database is due. It
 * goes on evenly when a clock is set, in whatever direction. Source: docs/adr/0013.
 */
export interface AgreedTime {
  /** Milliseconds; about those since 1970 until a clock was set for the first time. */
  nowMs(): number;
  /** Follows no longer, and waits for what is under way. */
  close(): Promise<void>;
}

export interface AgreedTimeDeps {
  store: Pick<Store, "engine" | "reader">;
  transactor: Pick<Transactor, "write">;
  clock: Pick<Clock, "nowMs" | "monotonicMs">;
  log: Logger;
  /** How often the time is compared with the reference, in milliseconds. */
  everyMs?: number;
}

const EVERY_MS = 5_000;
// Clocks drift by milliseconds between two looks; what is more was set.
const DRIFT_MS = 1_000;
// The longest look at the reference that says what time it is.
const LONGEST_LOOK_MS = 500;
const KEY = "time-correction";

/**
 * Adds to the stored correction, in milliseconds, if it still is `from`. Answers the correction that holds: another
 * process may have been faster.
 */
export const correctTime = command(
  "jobs.correctTime",
  async (call: Call, { from, to }: { from: number; to: number }): Promise<{ correctionMs: number }> => {
    const correctionMs = await readCorrection(call.tx);
    if (correctionMs !== from) return { correctionMs };
    await putValue(call.tx, KEY, String(to));
    return { correctionMs: to };
  },
);

/**
 * Opens the agreed time. The reference is the database's time of day, or on SQLite, whose processes are on one machine,
 * this machine's; the agreed time is that and a correction, which is stored. A process that sees the reference jump
 * against its own monotonic clock changes the correction by as much, and the others follow it.
 */
export async function openAgreedTime(deps: AgreedTimeDeps): Promise<AgreedTime> {
  const { transactor, clock, log, everyMs = EVERY_MS } = deps;
  const first = await look(deps);
  let { correctionMs } = first;
  // What to add to the monotonic clock.
  let offsetMs = first.referenceMs + correctionMs - first.atMs;
  const compare = async (): Promise<void> => {
    const now = await look(deps);
    if (now.tookMs > LONGEST_LOOK_MS) return;
    const aheadMs = now.referenceMs + now.correctionMs - now.atMs - offsetMs;
    const isCorrected = now.correctionMs !== correctionMs;
    correctionMs = now.correctionMs;
    if (Math.abs(aheadMs) <= DRIFT_MS || isCorrected) {
      offsetMs += aheadMs;
      return;
    }
    const to = Math.round(correctionMs - aheadMs);
    const answer = await transactor.write(correctTime, systemCall(clock.nowMs()), { from: correctionMs, to });
    // Where another process was faster, the next look follows it.
    if (answer.correctionMs === to) correctionMs = to;
    log.warn({ byMs: Math.round(aheadMs) }, "a clock was set; leases and due times go on as before");
  };
  let comparing: Promise<void> | undefined;
  const timer = setInterval(() => {
    comparing ??= compare()
      .catch((error: unknown) => log.warn({ err: error }, "comparing clocks failed"))
      .finally(() => {
        comparing = undefined;
      });
  }, everyMs).unref();
  return {
    nowMs: () => Math.round(clock.monotonicMs() + offsetMs),
    async close() {
      clearInterval(timer);
      await comparing;
    },
  };
}

interface Look {
  /** The time of the reference at `atMs` of the monotonic clock. */
  referenceMs: number;
  atMs: number;
  correctionMs: number;
  /** How long the look took: the reference is off by half of it at most. */
  tookMs: number;
}

async function look({ store: { engine, reader }, clock }: AgreedTimeDeps): Promise<Look> {
  const correctionMs = await readCorrection(reader);
  const startMs = clock.monotonicMs();
  const referenceMs = engine === "sqlite" ? clock.nowMs() : await databaseMs(reader);
  const endMs = clock.monotonicMs();
  return { referenceMs, correctionMs, atMs: (startMs + endMs) / 2, tookMs: endMs - startMs };
}

async function readCorrection(db: Database): Promise<number> {
  const row = await db.selectFrom("installation").select("value").where("key", "=", KEY).executeTakeFirst();
  return Number(row?.value ?? 0);
}

async function databaseMs(db: Database): Promise<number> {
  const { rows } = await sql<{
    ms: number;
  }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
  return Number(rows[0]?.ms);
}
