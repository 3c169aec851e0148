import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushArtifact } from "../../../server/test/support/catalog/push.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import {
  BAD,
  CLEAN,
  CRITICAL,
  type GatedRepo,
  openGatedRepo,
  putGateRecords,
  SEVERE,
} from "../../../server/test/support/gated-repo.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startFeedServer } from "../../../server/test/support/feed-server.ts";
import { type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { startAdapter } from "../../../server/test/support/scanner-adapter.ts";
import { requestScans, whenScan } from "../../../server/test/support/scans.ts";

// What is written wakes whoever works on it: this server looks for work by itself once an hour. Each test does the same
// twice, since a server looks once soon after its start, too.

let platform: Platform;
before(async () => {
  platform = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_CATALOG_IMAGES: "1",
    MOORAGE_WORK_POLL: "1h",
  });
  await putGateRecords(platform);
});
after(() => platform.close());

const LIMIT = { timeout: 300_000 };
const FINDINGS = "/vulnerabilities/v2/findings";
const vulnerabilities = async (repo: string): Promise<string[]> =>
  (await rows(platform.ok("GET", `${FINDINGS}?repo=${repo}`), "findings")).map((each) => String(each["vulnerability"]));
/** The latest events about findings of the repo, as `opened CVE-2026-1`. */
async function emitted({ repo }: GatedRepo): Promise<string[]> {
  const query = `group=${platform.organization}&type_prefixes=dev.moorage.vulnerabilities.finding.&page_size=200`;
  const events = await rows(platform.ok("GET", `/events/v2/events?${query}`), "events");
  return events
    .filter(({ subject }) => (subject as unknown) === repo)
    .map((event) => {
      const [, , , , change = ""] = String(event["type"]).split(".");
      return change;
    });
}
const gatedRepo = (): Promise<GatedRepo> =>
  openGatedRepo(platform, { severity: "HIGH", fixableOnly: false, on: ["PULL"], mode: "ENFORCE" });

test("a pushed image is read, compared, gated, and its findings are emitted", LIMIT, async () => {
  const repo = await gatedRepo();
  for (const [n, packages] of [[BAD], [SEVERE]].entries()) {
    await repo.push(`v${n}`, ...packages);
    await repo.pulledAs(`v${n}`, 403);
    await eventually(async () => (await emitted(repo)).length === n + 1);
  }
  assert.deepEqual((await vulnerabilities(repo.repo)).toSorted(), ["CVE-2026-1", "CVE-2026-3"]);
  assert.deepEqual(await emitted(repo), ["opened", "opened"]);
});

test("what is attached to an image closes a finding, and what an import brings opens one", LIMIT, async () => {
  const repo = await gatedRepo();
  for (const name of ["first", "second"]) {
    const digest = await repo.push(name, [name, "1.0.0"]);
    await putRecords(platform, name, "osv", [
      osvOf(`CVE-2026-${name}`, { ...affectedBefore(name, "2.0.0"), ...CRITICAL }),
    ]);
    await repo.pulledAs(name, 403);
    const mediaType = "application/openvex+json";
    const content = JSON.stringify({
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": `https://acme.example/vex/${name}`,
      author: "Acme",
      timestamp: "2026-11-01T08:00:00Z",
      version: 1,
      statements: [
        {
          vulnerability: { name: `CVE-2026-${name}` },
          products: [{ "@id": `pkg:npm/${name}@1.0.0` }],
          status: "not_affected",
          justification: "component_not_present",
        },
      ],
    });
    await pushArtifact(repo, { artifactType: mediaType, subject: digest, layers: [{ mediaType, content }] });
    await repo.pulledAs(name, 200);
  }
  await eventually(async () => (await emitted(repo)).length === 4);
  assert.deepEqual(await emitted(repo), ["opened", "closed", "opened", "closed"]);
});

test("scans are done, those that were asked for and those of what a tag comes to point to", LIMIT, async () => {
  const adapter = await startAdapter();
  try {
    const { organization } = platform;
    const scanners = "/vulnerabilities/v2/scanners";
    const { uid } = await platform.ok("POST", `${scanners}/${organization}`, { name: "trivy", url: adapter.url });
    const place = await gatedRepo();
    for (const tag of ["v1", "v2"]) {
      const digest = await place.push(tag, CLEAN);
      const automatic = await eventually(async () => {
        const scans = await rows<Json>(platform.ok("GET", `/vulnerabilities/v2/scans?digest=${digest}`), "scans");
        return scans[0]?.["state"] === "SCAN_STATE_DONE" && scans[0];
      });
      const [asked] = await requestScans(platform, place.repo, digest);
      assert.equal(asked?.uid, automatic.uid);
      await whenScan(platform, automatic.uid, "DONE");
    }
    await platform.ok("DELETE", `${scanners}/${uid}`);
  } finally {
    await adapter.close();
  }
});

test("a mirror is copied when its source is set, and whenever somebody asks for it", LIMIT, async () => {
  const source = await gatedRepo();
  await source.gate(undefined);
  await source.push("v1", CLEAN);
  const { uid } = await platform.repo(platform.organization, { name: "mirror", syncConfig: { source: source.repo } });
  for (const tagsSeen of [1, 2, 3]) {
    const sync = await eventually(async () => {
      const now = await platform.ok<Json>("GET", `/registry/v2/repos/${uid}/sync`);
      return now["tagsSeen"] === tagsSeen && now;
    });
    assert.equal(sync["message"], "");
    await source.push(`v${tagsSeen + 1}`, CLEAN);
    await platform.ok("POST", `/registry/v2/repos/${uid}:sync`, {});
  }
});

test(
  "a feed is fetched when it is added and whenever somebody asks for it, and removed when it is",
  LIMIT,
  async (t) => {
    const source = await startFeedServer(t);
    const content = JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-9", dateAdded: "2026-01-01" }] });
    source.pages.set("/kev.json", { content });
    const feeds = "/operations/v2/feeds";
    const feed = async (): Promise<Json | undefined> =>
      (await rows<Json>(platform.ok("GET", feeds), "feeds")).find(({ name }) => (name as unknown) === "wanted");
    const wanted = { name: "wanted", format: "kev", licence: "CC0-1.0", interval: "86400s" };
    await platform.ok("POST", `${feeds}?acceptLicence=true`, { ...wanted, address: `${source.url}/kev.json` });
    await eventually(async () => (await feed())?.["records"] === "1");
    for (const asked of [2, 3]) {
      await platform.ok("POST", `${feeds}/wanted:refresh`, {});
      // The request is gone once it was done.
      await eventually(async () => (await feed())?.["requestTime"] === undefined);
      assert.equal(source.asked.length, asked);
    }
    source.pages.set("/moved.json", { content });
    await platform.ok("PATCH", `${feeds}/wanted?acceptLicence=true&updateMask=address`, {
      address: `${source.url}/moved.json`,
    });
    await eventually(() => source.asked.length === 4);
    await platform.ok("DELETE", `${feeds}/wanted`);
    await eventually(async () => (await feed()) === undefined);
  },
);
