import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { restateFeeds } from "../../src/security/trusted/restate-feeds.ts";
import { openFeedInstallation } from "../../../server/test/support/feed-installation.ts";
import { putRecords } from "../../../server/test/support/feed-records.ts";
import { openVex } from "../../src/security/vex/records.ts";
import { addImage, before, npm, openMatching } from "../../../server/test/support/matching.ts";
import { statementsRun } from "../../../server/test/support/statements.ts";

// How the statements of feeds of VEX documents are taken over: in steps, by the rows that tests of answers do not see.

const FEED = "upstream";

function documentsAbout(count: number, name: (n: number) => string) {
  return Array.from({ length: count }, (_, n) => {
    const { record } = openVex({
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": `https://up.example/${String(n).padStart(4, "0")}`,
      author: "Upstream",
      timestamp: "2026-11-02T08:00:00Z",
      statements: [
        { vulnerability: { name: `CVE-2026-${n}` }, products: [{ "@id": `pkg:npm/${name(n)}` }], status: "fixed" },
      ],
    });
    if (record === undefined) throw new Error("it is no document");
    return record;
  });
}

async function open(t: TestContext) {
  const installation = await openFeedInstallation(t);
  const { store, match } = await openMatching(t, installation);
  const transact = store.transact.bind(store);
  const put = (products: string[], records: ReturnType<typeof documentsAbout> = []): Promise<void> =>
    putRecords({ transact }, FEED, "openvex", records, [], products);
  const step = (nowMs: number): Promise<{ isDone: boolean }> =>
    transact((tx) => restateFeeds.run(openCall(systemCall(nowMs), tx), undefined, undefined), {
      isolation: restateFeeds.isolation,
    });
  /** The products of statements that count, each once, with how many there are. */
  const stated = async (): Promise<Record<string, number>> => {
    const rows = await installation.db
      .selectFrom("feed_statements")
      .select("product")
      .where("until_time", "is", null)
      .execute();
    const counts: Record<string, number> = {};
    for (const { product } of rows) counts[product] = (counts[product] ?? 0) + 1;
    return counts;
  };
  return { ...installation, match, put, step, stated };
}

test("what a feed may decide about is followed in steps, which begin anew when it changes again", async (t) => {
  const { put, match, step, stated } = await open(t);
  await put(
    [],
    documentsAbout(250, (n) => (n % 2 === 0 ? "even" : "odd")),
  );
  await match(1_000);
  assert.deepEqual(await stated(), {}, "nothing counts before the operator says so");
  await put(["pkg:npm/even"]);
  assert.equal((await step(2_000)).isDone, false);
  const { "pkg:npm/even": some = 0, ...others } = await stated();
  assert.ok(some > 0 && some < 125, `one step looks at a part, here at ${some}`);
  assert.deepEqual(others, {});
  await put(["pkg:npm/odd"]);
  await match(3_000);
  assert.deepEqual(await stated(), { "pkg:npm/odd": 125 });
  await put(["pkg:npm"]);
  await step(4_000);
  // As it was before: what the step has taken over is taken back.
  await put(["pkg:npm/odd"]);
  await match(5_000);
  assert.deepEqual(await stated(), { "pkg:npm/odd": 125 });
  assert.equal((await step(6_000)).isDone, true);
});

test("what a change of a feed of VEX documents costs does not depend on the number of images", async (t) => {
  const costs: number[] = [];
  for (const images of [1, 100]) {
    const { db, put, match, stated, admin, importOsv } = await open(t);
    await admin((feeds) => feeds.add({ name: "osv", format: "osv", licence: "CC-BY-4.0" }));
    await importOsv("osv", [{ id: "A", aliases: ["CVE-2026-1"], ...before("package-1", "2.0.0") }]);
    const packages = Array.from({ length: 50 }, (_, n) => npm(`package-${n}`, "1.0.0"));
    for (let n = 0; n < images; n += 1) await addImage(db, `sha256:${n}`, packages);
    await match(1_000);
    await put(
      ["pkg:npm"],
      documentsAbout(50, (n) => `package-${n}`),
    );
    const ran = await statementsRun(() => match(2_000));
    assert.equal(Object.keys(await stated()).length, 50);
    const texts = ran.map(({ text }) => text);
    assert.ok(texts.some((text) => text.includes("feed_statements")));
    assert.deepEqual(
      texts.filter((text) => /image_packages|image_catalogs|manifests/.test(text)),
      [],
    );
    costs.push(texts.length);
  }
  assert.equal(costs[1], costs[0]);
});
