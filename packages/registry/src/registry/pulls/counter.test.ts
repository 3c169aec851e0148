import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { clockOf } from "@moorage/kernel/lib/clock";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { eventually } from "../../../../server/test/support/eventually.ts";
import type { CountedPart } from "./parts.ts";
import { type AnsweredPull, createPullCounter } from "./counter.ts";

const PULL: AnsweredPull = {
  repo: "a/b",
  tag: "v1",
  digest: "sha256:c",
  type: "manifest",
  method: "GET",
  identity: "ann",
  bytes: 10,
  nowMs: 5,
};

/** A counter whose writer does what `write` says; `parts` lists what was written. */
function open(t: TestContext, write: () => Promise<void> = async () => {}, max = 10) {
  const parts: CountedPart[] = [];
  const ended: string[] = [];
  const lost = { count: 0 };
  const writer = {
    async write(_command: unknown, _data: unknown, input: CountedPart | { counter: string }) {
      await write();
      if ("pulls" in input) parts.push(input);
      else ended.push(input.counter);
    },
  } as unknown as CommandWriter;
  const counter = createPullCounter({
    writer,
    clock: clockOf(() => 5),
    log: { error() {}, warn() {} },
    lost: (count) => void (lost.count += count),
    everyMs: 5,
    maxCounts: max,
    maxLast: max,
  });
  t.after(() => counter.close());
  return { counter, parts, ended, lost };
}

test("equal pulls are one sum, a HEAD only a last pull, and a layer only bytes", async (t) => {
  const { counter, parts, ended } = open(t);
  counter.note(PULL);
  counter.note({ ...PULL, nowMs: 7 });
  counter.note({ ...PULL, tag: "v2", method: "HEAD", nowMs: 9 });
  counter.note({ ...PULL, tag: "", digest: "sha256:layer", type: "blob", bytes: 3 });
  counter.note({ ...PULL, tag: "", digest: "sha256:other", type: "blob", bytes: 4 });
  counter.note({ ...PULL, tag: "", digest: "sha256:layer", type: "blob", method: "HEAD" });
  await counter.close();
  const sum = { day: 0, repo: "a/b", identity: "ann" };
  assert.deepEqual(
    parts.flatMap(({ pulls }) => pulls),
    [
      { ...sum, tag: "", digest: "", count: 0, bytes: 7, firstMs: 5, lastMs: 5 },
      { ...sum, tag: "v1", digest: "sha256:c", count: 2, bytes: 20, firstMs: 5, lastMs: 7 },
    ],
  );
  assert.deepEqual(
    parts.flatMap(({ last }) => last.map(({ tag, timeMs }) => [tag, timeMs])),
    [
      ["v1", 7],
      ["v2", 9],
    ],
  );
  assert.deepEqual(ended, [parts[0]?.counter], "it says that it wrote everything");
});

test("what cannot be written is kept and written later; counts that do not fit are lost, and said to be", async (t) => {
  const gate = { open: false };
  const { counter, parts, lost } = open(t, async () => {
    if (!gate.open) throw new Error("on purpose");
  });
  for (let at = 0; at < 12; at += 1) counter.note({ ...PULL, identity: `person ${at}` });
  counter.note({ ...PULL, identity: "person 0" });
  assert.equal(lost.count, 2);
  gate.open = true;
  await eventually(() => parts.length > 0);
  await counter.close();
  const counted = parts.flatMap(({ pulls }) => pulls);
  assert.deepEqual([counted.length, counted.reduce((sum, { count }) => sum + count, 0)], [10, 11]);
  assert.deepEqual(
    parts.flatMap((part) => part.lost),
    [{ day: 0, pulls: 2 }],
  );
  assert.ok(
    parts.every(({ lostLast }) => !lostLast),
    "the last pull is of one manifest, whoever pulled it",
  );
});

test("when not even last pulls fit, what is pulled is known only from then on", async (t) => {
  const { counter, parts } = open(t);
  for (let at = 0; at < 11; at += 1) counter.note({ ...PULL, method: "HEAD", digest: `sha256:${at}` });
  await counter.close();
  assert.equal(parts.filter(({ lostLast }) => lostLast).length, 1);
});

test("a part that fails is written once, and what is left unwritten leaves the process counted as crashed", async (t) => {
  const failures = { left: 1 };
  const failing = open(t, async () => {
    if (failures.left-- > 0) throw new Error("on purpose");
  });
  failing.counter.note(PULL);
  await eventually(() => failing.parts.length > 0);
  await failing.counter.close();
  assert.equal(failing.parts.flatMap(({ pulls }) => pulls).length, 1);

  const broken = open(t, async () => {
    throw new Error("on purpose");
  });
  broken.counter.note(PULL);
  await broken.counter.close();
  assert.deepEqual([broken.parts, broken.ended], [[], []]);
});
