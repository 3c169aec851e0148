import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { startPlatform } from "../support/platform.ts";
import { sized } from "../support/extent.ts";
import { runTwins } from "../support/v1/twins.ts";

const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? randomInt(2 ** 31));
// What is compared are rows by API calls, which are hardly different on PostgreSQL: no more of them there.
const IS_POSTGRES = (process.env["MOORAGE_TEST_POSTGRES_URL"] ?? "") !== "";
// More by hand: MOORAGE_TEST_SEQUENCES=10000 npm test -- v1/sequences.
const SEQUENCES = Number(process.env["MOORAGE_TEST_SEQUENCES"] ?? sized(12, IS_POSTGRES ? 60 : 1_000));
/** How many sequences run beside each other, each in organizations of its own. */
const CONCURRENCY = 4;

/** The owner of an installation owns all of its organizations, two of each sequence: so many share one. */
const BATCH = 100;

test("calls of v1 and v2 leave the same rows as calls of v2 alone", { timeout: 900_000 }, async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}`);
  const codes = new Map<number, number>();
  const left = Array.from({ length: SEQUENCES }, (_, count) => count);
  while (left.length > 0) {
    const batch = left.splice(0, BATCH);
    const platform = await startPlatform();
    try {
      const worker = async (): Promise<void> => {
        for (let count = batch.shift(); count !== undefined; count = batch.shift())
          for (const [code, times] of await runTwins(platform, SEED, count))
            codes.set(code, (codes.get(code) ?? 0) + times);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    } finally {
      await platform.close();
    }
  }
  const words = [...codes].toSorted(([one], [other]) => one - other).map(([code, times]) => `${times} of ${code}`);
  t.diagnostic(`${SEQUENCES} sequences, steps by their codes: ${words.join(", ")}`);
  // Most steps succeed; some name what is gone, what is there already, or what is wrong: with few sequences not each.
  const expected = SEQUENCES < 50 ? [0] : [0, 3, 5, 6, 9];
  for (const code of expected) assert.ok((codes.get(code) ?? 0) > 0, `some steps have the code ${code}`);
});
