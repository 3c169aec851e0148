import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import { BAD, CLEAN, type GatedRepo, openGatedRepo, putGateRecords } from "../../../server/test/support/gated-repo.ts";
import { connectMcp } from "../../../server/test/support/mcp.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

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

test("a pull that a gate lets pass carries the OCI warning, whatever the client asks for it by", async () => {
  const [fresh, old] = await bothTimes(() => repo.pulledAs("clean", 200));
  assert.equal(fresh.headers["warning"], undefined);
  const warning = new RegExp(`^299 - "Feeds that this rests on are older than their own interval: ${STALE.source}"$`);
  assert.match(String(old.headers["warning"]), warning);
  const head = await repo.pull(clean, "HEAD");
  assert.match(String(head.headers["warning"]), warning);
  const explained = await platform.ok("POST", "/iam/v2/access:explain", {
    identity: platform.owner,
    action: "REGISTRY_ACTION_PULL",
    resource: `${repo.name}:clean`,
  });
  assert.match(JSON.stringify(explained["steps"]), STALE);
  assert.deepEqual(
    (await repo.events()).map(({ body }) => body.tag).filter((tag) => tag === "clean"),
    [],
    "an old feed alone is no decision of the gate",
  );
});

test("a promotion that a gate lets pass names them", async () => {
  const [fresh, old] = await bothTimes(() =>
    platform.ok<Named>("POST", `/registry/v2/tags/${repo.repo}:promote`, {
      promotions: [{ name: "stage", digest: clean }],
      validateOnly: true,
    }),
  );
  assert.deepEqual([namesIn(fresh), namesIn(old)], [[], ["osv"]]);
});

test("counts by day and what was resolved name them on the days on which they were old", async () => {
  platform.clock.offsetMs = 0;
  const asked = `repo=${encodeURIComponent(repo.name)}&tag=bad`;
  interface Days {
    items: { staleFeeds?: string[] }[];
  }
  const [fresh, old] = await bothTimes(() => platform.ok<Days>("GET", `/registry/v1/vuln_reports/counts?${asked}`));
  assert.deepEqual(
    fresh.items.map(({ staleFeeds }) => staleFeeds ?? []),
    [[]],
  );
  const [first, ...later] = old.items.map(({ staleFeeds }) => staleFeeds ?? []);
  assert.deepEqual(first, [], "on the day on which they were read they were not old");
  assert.match(later.at(-1)?.join() ?? "", new RegExp(`^${STALE.source}$`));
  const cumulative = await platform.ok<Days>("GET", `/registry/v1/vuln_reports/counts_cumulative?${asked}`);
  assert.match(cumulative.items.at(-1)?.staleFeeds?.join() ?? "", STALE);

  const images = `imageRefs=${encodeURIComponent(JSON.stringify([{ repo: repo.name, tags: ["bad"] }]))}`;
  const v1 = await platform.ok<Days>(
    "GET",
    `/advisory/v1/images/resolved_vulns?${images.replace("imageRefs", "image_refs")}`,
  );
  assert.match(v1.items.at(-1)?.staleFeeds?.join() ?? "", STALE);
  const { resolvedVulnsReports } = await platform.ok<{ resolvedVulnsReports: Named[] }>(
    "GET",
    `/advisory/v2/images/resolvedVulns?${images}`,
  );
  assert.deepEqual([namesIn(resolvedVulnsReports[0] ?? {}), namesIn(resolvedVulnsReports.at(-1) ?? {})], [[], ["osv"]]);
});

test("what is known of vulnerabilities and packages names them", async () => {
  for (const [path, named] of [
    ["/advisory/v2/metadata?ids=CVE-2026-1", ["debian", "osv"]],
    ["/advisory/v2/metadata?ids=CVE-1999-1", ["debian", "osv"]],
    ["/advisory/v2/documents?id=bad", ["debian", "osv"]],
    ["/advisory/v2/documents?id=nothing", ["debian", "osv"]],
    [`/advisory/v2/documents?id=bad&uidp.descendantsOf=${platform.organization}`, []],
  ] as const) {
    const [fresh, old] = await bothTimes(() => platform.ok<Named>("GET", path));
    assert.deepEqual([namesIn(fresh), namesIn(old)], [[], named], path);
  }
  const metadata = await platform.ok<{ staleFeeds: string[] }>("GET", "/advisory/v1/metadata?ids=CVE-2026-1");
  assert.match(metadata.staleFeeds.join(), STALE);
  const { items } = await platform.ok<{ items: { staleFeeds: string[] }[] }>("GET", "/advisory/v1/documents?id=bad");
  assert.match(items[0]?.staleFeeds.join() ?? "", new RegExp(`^${STALE.source}$`));
  const product = await platform.ok<{ staleFeeds: string[] }>("GET", "/registry/v1/versions/engine");
  assert.match(product.staleFeeds.join(), /^products \(last read /);
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
  const client = await connectMcp("2025-11-25", `${platform.url}/mcp?write=true`, await platform.token());
  try {
    for (const [tool, args, feed] of [
      ["image_findings", { image: `${repo.name}:bad` }, "osv"],
      ["diff_images", { from: `${repo.name}:bad`, to: `${repo.name}:clean` }, "osv"],
      ["promote", { image: repo.name, promotions: [{ tag: "stage", from: "clean" }] }, "osv"],
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
