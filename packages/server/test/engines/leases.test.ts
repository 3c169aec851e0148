import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCall } from "../../src/runtime/open-call.ts";
import { endLease, takeLease } from "../../src/jobs/leases.ts";
import { openTestStore } from "../support/database.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";

async function openLeases(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-leases-"));
  const { store, close } = await openTestStore(dataDir);
  t.after(async () => {
    await close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const data = (nowMs: number) => systemCall(nowMs);
  return {
    take: async (holder: string, nowMs: number, work = "sweep") =>
      (
        await store.transact((tx) =>
          takeLease.run(openCall(data(nowMs), tx), { work, holder, holdMs: 1000 }, undefined),
        )
      ).taken,
    end: (holder: string, nowMs: number) =>
      store.transact((tx) =>
        endLease.run(openCall(data(nowMs), tx), { work: "sweep", holder, dueInMs: 5000.25 }, undefined),
      ),
  };
}

test("a lease belongs to one holder until it expires, and can be renewed", async (t) => {
  const { take } = await openLeases(t);
  assert.equal(await take("a", 10_000), true);
  assert.equal(await take("b", 10_999), false);
  assert.equal(await take("b", 10_999, "another work"), true);
  assert.equal(await take("a", 10_900), true, "the holder keeps it");
  assert.equal(await take("b", 11_000), false, "for longer");
  assert.equal(await take("b", 11_900), true, "a holder that says nothing has died");
  assert.equal(await take("a", 12_000), false);
});

test("finished work has no holder until it is due again; a holder that lost the lease cannot finish the work", async (t) => {
  const { take, end } = await openLeases(t);
  assert.equal(await take("a", 10_000), true);
  await end("b", 10_100);
  assert.equal(await take("b", 10_200), false);
  await end("a", 10_500);
  for (const holder of ["a", "b"]) assert.equal(await take(holder, 15_499), false);
  assert.equal(await take("b", 15_500), true);
  await end("a", 15_600);
  assert.equal(await take("a", 15_700), false);
});

test("of many concurrent callers one gets the lease", async (t) => {
  const { take } = await openLeases(t);
  const taken = await Promise.all(Array.from({ length: 12 }, (_, at) => take(`holder ${at}`, 10_000)));
  assert.equal(taken.filter(Boolean).length, 1);
});
