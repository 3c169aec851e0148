import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { clockOf } from "@moorage/kernel/lib/clock";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { eventually } from "../../../../server/test/support/eventually.ts";
import { createDownloadCounter } from "./counter.ts";
import type { CountedDownloads, DownloadPart } from "./parts.ts";

/** A counter of at most two sums, whose writer does what `write` says; `parts` lists what was written. */
function open(t: TestContext, write: () => Promise<void> = async () => {}) {
  const parts: DownloadPart[] = [];
  const ended: string[] = [];
  const lost = { count: 0 };
  const writer = {
    async write(_command: unknown, _data: unknown, input: DownloadPart | { counter: string }) {
      await write();
      if ("downloads" in input) parts.push(input);
      else ended.push(input.counter);
    },
  } as unknown as CommandWriter;
  const counter = createDownloadCounter({
    writer,
    clock: clockOf(() => 5),
    log: { error() {}, warn() {} },
    lost: (count) => void (lost.count += count),
    everyMs: 5,
    maxCounts: 2,
  });
  t.after(() => counter.close());
  const note = (version: string, nowMs = 5, identity = "ann"): void =>
    counter.note({ artifact: "g/a", version: `g/a/${version}` }, { identity, nowMs });
  return { counter, note, parts, ended, lost };
}
const downloadsOf = ({ downloads }: DownloadPart): CountedDownloads[] => Object.values(JSON.parse(downloads) as object);

test("equal downloads are one sum, and all is written at the end", async (t) => {
  const { counter, note, parts, ended } = open(t);
  note("1");
  note("1", 9);
  note("1", 7, "bob");
  await counter.close();
  const sum = { artifact: "g/a", version: "g/a/1", day: 0 };
  assert.deepEqual(parts.flatMap(downloadsOf), [
    { ...sum, identity: "ann", count: 2, lastMs: 9 },
    { ...sum, identity: "bob", count: 1, lastMs: 7 },
  ]);
  assert.deepEqual(ended, [parts[0]?.counter]);
});

test("while nothing can be written, what is known is counted on, and the rest is counted as lost", async (t) => {
  let fails = true;
  const { counter, note, parts, lost } = open(t, async () => {
    if (fails) throw new Error("the database is gone");
  });
  for (const version of ["1", "2", "3", "1", "4"]) note(version);
  assert.equal(lost.count, 2);
  fails = false;
  await eventually(() => Promise.resolve(parts.flatMap(downloadsOf).length === 2));
  await counter.close();
  assert.deepEqual(
    parts.flatMap(downloadsOf).map(({ version, count }) => [version, count]),
    [
      ["g/a/1", 2],
      ["g/a/2", 1],
    ],
  );
  assert.deepEqual(
    parts.flatMap((part) => part.lost),
    [{ day: 0, count: 2 }],
  );
});

test("a counter that cannot write its last sums does not end as if nothing was lost", async (t) => {
  const { counter, note, ended } = open(t, () => Promise.reject(new Error("the database is gone")));
  note("1");
  await counter.close();
  assert.deepEqual(ended, []);
});
