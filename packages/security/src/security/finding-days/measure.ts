import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Database, select, statement } from "@moorage/kernel/store";
import { removeExpired } from "@moorage/kernel/work";
import { DAY_MS } from "./day.ts";
import { countOpen, type Counts, type GroupCounts, SEVERITY_COLUMNS } from "./sums.ts";

interface MeasureDeps {
  writer: CommandWriter;
  reader: Database;
  clock: Clock;
}

/** The counts of a group; without, nothing is open in it. */
export interface MeasuredGroup {
  group: string;
  counts: GroupCounts | undefined;
}

// Groups that are written in one transaction, and days that are removed in one.
const BATCH = 200;
const MAX_EXPIRED = 1_000;
const COLUMNS = [...SEVERITY_COLUMNS, "unknown_images", "at_least", "time"];
const insertDay = statement(
  `insert into finding_days (grp, day, ${COLUMNS.join(", ")}) values (?, ?, ${COLUMNS.map(() => "?").join(", ")})
   on conflict (grp, day) do update set ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(", ")}`,
);
const deleteBefore = statement<{ grp: string }>(
  `delete from finding_days where (grp, day) in
    (select grp, day from finding_days where day < ? order by day limit ${MAX_EXPIRED}) returning grp`,
);

/** Keeps what is open in groups today, in place of what was counted earlier today. */
export const writeFindingDays = command(
  "security.writeFindingDays",
  async (
    { tx, nowMs }: Call,
    { measured, isAtLeast }: { measured: readonly MeasuredGroup[]; isAtLeast: boolean },
  ): Promise<void> => {
    const day = Math.floor(nowMs / DAY_MS);
    for (const { group, counts } of measured) {
      const values = [...SEVERITY_COLUMNS, "unknown_images" as const].map((name) => counts?.[name] ?? 0);
      await insertDay(tx, group, day, ...values, isAtLeast ? 1 : 0, nowMs);
    }
  },
  { isolation: "read committed" },
);

/** Removes days from before the time, in milliseconds since 1970. `more`: whether there may be more. */
export const expireFindingDays = command(
  "security.expireFindingDays",
  async ({ tx }: Call, { beforeMs }: { beforeMs: number }): Promise<{ removed: number; more: boolean }> => {
    const removed = (await deleteBefore(tx, Math.floor(beforeMs / DAY_MS))).length;
    return { removed, more: removed === MAX_EXPIRED };
  },
  { isolation: "read committed" },
);

/**
 * Counts what is open in each group, and keeps it as that of today. Returns how many groups there are. `signal` ends it
 * between two steps, and it rejects then.
 */
export async function measureFindings(
  { writer, reader, clock }: MeasureDeps,
  signal: AbortSignal,
): Promise<{ groups: number }> {
  const { groups, isAtLeast }: Counts = await countOpen(reader, signal);
  let written = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    signal.throwIfAborted();
    const found: { uid: string }[] = await select<{ uid: string }>(
      reader,
      `select uid from groups where uid > ? order by uid limit ${BATCH}`,
      [after],
    );
    const measured = found.map(({ uid }) => ({ group: uid, counts: groups.get(uid) }));
    if (measured.length > 0) await writer.write(writeFindingDays, systemCallNow(clock), { measured, isAtLeast });
    written += measured.length;
    after = found.length < BATCH ? undefined : found.at(-1)?.uid;
  }
  return { groups: written };
}

/** Removes days that are older than the retention, in several transactions. Returns how many rows. */
export async function findingDaysRetention(
  { writer, clock, retentionMs }: Omit<MeasureDeps, "reader"> & { retentionMs: number },
  signal: AbortSignal,
): Promise<{ findings: number }> {
  return await removeExpired(
    ["findings"],
    () => writer.write(expireFindingDays, systemCallNow(clock), { beforeMs: clock.nowMs() - retentionMs }),
    signal,
  );
}
