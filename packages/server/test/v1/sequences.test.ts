import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";
import { type Platform, startPlatform } from "../support/platform.ts";
import { sized } from "../support/extent.ts";
import { runTwins } from "../support/v1/twins.ts";

const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? randomInt(2 ** 31));
// What is compared are rows by API calls, which are hardly different on PostgreSQL: fewer of them there.
const IS_POSTGRES = (process.env["MOORAGE_TEST_POSTGRES_URL"] ?? "") !== "";
// More by hand: MOORAGE_TEST_SEQUENCES=10000 npm test -- v1/sequences.
const SEQUENCES = Number(process.env["MOORAGE_TEST_SEQUENCES"] ?? sized(60, IS_POSTGRES ? 200 : 1_000));
/** How many sequences run beside each other, each in organizations of its own. */
const CONCURRENCY = 4;

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

test("calls of v1 and v2 leave the same rows as calls of v2 alone", { timeout: 1_800_000 }, async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}`);
  const codes = new Map<number, number>();
  const left = Array.from({ length: SEQUENCES }, (_, count) => count);
  const worker = async (): Promise<void> => {
    for (let count = left.pop(); count !== undefined; count = left.pop()) {
      const found = await runTwins(platform, SEED, count);
      for (const [code, times] of found) codes.set(code, (codes.get(code) ?? 0) + times);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const words = [...codes].toSorted(([one], [other]) => one - other).map(([code, times]) => `${times} of ${code}`);
  t.diagnostic(`${SEQUENCES} sequences, steps by their codes: ${words.join(", ")}`);
  // Most steps succeed; some name what is gone, what is there already, or what is wrong.
  for (const code of [0, 3, 5, 6, 9]) assert.ok((codes.get(code) ?? 0) > 0, `some steps have the code ${code}`);
});
