import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Caller } from "@moorage/kernel/core/call";
import type { BufferedPulls } from "@moorage/platform/events";
import { createPullRecorder } from "./recorder.ts";
import type { Pull } from "./batch.ts";
import { eventually } from "../../../../server/test/support/eventually.ts";

const PULL: Pull = { repository: "acme/app", repo: "a/b", tag: "v1", digest: "sha256:c", type: "manifest" };
const ANN: Caller = { identity: "ann", act: { iss: "https://issuer.example.com", sub: "ann" } };
const BOB: Caller = { identity: "bob" };

/** A recorder whose writer does what `write` says; `written` lists the batches that were written. */
function open(t: TestContext, write: (pulls: string) => Promise<{ kept: boolean }> = async () => ({ kept: true })) {
  const written: BufferedPulls[][] = [];
  const logged: object[] = [];
  const counts = { dropped: 0, kept: 0, attempts: 0 };
  const recorder = createPullRecorder({
    writer: {
      async write(_name, _data, { pulls }) {
        counts.attempts += 1;
        const answer = await write(pulls);
        if (answer.kept) written.push(JSON.parse(pulls) as BufferedPulls[]);
        return answer;
      },
    },
    clock: { nowMs: () => 1 },
    log: { error: (fields) => void logged.push(fields) },
    kept: () => {
      counts.kept += 1;
    },
    dropped: (count) => {
      counts.dropped += count;
    },
  });
  t.after(() => recorder.close());
  const note = (caller = ANN, change: Partial<Pull & { nowMs: number; userAgent: string }> = {}): void => {
    const { nowMs = 5, userAgent = "client/1", ...pull } = change;
    recorder.note(
      { caller: { identity: "not yet known" }, requestId: "", nowMs, remoteAddress: "192.0.2.1", userAgent },
      caller,
      { ...PULL, ...pull },
      "GET",
    );
  };
  return { recorder, note, written, logged, counts };
}

const times = (batch: BufferedPulls[] = []): number[] =>
  batch
    .flatMap(({ contents }) => contents)
    .flatMap(({ timesMs }) => timesMs)
    .sort((one, other) => one - other);

test("pulls share what they have in common, and each keeps its content and its time", async (t) => {
  const { recorder, note, written } = open(t);
  note(ANN, { nowMs: 1 });
  note(ANN, { nowMs: 2 });
  note(BOB, { nowMs: 3 });
  note({ ...BOB }, { nowMs: 4 });
  note(BOB, { tag: "", nowMs: 5 });
  note(BOB, { digest: "sha256:d", nowMs: 6 });
  note(BOB, { nowMs: 7 });
  const others: Partial<Pull & { userAgent: string }>[] = [
    { repo: "a/c" },
    { repository: "acme/other" },
    { type: "blob" },
    { userAgent: "client/2" },
  ];
  for (const change of others) note(BOB, change);
  note(ANN, { nowMs: 6, userAgent: "x".repeat(1_000) });
  await recorder.close();
  assert.equal(written.length, 1);
  const [first, second, third, ...rest] = written[0] ?? [];
  const { tag, digest, ...common } = PULL;
  const alike = { ...common, method: "GET", remoteAddress: "192.0.2.1", userAgent: "client/1" };
  assert.deepEqual(first, { ...alike, actor: ANN, contents: [{ tag, digest, timesMs: [1, 2] }] });
  const bob = { ...alike, actor: { identity: "bob", act: {} } };
  const several = [
    { tag, digest, timesMs: [3, 7] },
    { tag: "", digest, timesMs: [5] },
    { tag, digest: "sha256:d", timesMs: [6] },
  ];
  assert.deepEqual(second, { ...bob, contents: several });
  const another = { ...bob, contents: [{ tag, digest, timesMs: [4] }] };
  assert.deepEqual(third, another, "another token of the same identity");
  assert.equal(rest.length, 5);
  assert.equal(rest.at(-1)?.userAgent.length, 256);
});

test("pulls are written in batches of a thousand, alike or not, and the rest at close", async (t) => {
  const { recorder, note, written, counts } = open(t);
  for (let at = 0; at < 2_200; at += 1) note(ANN, { nowMs: at, ...(at % 2 === 0 && { tag: `v${at}` }) });
  await recorder.close();
  assert.deepEqual(
    written.map((batch) => times(batch).length),
    [1_000, 1_000, 200],
  );
  assert.deepEqual(
    written.flatMap(times),
    Array.from({ length: 2_200 }, (_, at) => at),
    "in their order",
  );
  assert.deepEqual(counts, { dropped: 0, kept: 3, attempts: 3 });
});

test("a repeated pull is recorded for each client, method and user agent", async (t) => {
  const { recorder, written } = open(t);
  const data = { caller: ANN, requestId: "", nowMs: 1, remoteAddress: "192.0.2.1", userAgent: "client/1" };
  const again = [
    [data, ANN, "GET"],
    [data, ANN, "GET"],
    [data, BOB, "GET"],
    [data, ANN, "GET"],
    [{ ...data, remoteAddress: "192.0.2.2" }, ANN, "GET"],
    [data, ANN, "HEAD"],
    [{ ...data, userAgent: "client/2" }, ANN, "HEAD"],
    [data, ANN, "HEAD"],
  ] as const;
  for (const [call, caller, method] of again) recorder.note(call, caller, PULL, method);
  await recorder.close();
  const shown = written[0]?.map(({ actor, remoteAddress, userAgent, method, contents }) => [
    actor.identity,
    remoteAddress,
    userAgent,
    method,
    contents[0]?.timesMs.length,
  ]);
  assert.deepEqual(shown, [
    ["ann", "192.0.2.1", "client/1", "GET", 3],
    ["bob", "192.0.2.1", "client/1", "GET", 1],
    ["ann", "192.0.2.2", "client/1", "GET", 1],
    ["ann", "192.0.2.1", "client/1", "HEAD", 2],
    ["ann", "192.0.2.1", "client/2", "HEAD", 1],
  ]);
});

test("a few pulls are written soon without a full batch", async (t) => {
  const { note, written } = open(t);
  note();
  await eventually(() => written.length !== 0);
  assert.deepEqual(written.map(times), [[5]]);
});

test("while writes are blocked at most ten thousand pulls wait; more are dropped, counted and logged once; then recording continues", async (t) => {
  const gate = Promise.withResolvers<void>();
  const { recorder, note, written, counts, logged } = open(t, () => gate.promise.then(() => ({ kept: true })));
  for (let at = 0; at < 10_300; at += 1) note(ANN, { nowMs: at });
  assert.equal(counts.dropped, 300);
  assert.deepEqual(logged, [{ count: 1 }], "the first immediately");
  gate.resolve();
  await eventually(() => written.length >= 10);
  note(ANN, { nowMs: 99_999 });
  await recorder.close();
  assert.deepEqual(times(written.flat()), [...Array.from({ length: 10_000 }, (_, at) => at), 99_999]);
  assert.equal(counts.dropped, 300);
  assert.deepEqual(logged, [{ count: 1 }, { count: 299 }], "the others a minute later, or at the end");
});

test("a batch that cannot be written is dropped after three attempts; one that the buffer does not take is dropped too", async (t) => {
  let failures = 2;
  const { recorder, note, written, counts, logged } = open(t, async () => {
    if (failures > 0) {
      failures -= 1;
      throw new Error("on purpose");
    }
    return { kept: true };
  });
  for (let at = 0; at < 1_000; at += 1) note(ANN, { nowMs: at });
  await eventually(() => written.length !== 0);
  assert.deepEqual([times(written[0]).length, counts.attempts, counts.dropped], [1_000, 3, 0]);
  failures = 3;
  note();
  await recorder.close();
  assert.deepEqual([written.length, counts.attempts, counts.dropped, logged.length], [1, 6, 1, 1]);

  const full = open(t, async () => ({ kept: false }));
  full.note();
  await full.recorder.close();
  assert.deepEqual([full.counts.attempts, full.counts.dropped, full.counts.kept], [1, 1, 0]);
});
