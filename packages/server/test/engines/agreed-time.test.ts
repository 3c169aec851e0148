import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { pino } from "pino";
import type { CallData } from "../../../kernel/src/core/call.ts";
import type { Command } from "../../../kernel/src/core/command.ts";
import { type AgreedTime, openAgreedTime } from "../../src/jobs/agreed-time.ts";
import { openCall } from "../../src/runtime/open-call.ts";
import { dropDatabase, ENGINE, openTestStore } from "../support/database.ts";
import { temporaryFolder } from "../support/installation.ts";
import { eventually } from "../support/eventually.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** An installation whose reference clock the test sets: the machine's on SQLite, the database's on PostgreSQL. */
async function openInstallation(t: TestContext) {
  const folder = temporaryFolder(t);
  t.after(() => dropDatabase(folder));
  if (ENGINE === "postgres") {
    const { db, close } = await openTestStore(folder);
    // Found before PostgreSQL's own, by connections that open from now on.
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
    await sql`alter database ${sql.ref(rows[0]?.name ?? "")} set search_path = public, pg_catalog`.execute(db);
    await close();
  }
  const { store, db, close } = await openTestStore(folder);
  t.after(close);
  let offsetMs = 0;
  const set = async (ms: number): Promise<void> => {
    offsetMs = ms;
    if (ENGINE === "postgres")
      await sql`create or replace function public.clock_timestamp() returns timestamptz language sql volatile
        as ${sql.lit(`select pg_catalog.clock_timestamp() + interval '${ms} milliseconds'`)}`.execute(db);
  };
  await set(0);
  const clock = { nowMs: () => Date.now() + offsetMs, monotonicMs: () => performance.now() };
  const write = <Input, Output>(command: Command<Input, Output, never>, data: CallData, input: Input) =>
    store.transact((tx) => command.run(openCall(data, tx), input, undefined as never));
  const open = async (): Promise<AgreedTime> => {
    const log = pino({ level: "silent" });
    const agreed = await openAgreedTime({ store, transactor: { write }, clock, log, everyMs: 10 });
    t.after(() => agreed.close());
    return agreed;
  };
  return { set, open, reader: store.reader };
}

test("agreed time goes on evenly when the reference is set back or forward, in all processes and in those that start later", async (t) => {
  const { set, open, reader } = await openInstallation(t);
  const [first, second] = [await open(), await open()];
  const sinceMs = (agreed: AgreedTime): number => agreed.nowMs() - performance.now();
  const startMs = sinceMs(first);
  const correction = async (): Promise<number> =>
    Number(
      (await reader.selectFrom("installation").select("value").where("key", "=", "time-correction").executeTakeFirst())
        ?.value ?? 0,
    );
  for (const offsetMs of [-HOUR_MS, HOUR_MS, 0]) {
    await set(offsetMs);
    // The correction makes up for what was set, whoever stored it.
    await eventually(async () => Math.abs((await correction()) + offsetMs) <= MINUTE_MS);
    const third = await open();
    const isEven = (agreed: AgreedTime): boolean => Math.abs(sinceMs(agreed) - startMs) < MINUTE_MS;
    assert.ok(isEven(third), `after ${offsetMs}: ${sinceMs(third) - startMs}`);
    // As soon as both have compared their clocks again.
    await eventually(() => isEven(first) && isEven(second));
    // And several times more.
    await wait(100);
    assert.ok([first, second, third].every(isEven));
    assert.ok(Math.abs((await correction()) + offsetMs) < MINUTE_MS, "corrected once");
    await third.close();
  }
});
