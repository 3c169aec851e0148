import { type Database, statement } from "@moorage/kernel/store";
import { dayOf } from "@moorage/kernel/lib/days";

/** Who pulled an image, and when. Times are in milliseconds since 1970. */
export interface Puller {
  /** Empty without a log-in. */
  identity: string;
  firstMs: number;
  lastMs: number;
  /** 0 when it only asked for the manifest. */
  count: number;
}

const selectPullers = statement<Record<"first_time" | "last_time" | "count", number> & { identity: string }>(
  `select identity, min(first_time) as first_time, max(last_time) as last_time, sum(count) as count from pull_days
    where digest = ? and repo = ? and day >= ? and last_time >= ? group by identity order by identity limit ?`,
);
const selectLast = statement<{ time: number; identity: string }>(
  "select time, identity from last_pulls where repo = ? and digest = ? and time >= ?",
);

/**
 * Who pulled a manifest since the time, by identity; the first `max`. Of who only asked for it, the last one is among
 * them. A first pull on the day of the time may be any later one of that day, and is taken for the earliest it can be.
 */
export async function pullersOf(
  db: Database,
  { repo, digest }: { repo: string; digest: string },
  sinceMs: number,
  max: number,
): Promise<Puller[]> {
  const rows = await selectPullers(db, digest, repo, dayOf(sinceMs), sinceMs, max);
  const pullers = rows.map(({ identity, first_time: first, last_time: last, count }) => ({
    identity,
    firstMs: Math.max(Number(first), sinceMs),
    lastMs: Number(last),
    count: Number(count),
  }));
  const [last] = await selectLast(db, repo, digest, sinceMs);
  if (last === undefined) return pullers;
  const known = pullers.find(({ identity }) => identity === last.identity);
  const lastMs = Number(last.time);
  if (known !== undefined) known.lastMs = Math.max(known.lastMs, lastMs);
  else if (pullers.length < max) pullers.push({ identity: last.identity, firstMs: lastMs, lastMs, count: 0 });
  return pullers.sort((one, other) => (one.identity < other.identity ? -1 : 1));
}
