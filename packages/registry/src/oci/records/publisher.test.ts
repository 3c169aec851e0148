import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { loadConfig } from "@moorage/kernel/config";
import { systemCall } from "@moorage/kernel/core/system-call";
import { openStore } from "@moorage/kernel/store";
import { keepPulls, type BufferedPulls } from "@moorage/platform/events";
import { openCall } from "../../../../server/src/runtime/open-call.ts";
import { startPullPublisher } from "./publisher.ts";
import { eventually } from "../../../../server/test/support/eventually.ts";

const PULL: BufferedPulls = {
  repository: "acme/app",
  repo: "a/b",
  type: "manifest",
  method: "GET",
  actor: { identity: "ann", act: {} },
  remoteAddress: "192.0.2.1",
  userAgent: "client/1",
  contents: [{ tag: "v1", digest: "sha256:c", timesMs: [1, 2] }],
};
const DATA = systemCall(5);

/** A database, and a publisher that writes the events of its buffered pulls in this thread. */
async function open(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-publisher-"));
  const store = await openStore(loadConfig({ MOORAGE_DATA_DIR: dataDir }));
  await store.migrate();
  const logged: string[] = [];
  const counts = { calls: 0, failures: 0 };
  const start = (isShared: boolean) => {
    const publisher = startPullPublisher({
      reader: store.reader,
      isShared,
      clock: { nowMs: () => 5 },
      log: { warn: (_, message) => void logged.push(message) },
      writer: {
        async write(command, data, input) {
          counts.calls += 1;
          if (counts.failures-- > 0) throw new Error("on purpose");
          // In production another thread writes.
          await wait(10);
          return await store.transact((tx) => command.run(openCall(data, tx), input, undefined));
        },
      },
    });
    t.after(() => publisher.close());
    return publisher;
  };
  t.after(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  return {
    start,
    counts,
    logged,
    /** Buffers the pulls `times` times. Answers whether the last ones were accepted. */
    keep: (pulls: BufferedPulls[] = [PULL], times = 1) =>
      store.transact(async (tx) => {
        let isKept = false;
        for (let at = 0; at < times; at += 1)
          isKept = (await keepPulls.run(openCall(DATA, tx), { pulls: JSON.stringify(pulls) }, undefined)).kept;
        return isKept;
      }),
    /** Buffers pulls as an older version stored them. */
    keepText: (pulls: string) => store.transact((tx) => keepPulls.run(openCall(DATA, tx), { pulls }, undefined)),
    emitted: (count: number) =>
      eventually(async () => {
        const rows = await store.reader.selectFrom("event_outbox").select("body").orderBy("n").execute();
        return rows.length >= count && rows.map(({ body }) => body);
      }),
  };
}

test("pulls buffered before the start are published, and later ones once it is woken", async (t) => {
  const { start, keep, emitted } = await open(t);
  assert.equal(await keep(), true);
  const publisher = start(false);
  assert.equal((await emitted(2)).length, 2);
  await keep([
    {
      ...PULL,
      contents: [
        { tag: "v1", digest: "sha256:c", timesMs: [9, 7] },
        { tag: "v1", digest: "sha256:d", timesMs: [8] },
      ],
    },
  ]);
  publisher.wake();
  const bodies = (await emitted(5)).slice(2).map((body) => JSON.parse(body) as { digest: string; when: string });
  assert.deepEqual(
    bodies.map(({ when }) => when),
    ["1970-01-01T00:00:00.007000", "1970-01-01T00:00:00.008000", "1970-01-01T00:00:00.009000"],
  );
  assert.deepEqual(
    bodies.map(({ digest }) => digest),
    ["sha256:c", "sha256:d", "sha256:c"],
  );
});

test("pulls that an older version buffered become events after the upgrade", async (t) => {
  const { start, keep, keepText, emitted } = await open(t);
  const { contents, ...client } = PULL;
  await keepText(JSON.stringify(contents.map((content) => ({ ...client, ...content }))));
  await keep();
  start(false);
  const bodies = await emitted(4);
  assert.deepEqual(bodies.slice(0, 2), bodies.slice(2));
});

test("while requests keep a shared processor busy it publishes slowly, and catches up afterwards", async (t) => {
  const { start, keep, emitted, counts } = await open(t);
  await keep([PULL], 50);
  const spin = async (): Promise<void> => {
    for (
      const endMs = performance.now() + 700;
      performance.now() < endMs;
      await new Promise((resolve) => setImmediate(resolve))
    ) {
      for (const busyMs = performance.now() + 10; performance.now() < busyMs;);
    }
  };
  const spinning = spin();
  const publisher = start(true);
  await spinning;
  assert.ok(counts.calls < 10, `${counts.calls} of 50 while it was busy`);
  assert.equal((await emitted(100)).length, 100);
  await publisher.close();
});

test("it does not wait when requests have their own processor, nor when very many pulls are buffered", async (t) => {
  for (const [isShared, batches] of [
    [false, 50],
    [true, 1_050],
  ] as const) {
    const { start, keep, counts } = await open(t);
    await keep([PULL], batches);
    const publisher = start(isShared);
    // The loop keeps the thread busy until 40 batches are published; a publisher that waits in between would not get
    // there in time.
    const endMs = performance.now() + 60_000;
    while (counts.calls < 40 && performance.now() < endMs) {
      for (const busyMs = performance.now() + 10; performance.now() < busyMs;);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(counts.calls >= 40);
    await publisher.close();
  }
});

test("a failed write is attempted again", async (t) => {
  const { start, keep, emitted, counts, logged } = await open(t);
  counts.failures = 1;
  await keep();
  const publisher = start(false);
  await eventually(() => logged.length !== 0);
  publisher.wake();
  assert.equal((await emitted(2)).length, 2);
  assert.deepEqual(logged, ["publishing pull events failed"]);
});

test("the number of buffered batches is bounded", async (t) => {
  const { keep } = await open(t);
  assert.equal(await keep([PULL], 2_001), true);
  assert.equal(await keep(), false);
});
