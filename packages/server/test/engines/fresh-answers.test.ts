import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { diceOf } from "../support/dice.ts";
import { sized } from "../support/extent.ts";
import { writerOf } from "../support/fresh/changes.ts";
import { founded } from "../support/fresh/founding.ts";
import { startHouse } from "../support/fresh/house.ts";
import { themesOf, runTheme } from "../support/fresh/themes.ts";
import { type Run, step } from "../support/fresh/steps.ts";

// Whatever a process keeps of answers, rights and tokens: after each write that was answered, every process must answer
// as one that keeps nothing. On SQLite two workers, on PostgreSQL three replicas.

const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? randomInt(2 ** 31));
// Of both engines: npm run test:nightly compares 100,000. An answer takes 1 to 5 ms.
const ANSWERS = Number(process.env["MOORAGE_TEST_ANSWERS"] ?? sized(800, 20_000));
const WRITES = sized(10, 150);
const LIMIT = { timeout: 900_000 + ANSWERS * 30 };

// Has every command of a push declare that it changes nothing.
const FORGETS = new URL("../support/fresh/forget-keys.ts", import.meta.url);
const PROGRAM = fileURLToPath(new URL("../support/fresh/forgetful-process.ts", import.meta.url));

test("a command that does not declare a tag which it moves is found by stale answers", async (t) => {
  // Where rows are watched, the command itself fails (declarations.test.ts).
  const env = { NODE_OPTIONS: `--import=${FORGETS.href}`, MOORAGE_TEST_DECLARATIONS: "" };
  const house = await startHouse(t, { program: PROGRAM, env });
  const dice = diceOf(SEED);
  const connections = house.processes.flat();
  const tokens = {
    platform: await house.tokenOf("platform", house.owner),
    registry: await house.tokenOf("registry", house.owner),
  };
  const writer = writerOf(tokens, () => dice.pick(connections));
  const [moving] = await themesOf(house, writer, await founded(house, writer, dice));
  assert.ok(moving !== undefined);
  const { wrong = "" } = await runTheme(moving, WRITES, connections, dice);
  assert.match(wrong, /^a tag moves, .* had been answered; it shows/);
});

test("answers beside random writes", LIMIT, async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}`);
  const dice = diceOf(SEED);
  // Of its own: concurrent writes come in no fixed order.
  const writing = diceOf(SEED, 1);
  const house = await startHouse(t);
  const connections = house.processes.flat();
  const tokens = {
    platform: await house.tokenOf("platform", house.owner),
    registry: await house.tokenOf("registry", house.owner),
  };
  const writer = writerOf(tokens, () => writing.pick(connections));
  const world = await founded(house, writer, dice);

  await t.test("after each write every answer is that of a server that keeps nothing", async (steps) => {
    await house.uncached.renew();
    const run: Run = { seed: SEED, house, world, writer, dice, compared: 0, statuses: new Map(), last: [] };
    let count = 0;
    for (; run.compared < ANSWERS; count += 1) await step(run, count);
    const found = [...run.statuses].sort(([one], [other]) => one - other);
    const words = found.map(([status, times]) => `${times} of ${status}`).join(", ");
    steps.diagnostic(`${run.compared} answers in ${count} steps: ${words}`);
    for (const status of [200, 304, 403, 404]) assert.ok((run.statuses.get(status) ?? 0) > 0, `some are ${status}`);
  });

  await t.test(
    "a read that begins after a write was answered shows it, while others write and read",
    async (themes) => {
      const all = await themesOf(house, writer, world);
      const done = await Promise.all(all.map((theme) => runTheme(theme, WRITES, connections, writing)));
      const wrong = done.flatMap((each) => each.wrong ?? []);
      assert.deepEqual(wrong, [], `MOORAGE_TEST_SEED=${SEED}`);
      themes.diagnostic(
        `${done.reduce((sum, { answers }) => sum + answers, 0)} answers during ${all.length * WRITES} writes`,
      );
    },
  );
  assert.deepEqual(house.complaints(), []);
});
