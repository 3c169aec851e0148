import { dayOf, startOf } from "../lib/days.ts";
import { type Database, statement, type Tables } from "../store/index.ts";

/** The tables that say what statistics by day cover. Of each kind of statistics there are three. */
interface CoverageTables {
  /** `id` and `since`: since when is counted, in at most one row. */
  coverage: keyof Tables;
  /** `id`, `time` and `until_time`: the processes that count. */
  counters: keyof Tables;
  /** `day` and the column of `lost`: the days of which some are missing. */
  gaps: keyof Tables;
  /** The column of `gaps` with how many are known to be missing. */
  lost: string;
}

/** What statistics cover. */
export interface Coverage {
  /** Since when is counted, in milliseconds since 1970; undefined when nothing is. */
  sinceMs: number | undefined;
  /** Days since then of which some are missing, in days since 1970, the last ones first; at most 100. */
  lossyDays: readonly number[];
  /** How many such days there are. */
  lossyCount: number;
}

/** What a process says of its counting whenever it writes. */
interface Counted {
  /** Names the process. */
  counter: string;
  /** How many were lost, by day in days since 1970. */
  lost: readonly { day: number; count: number }[];
  /** Whether counting begins now where it has not begun; or begins anew, because what was known is no longer. */
  begins: "where it has not" | "anew" | "not";
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  /** Now, in the agreed time. */
  agreedMs: number;
}

/** Keeps what statistics cover, in the transactions of those who write them. */
export interface CoverageKeeper {
  /** Reads it. Read it before the statistics: what it says then holds of them, too. */
  read(db: Database): Promise<Coverage>;
  /** Notes that a process counts, what it lost, and the days of those that crashed meanwhile. */
  note(tx: Database, counted: Counted): Promise<void>;
  /** Notes that a process has written all that it counted, and counts no more. */
  end(tx: Database, counter: string): Promise<void>;
  /** Forgets since when is counted: a process that does not count serves. */
  forget(tx: Database): Promise<void>;
  /** Forgets what was before the day of the time, in milliseconds since 1970: its statistics are removed. */
  shorten(tx: Database, beforeMs: number): Promise<void>;
}

const MAX_LOSSY = 100;
// A process that counts says so every minute.
const HOLD_MS = 180_000;
const MAX_GAP_DAYS = 400;

/** The keeper of these tables. */
export function coverageIn({ coverage, counters, gaps, lost }: CoverageTables): CoverageKeeper {
  const selectSince = statement<{ since: number }>(`select since from ${coverage}`);
  const selectLossy = statement<{ day: number }>(
    `select day from ${gaps} where day >= ? order by day desc limit ${MAX_LOSSY}`,
  );
  const countLossy = statement<{ n: number }>(`select count(*) as n from ${gaps} where day >= ?`);
  const begin = statement(`insert into ${coverage} (id, since) values (1, ?) on conflict (id) do nothing`);
  const beginAnew = statement(
    `insert into ${coverage} (id, since) values (1, ?) on conflict (id) do update set since = excluded.since`,
  );
  const shorten = statement(`update ${coverage} set since = ? where since < ?`);
  const forget = statement(`delete from ${coverage}`);
  const addGap = statement(
    `insert into ${gaps} (day, ${lost}) values (?, ?) on conflict (day) do update set ${lost} = ${gaps}.${lost} + excluded.${lost}`,
  );
  const renew = statement(
    `insert into ${counters} (id, time, until_time) values (?, ?, ?) on conflict (id) do update set time = excluded.time, until_time = excluded.until_time`,
  );
  const takeCrashed = statement<{ time: number }>(
    `delete from ${counters} where until_time < ? and id <> ? returning time`,
  );
  const end = statement(`delete from ${counters} where id = ?`);

  return {
    async read(db) {
      const [row] = await selectSince(db);
      if (row === undefined) return { sinceMs: undefined, lossyDays: [], lossyCount: 0 };
      const sinceMs = Number(row.since);
      const days = await selectLossy(db, dayOf(sinceMs));
      const count =
        days.length < MAX_LOSSY ? days.length : Number((await countLossy(db, dayOf(sinceMs)))[0]?.n ?? days.length);
      return { sinceMs, lossyDays: days.map(({ day }) => Number(day)), lossyCount: count };
    },
    async note(tx, { counter, lost: days, begins, nowMs, agreedMs }) {
      const today = dayOf(nowMs);
      for (const { time } of await takeCrashed(tx, agreedMs, counter))
        for (let day = Math.max(dayOf(Number(time)), today - MAX_GAP_DAYS); day <= today; day += 1)
          await addGap(tx, day, 0);
      for (const { day, count } of days) await addGap(tx, day, count);
      if (begins === "anew") await beginAnew(tx, nowMs);
      else if (begins === "where it has not") await begin(tx, nowMs);
      await renew(tx, counter, nowMs, agreedMs + HOLD_MS);
    },
    async end(tx, counter) {
      await end(tx, counter);
    },
    async forget(tx) {
      await forget(tx);
    },
    async shorten(tx, beforeMs) {
      const sinceMs = startOf(dayOf(beforeMs));
      await shorten(tx, sinceMs, sinceMs);
    },
  };
}
