import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { osvOf, plainRecord, putRecords } from "../support/feed-records.ts";
import { BAD, CLEAN, type GatedRepo, openGatedRepo, putGateRecords } from "../support/gated-repo.ts";
import { connectMcp } from "../support/mcp.ts";
import { type Platform, startPlatform } from "../support/platform.ts";

// Feeds that are older than their own interval are named beside every answer that rests on them.
const DAY_MS = 86_400_000;
const STALE = /osv \(last read \d{4}-[^)]*Z, every 1d\)/;

let platform: Platform;
let repo: GatedRepo;
let bad = "";
let clean = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
  // One that no package of the images is about, and one about the ends of life of products.
  await putRecords(platform, "debian", "osv", [
    osvOf("D-1", {
      affected: [
        {
          package: { ecosystem: "Debian:12", name: "curl" },
          ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }] }],
        },
      ],
    }),
  ]);
  await putRecords(platform, "products", "endoflife", [
    plainRecord("engine", { releases: [{ releaseCycle: "1", eol: true }] }),
  ]);
  repo = await openGatedRepo(platform, { severity: "CRITICAL", on: ["PULL", "PROMOTE"], mode: "ENFORCE" });
  bad = await repo.push("bad", BAD);
  clean = await repo.push("clean", CLEAN);
  await platform.transact(async (tx) => {
    const nowMs = Date.now();
    await tx
      .updateTable("feeds")
      .set({ interval_ms: 30 * DAY_MS, success_time: nowMs })
      .execute();
    await tx.updateTable("feeds").set({ interval_ms: DAY_MS }).where("name", "in", ["osv", "debian"]).execute();
    await tx.updateTable("feeds").set({ interval_ms: DAY_MS }).where("format", "=", "endoflife").execute();
  });
});
after(() => platform.close());

interface Named {
  staleFeeds?: { feed: string; interval: string }[];
}
const namesIn = ({ staleFeeds = [] }: Named): string[] => staleFeeds.map(({ feed }) => feed);
/** What is answered while all feeds are fresh, and two days later. */
async function bothTimes<T>(ask: () => Promise<T>): Promise<[fresh: T, old: T]> {
  platform.clock.offsetMs = 0;
  const fresh = await ask();
  platform.clock.offsetMs = 2 * DAY_MS;
  const old = await ask();
  return [fresh, old];
}

test("a gate that rejects says so in its message, its detail and its event, and so does a promotion", async () => {
  const [fresh, old] = await bothTimes(() => repo.pulledAs("bad", 403));
  assert.doesNotMatch(fresh.text, /older than their own interval/);
  assert.match(old.text, /Feeds that this rests on are older than their own interval: /);
  assert.match(old.text, STALE);
  const [error] = old.body["errors"] as [{ detail: Named & { staleFeeds: string[] } }];
  assert.deepEqual(error.detail.staleFeeds, ["osv"], "no package of the image is Debian's, and kev is fresh");
  const token = await platform.token();
  const promotion = { promotions: [{ name: "prod", digest: bad }] };
  const promoted = await platform.call("POST", `/registry/v2/tags/${repo.repo}:promote`, { token, body: promotion });
  assert.match(promoted.text, STALE);
  const explained = await platform.ok("POST", "/iam/v2/access:explain", {
    identity: platform.owner,
    action: "REGISTRY_ACTION_PULL",
    resource: `${repo.name}:bad`,
  });
  assert.match(JSON.stringify(explained["steps"]), STALE);
});

test("a difference of two images names them, in its Markdown too", async () => {
  const path = `/registry/v2/repos/${repo.repo}/diff?from=${bad}&to=${clean}`;
  const [fresh, old] = await bothTimes(() => platform.ok<Named>("GET", path));
  assert.deepEqual([namesIn(fresh), namesIn(old)], [[], ["osv"]]);
  const { markdown } = await platform.ok<{ markdown: string }>("GET", `${path}&format=MARKDOWN`);
  assert.match(markdown, /feeds older than their own interval: osv /);
});

test("reports of v1 name them", async () => {
  const path = `/registry/v1/repos/${repo.repo}/digests/${bad}/vulnreport`;
  const [fresh, old] = await bothTimes(() => platform.ok<{ staleFeeds: string[]; rawVulnReport: string }>("GET", path));
  assert.deepEqual(fresh.staleFeeds ?? [], []);
  assert.equal(old.staleFeeds.length, 1);
  assert.match(old.staleFeeds[0] ?? "", STALE);
  assert.match(Buffer.from(old.rawVulnReport, "base64").toString(), STALE);
});

test("lists of ends of life and what is said of a product name the feeds of ends of life", async () => {
  const [fresh, old] = await bothTimes(() => platform.ok<Named>("GET", "/registry/v2/eolTags"));
  assert.deepEqual([namesIn(fresh), namesIn(old)], [[], ["products"]]);
  const [known, later] = await bothTimes(() => platform.ok<Named>("GET", "/registry/v2/versions/engine"));
  assert.deepEqual([namesIn(known), namesIn(later)], [[], ["products"]]);
  const { staleFeeds } = await platform.ok<{ staleFeeds: string[] }>("GET", "/registry/v1/eoltags");
  assert.match(staleFeeds[0] ?? "", /^products \(last read /);
});

test("tools for assistants name them, at the end of long answers too", async () => {
  platform.clock.offsetMs = 2 * DAY_MS;
  const client = await connectMcp("2025-11-25", `${platform.url}/mcp`, await platform.token());
  try {
    for (const [tool, args, feed] of [
      ["image_findings", { image: `${repo.name}:bad` }, "osv"],
      ["diff_images", { from: `${repo.name}:bad`, to: `${repo.name}:clean` }, "osv"],
      ["list_eol_tags", {}, "products"],
    ] as const) {
      const { answer, text } = await client.call(tool, args);
      assert.deepEqual(
        (answer["stale_feeds"] as { feed: string }[]).map((each) => each.feed),
        [feed],
        text,
      );
      assert.match(text, new RegExp(`The feed ${feed} is older than its own interval: last read `));
    }
  } finally {
    await client.close();
  }
});

test("what one feed is said of is the same in the list of feeds", async () => {
  const [fresh, old] = await bothTimes(() =>
    platform.ok<{ feeds: { name: string; isOverdue?: boolean }[] }>("GET", "/operations/v2/feeds"),
  );
  const overdue = ({ feeds }: typeof old): string[] =>
    feeds.filter(({ isOverdue }) => isOverdue === true).map(({ name }) => name);
  assert.deepEqual([overdue(fresh), overdue(old)], [[], ["debian", "osv", "products"]]);
});
