import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { clockOf } from "@moorage/kernel/lib/clock";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { eventually } from "../../../../server/test/support/eventually.ts";
import type { AnsweredPull, CountedPart, CountedPulls, LastPull, PulledContent } from "./parts.ts";
import { createPullCounter } from "./counter.ts";

const PULL: AnsweredPull & PulledContent = {
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
function open(t: TestContext, write: () => Promise<void> = async () => {}, maxCounts = 10, maxLast = 10) {
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
    maxCounts,
    maxLast,
  });
  t.after(() => counter.close());
  const note = (pull: AnsweredPull & PulledContent): void => counter.note(pull, pull);
  return { counter, note, parts, ended, lost };
}

/** What a part has as JSON. */
const pullsOf = ({ pulls }: CountedPart): CountedPulls[] => Object.values(JSON.parse(pulls) as object);
const lastOf = ({ last }: CountedPart): LastPull[] => Object.values(JSON.parse(last) as object);

test("equal pulls are one sum, a HEAD only a last pull, and a layer only bytes", async (t) => {
  const { counter, note, parts, ended } = open(t);
  note(PULL);
  note({ ...PULL, nowMs: 7 });
  note({ ...PULL, tag: "v2", method: "HEAD", nowMs: 9 });
  note({ ...PULL, tag: "", digest: "sha256:layer", type: "blob", bytes: 3 });
  note({ ...PULL, tag: "", digest: "sha256:other", type: "blob", bytes: 4 });
  note({ ...PULL, tag: "", digest: "sha256:layer", type: "blob", method: "HEAD" });
  await counter.close();
  const sum = { day: 0, repo: "a/b", identity: "ann" };
  assert.deepEqual(parts.flatMap(pullsOf), [
    { ...sum, tag: "v1", digest: "sha256:c", count: 2, bytes: 20, firstMs: 5, lastMs: 7 },
    { ...sum, tag: "", digest: "", count: 0, bytes: 7, firstMs: 5, lastMs: 5 },
  ]);
  assert.deepEqual(
    parts.flatMap(lastOf).map(({ tag, timeMs }) => [tag, timeMs]),
    [
      ["v1", 7],
      ["v2", 9],
    ],
  );
  assert.deepEqual(ended, [parts[0]?.counter], "it says that it wrote everything");
});

test("pulls of a cached answer are the same sums, before and after these are written, by day and identity", async (t) => {
  const gate = { open: false, tries: 0 };
  const { counter, parts } = open(t, async () => {
    gate.tries += 1;
    if (!gate.open) throw new Error("on purpose");
  });
  const { method, identity, bytes, nowMs, ...content } = PULL;
  const pull = { method, identity, bytes, nowMs };
  counter.note(content, { ...pull, method: "HEAD" });
  counter.note(content, pull);
  counter.note(content, { ...pull, nowMs: 3 });
  // What could not be written is counted on.
  const { tries } = gate;
  await eventually(() => gate.tries > tries + 1);
  counter.note(content, { ...pull, nowMs: 9 });
  counter.note(content, { ...pull, identity: "bob" });
  counter.note(content, { ...pull, nowMs: 86_400_000 });
  gate.open = true;
  await eventually(() => parts.length > 0);
  counter.note(content, { ...pull, nowMs: 11 });
  await counter.close();
  const sums = new Map<string, [count: number, firstMs: number, lastMs: number]>();
  for (const { day, identity: by, count, firstMs, lastMs } of parts.flatMap(pullsOf)) {
    const [known = 0, first = firstMs, last = lastMs] = sums.get(`${day} ${by}`) ?? [];
    sums.set(`${day} ${by}`, [known + count, Math.min(first, firstMs), Math.max(last, lastMs)]);
  }
  assert.deepEqual(Object.fromEntries(sums), {
    "0 ann": [4, 3, 11],
    "0 bob": [1, 5, 5],
    "1 ann": [1, 86_400_000, 86_400_000],
  });
  assert.equal(Math.max(...parts.flatMap(lastOf).map(({ timeMs }) => timeMs)), 86_400_000);
});

test("what cannot be written is kept and written later; counts that do not fit are lost, and said to be", async (t) => {
  const gate = { open: false };
  const write = async (): Promise<void> => {
    if (!gate.open) throw new Error("on purpose");
  };
  const { counter, note, parts, lost } = open(t, write, 10, 12);
  for (let at = 0; at < 12; at += 1) note({ ...PULL, identity: `person ${at}` });
  note({ ...PULL, identity: "person 0" });
  assert.equal(lost.count, 2);
  gate.open = true;
  await eventually(() => parts.length > 0);
  await counter.close();
  const counted = parts.flatMap(pullsOf);
  assert.deepEqual([counted.length, counted.reduce((sum, { count }) => sum + count, 0)], [10, 11]);
  assert.deepEqual(
    parts.flatMap((part) => part.lost),
    [{ day: 0, pulls: 2 }],
  );
  assert.ok(
    parts.every(({ lostLast }) => !lostLast),
    "there is more space for last pulls",
  );
});

test("when not even last pulls fit, what is pulled is known only from then on", async (t) => {
  const { counter, note, parts } = open(t);
  for (let at = 0; at < 11; at += 1) note({ ...PULL, method: "HEAD", digest: `sha256:${at}` });
  await counter.close();
  assert.equal(parts.filter(({ lostLast }) => lostLast).length, 1);
});

test("a part that fails is written once, and what is left unwritten leaves the process counted as crashed", async (t) => {
  const failures = { left: 1 };
  const failing = open(t, async () => {
    if (failures.left-- > 0) throw new Error("on purpose");
  });
  failing.note(PULL);
  await eventually(() => failing.parts.length > 0);
  await failing.counter.close();
  assert.equal(failing.parts.flatMap(pullsOf).length, 1);

  const broken = open(t, async () => {
    throw new Error("on purpose");
  });
  broken.note(PULL);
  await broken.counter.close();
  assert.deepEqual([broken.parts, broken.ended], [[], []]);
});
