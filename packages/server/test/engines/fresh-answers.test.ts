import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { diceOf } from "../support/dice.ts";
import { sized } from "../support/extent.ts";
import { writerOf } from "../support/fresh/changes.ts";
import { founded } from "../support/fresh/founding.ts";
import { startHouse } from "../support/fresh/house.ts";
import { type Run, step } from "../support/fresh/steps.ts";

// Whatever a process keeps of answers, rights and tokens: after each write that was answered, every process must answer
// as one that keeps nothing. On SQLite two workers, on PostgreSQL three replicas.

const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? randomInt(2 ** 31));
const ANSWERS = Number(process.env["MOORAGE_TEST_ANSWERS"] ?? sized(2_000, 100_000));
const LIMIT = { timeout: 600_000 };

test("after each write every answer is that of a server that keeps nothing", LIMIT, async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}`);
  const dice = diceOf(SEED);
  const house = await startHouse(t);
  // Of its own: writes at the same time come in no fixed order.
  const writing = diceOf(SEED, 1);
  const connections = house.processes.flat();
  const tokens = {
    platform: await house.tokenOf("platform", house.owner),
    registry: await house.tokenOf("registry", house.owner),
  };
  const writer = writerOf(tokens, () => writing.pick(connections));
  const world = await founded(house, writer, dice);
  await house.uncached.renew();
  const run: Run = { seed: SEED, house, world, writer, dice, compared: 0, statuses: new Map(), last: [] };
  let steps = 0;
  for (; run.compared < ANSWERS; steps += 1) await step(run, steps);
  const byStatus = [...run.statuses].sort(([one], [other]) => one - other);
  t.diagnostic(
    `${run.compared} answers in ${steps} steps: ${byStatus.map(([status, count]) => `${count} of ${status}`).join(", ")}`,
  );
  for (const status of [200, 304, 401, 403, 404]) assert.ok((run.statuses.get(status) ?? 0) > 0, `some are ${status}`);
  assert.deepEqual(house.complaints(), []);
});
