import { setImmediate } from "node:timers/promises";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Database, statement } from "@moorage/kernel/store";
import { dayOf } from "@moorage/kernel/lib/days";
import { bytesOf, type MeasuredGroup } from "./bytes.ts";

interface MeasureDeps {
  writer: CommandWriter;
  reader: Database;
  clock: Clock;
}

// Groups that are written in one transaction.
const BATCH = 50;
const selectUnmeasured = statement<{ uid: string }>(
  `select g.uid from groups as g where g.uid > ? and not exists
    (select 1 from usage_days as u where u.grp = g.uid and u.day = ?) order by g.uid limit ${BATCH}`,
);
const insertMeasured = statement(
  "insert into usage_days (grp, day, bytes, at_least, time) values (?, ?, ?, ?, ?) on conflict (grp, day) do update set bytes = excluded.bytes, at_least = excluded.at_least, time = excluded.time",
);

/** Keeps what groups take up today. */
export const writeUsage = command(
  "registry.writeUsage",
  async ({ tx, nowMs }: Call, { measured }: { measured: readonly MeasuredGroup[] }): Promise<void> => {
    for (const { group, bytes, atLeast } of measured)
      await insertMeasured(tx, group, dayOf(nowMs), bytes, atLeast ? 1 : 0, nowMs);
  },
  { isolation: "read committed" },
);

/**
 * Measures what each group takes up that was not measured today, one after the other, so that requests get their turn.
 * Returns how many. `signal` stops it between two groups.
 */
export async function measureUsage(
  { writer, reader, clock }: MeasureDeps,
  signal: AbortSignal,
): Promise<{ groups: number }> {
  let groups = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    const found: { uid: string }[] = await selectUnmeasured(reader, after, dayOf(clock.nowMs()));
    const measured: MeasuredGroup[] = [];
    for (const { uid } of found) {
      signal.throwIfAborted();
      measured.push(await bytesOf(reader, uid));
      await setImmediate();
    }
    if (measured.length > 0) await writer.write(writeUsage, systemCallNow(clock), { measured });
    groups += measured.length;
    after = found.length < BATCH ? undefined : found.at(-1)?.uid;
  }
  return { groups };
}
