import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type TarEntry, tarOf, zipOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { classesIn, manifestOf } from "../../../server/test/support/catalog/java.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { openedImport, osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import { openGatedRepo } from "../../../server/test/support/gated-repo.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Uncovered {
  ecosystem: string;
  packages: number;
  preset: string;
  feeds: string[];
}
interface Unknown {
  digest: string;
  platform: string;
  state: string;
  reason: string;
  waits: boolean;
  uncovered: Uncovered[];
  unreadFiles: number;
}
interface Listed {
  findings: object[];
  state: string;
  unknownImages: Unknown[];
  staleFeeds: { feed: string; successTime?: string; interval: string }[];
  notCompared: number;
}
interface Coverage extends Omit<Listed, "findings" | "unknownImages" | "notCompared"> {
  images: (Unknown & {
    packages: number;
    covered: { ecosystem: string; packages: number; feeds: { feed: string; records?: string }[] }[];
    files: { path: string; layer: string; reason: string }[];
    notCompared: number;
    packagesNotCompared: { purl: string; version: string }[];
  })[];
}

const NPM = npmFile("app", "left-pad", "1.0.0");
const DEBIAN: TarEntry[] = [
  { path: "etc/os-release", content: 'ID=debian\nVERSION_ID="12"\n' },
  {
    path: "var/lib/dpkg/status",
    content: ["bash", "zlib1g"]
      .map((name) => `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0-1\n\n`)
      .join(""),
  },
];
const DAY_MS = 86_400_000;

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
});
after(() => platform.close());
// Each test has the feeds that it adds.
beforeEach(async () => {
  platform.clock.offsetMs = 0;
  await platform.transact(async (tx) => {
    for (const table of ["feed_keys", "feed_records", "feeds"] as const) await tx.deleteFrom(table).execute();
  });
});

const place = async (): Promise<Place> =>
  await newRepoPlace(platform, await platform.token(platform.owner, { audience: new URL(platform.url).host }));
let images = 0;
const push = (to: Place, tag: string, files: readonly TarEntry[]): Promise<string> =>
  pushLayers(to, tag, [tarOf([...files, { path: `knowledge-${(images += 1)}` }])]);
const list = ({ repo }: Place, digest: string, more = ""): Promise<Listed> =>
  platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}${more}`);
const coverage = ({ repo }: Place, digest: string): Promise<Coverage> =>
  platform.ok("GET", `/vulnerabilities/v2/repos/${repo}/digests/${digest}/coverage`);

/** The list as soon as nothing of it waits. */
async function settled(of: Place, digest: string): Promise<Listed> {
  return await eventually(async () => {
    const found = await list(of, digest);
    return !found.unknownImages.some(({ waits }) => waits) && found;
  });
}

const putNpm = (more: object = {}): Promise<void> =>
  putRecords(platform, "npm", "osv", [osvOf("NPM-1", { ...affectedBefore("other", "9.0.0"), ...more })]);
/** A record about a Debian package that no image here holds. */
const aboutDebian = (id: string, release: string) =>
  osvOf(id, {
    affected: [
      {
        package: { ecosystem: `Debian:${release}`, name: "curl" },
        ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "9" }] }],
      },
    ],
  });
const setInterval = (feed: string, intervalMs: number): Promise<void> =>
  platform.transact(async (tx) => {
    await tx.updateTable("feeds").set({ interval_ms: intervalMs }).where("name", "=", feed).execute();
  });

test("an image of which no feed knows the packages has NO_DATA, with what would cover them, until a feed does", async () => {
  const app = await place();
  const digest = await push(app, "v1", [NPM]);
  const none = await settled(app, digest);
  assert.deepEqual([none.state, none.findings], ["KNOWLEDGE_STATE_NO_DATA", []]);
  assert.deepEqual(none.unknownImages, [
    {
      digest,
      platform: "",
      state: "KNOWLEDGE_STATE_NO_DATA",
      reason: "no feed covers 1 package of npm (moorage feeds add osv-npm would)",
      waits: false,
      uncovered: [{ ecosystem: "npm", packages: 1, preset: "osv-npm", feeds: [] }],
      unreadFiles: 0,
    },
  ]);
  const anywhere = await platform.ok<Listed>("GET", "/vulnerabilities/v2/findings");
  assert.equal(anywhere.state, "KNOWLEDGE_STATE_NO_DATA", "without a feed no list says anything");

  await putNpm();
  const found = await settled(app, digest);
  assert.deepEqual([found.state, found.unknownImages], ["KNOWLEDGE_STATE_READ", []]);
  const some = await platform.ok<Listed>("GET", "/vulnerabilities/v2/findings");
  assert.equal(some.state, "KNOWLEDGE_STATE_UNSPECIFIED");

  await putRecords(platform, "npm", "osv", [], ["NPM-1"]);
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_NO_DATA", "its records are gone");
});

test("a feed of another release covers nothing, nor does one whose first import has not ended", async () => {
  const app = await place();
  await putNpm();
  await putRecords(platform, "old", "osv", [aboutDebian("DEBIAN-11", "11")]);
  const digest = await push(app, "v1", [NPM, ...DEBIAN]);
  const { state, unknownImages } = await settled(app, digest);
  assert.equal(state, "KNOWLEDGE_STATE_NO_DATA");
  assert.deepEqual(unknownImages[0]?.uncovered, [{ ecosystem: "debian 12", packages: 2, preset: "debian", feeds: [] }]);
  const importing = await openedImport(platform, "debian");
  await importing.add([aboutDebian("DEBIAN-12", "12")]);
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_NO_DATA", "it may lack all that matters");
  await importing.end();
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_READ");
});

test("packages that no feed could cover are counted as well, and those of VEX documents cover nothing", async () => {
  const app = await place();
  await putRecords(platform, "vex", "openvex", [
    { ...plainRecord("VEX-1"), packages: [{ ecosystem: "", name: "", purl: "pkg:npm/left-pad@1.0.0" }] },
  ]);
  const digest = await push(app, "v1", [NPM, ...DEBIAN.slice(1)]);
  const { state, unknownImages } = await settled(app, digest);
  assert.equal(state, "KNOWLEDGE_STATE_NO_DATA");
  assert.deepEqual(unknownImages[0]?.uncovered, [
    { ecosystem: "deb without a release", packages: 2, preset: "", feeds: [] },
    { ecosystem: "npm", packages: 1, preset: "osv-npm", feeds: [] },
  ]);
  assert.equal(
    unknownImages[0].reason,
    "no feed covers 2 packages of deb without a release and 1 package of npm (moorage feeds add osv-npm would)",
  );
});

test("the coverage of an image lists its files that could not be read, of an index that of each image", async () => {
  const app = await place();
  await putNpm();
  const rpm = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x15, 6, 0]);
  const part = await push(app, "part", [NPM, { path: "var/lib/rpm/Packages", content: rpm }]);
  const whole = await push(app, "whole", [NPM]);
  const index = await pushIndex(app, "both", [
    [part, { os: "linux", architecture: "amd64" }],
    [whole, { os: "linux", architecture: "arm64" }],
  ]);
  const listed = await settled(app, index);
  assert.equal(listed.state, "KNOWLEDGE_STATE_NOT_READ", "the least of its images");
  assert.deepEqual(
    listed.unknownImages.map((each) => [each.platform, each.state, each.unreadFiles]),
    [["linux/amd64", "KNOWLEDGE_STATE_NOT_READ", 1]],
  );
  const { state, images: each } = await coverage(app, index);
  assert.equal(state, "KNOWLEDGE_STATE_NOT_READ");
  assert.deepEqual(
    each.map((image) => [image.platform, image.state, image.packages, image.files.map(({ path }) => path)]),
    [
      ["linux/amd64", "KNOWLEDGE_STATE_NOT_READ", 1, ["var/lib/rpm/Packages"]],
      ["linux/arm64", "KNOWLEDGE_STATE_READ", 1, []],
    ],
  );
  assert.match(each[0]?.files[0]?.reason ?? "", /BerkeleyDB/);
  const damaged = await pushLayers(app, "damaged", [Buffer.from("no archive")]);
  await settled(app, damaged);
  const failed = await coverage(app, damaged);
  assert.match(failed.images[0]?.reason ?? "", /^it could not be read: /);
  assert.equal(failed.state, "KNOWLEDGE_STATE_NOT_READ");
});

test("who sets a list of single records says that it covers nothing, or what it covers", async () => {
  const app = await place();
  await putNpm();
  await setInterval("npm", DAY_MS);
  const covered = JSON.stringify([{ space: "npm", records: 1, isMatched: true }]);
  await platform.transact((tx) =>
    tx.updateTable("feeds").set({ covers: '["none"]', coverage: covered }).where("name", "=", "npm").execute(),
  );
  const digest = await push(app, "v1", [NPM]);
  const { state, unknownImages } = await settled(app, digest);
  assert.equal(state, "KNOWLEDGE_STATE_NO_DATA");
  assert.deepEqual(unknownImages[0]?.uncovered, [{ ecosystem: "npm", packages: 1, preset: "osv-npm", feeds: ["npm"] }]);
  assert.equal(
    unknownImages[0].reason,
    "no feed covers 1 package of npm, of which npm knows some (moorage feeds add osv-npm would)",
  );
  const spaces = async () =>
    (await platform.ok<{ feeds: { coverage: { isCovered?: boolean }[] }[] }>("GET", "/operations/v2/feeds")).feeds.map(
      (feed) => feed.coverage.map(({ isCovered = false }) => isCovered),
    );
  assert.deepEqual(await spaces(), [[false]]);
  const said = (covers: string[]) => platform.ok("PATCH", "/operations/v2/feeds/npm?updateMask=covers", { covers });
  await said(["Debian"]);
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_NO_DATA", "that is another ecosystem");
  await said(["npm"]);
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_READ");
  assert.deepEqual(await spaces(), [[true]]);
  const [image] = (await coverage(app, digest)).images;
  assert.deepEqual(
    image?.covered.map(({ feeds, ...each }) => [each, feeds.map(({ feed, records }) => [feed, records])]),
    [[{ ecosystem: "npm", packages: 1 }, [["npm", "1"]]]],
  );
  await said(["*"]);
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_READ");
  await said(["none"]);
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_NO_DATA");
  await said([]);
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_READ", "all that it has records about");
  await said(["none"]);
  // The same records as the preset publishes them, under its name or from a mirror's path.
  await platform.transact((tx) =>
    tx
      .updateTable("feeds")
      .set({ address: "https://mirror.example/osv/npm/all.zip" })
      .where("name", "=", "npm")
      .execute(),
  );
  assert.equal((await settled(app, digest)).state, "KNOWLEDGE_STATE_READ");
});

test("feeds that are older than their own interval are named beside the answers that rest on them", async () => {
  const app = await place();
  await putNpm();
  await putRecords(platform, "debian", "osv", [aboutDebian("DEBIAN-12", "12")]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1")]);
  await putRecords(platform, "products", "endoflife", [plainRecord("engine")]);
  const digest = await push(app, "v1", [NPM]);
  await settled(app, digest);
  for (const feed of ["npm", "debian", "kev", "products"]) await setInterval(feed, DAY_MS);
  const names = async (): Promise<string[]> => (await list(app, digest)).staleFeeds.map(({ feed }) => feed);
  assert.deepEqual(await names(), []);
  platform.clock.offsetMs = 2 * DAY_MS;
  assert.deepEqual(await names(), ["kev", "npm"], "no package of the image is Debian's");
  const [kev] = (await coverage(app, digest)).staleFeeds;
  assert.deepEqual([kev?.feed, kev?.interval], ["kev", "86400s"]);
  assert.ok(Date.parse(kev?.successTime ?? "") > 0);
  const anywhere = await platform.ok<Listed>("GET", "/vulnerabilities/v2/findings");
  assert.deepEqual(
    anywhere.staleFeeds.map(({ feed }) => feed),
    ["debian", "kev", "npm"],
  );
  assert.equal((await list(app, digest)).state, "KNOWLEDGE_STATE_READ", "it is old, and known");
});

test("a gate holds an image that no feed covers, and says so; with PASS it passes, and the answer says the same", async () => {
  const repo = await openGatedRepo(platform, { on: ["PULL", "PROMOTE"], mode: "ENFORCE" });
  const digest = await push(repo, "v1", [NPM]);
  await settled(repo, digest);
  const answer = await repo.pulledAs("v1", 403);
  assert.match(
    answer.text,
    /It is not known which vulnerabilities sha256:\w{64} has: no feed covers 1 package of npm [^"]*Its state is NO_DATA/,
  );
  const [error] = answer.body["errors"] as [{ detail: { unknown: Unknown[] } }];
  assert.deepEqual(
    error.detail.unknown.map(({ state }) => state),
    ["NO_DATA"],
  );
  const explained = await platform.ok("POST", "/iam/v2/access:explain", {
    identity: platform.owner,
    action: "REGISTRY_ACTION_PULL",
    resource: `${repo.name}:v1`,
  });
  assert.match(JSON.stringify(explained["steps"]), /no feed covers 1 package of npm/);
  assert.match(JSON.stringify(explained["remedies"]), /add the feeds that cover its packages/);
  const promotion = { promotions: [{ name: "prod", digest }] };
  const token = await platform.token();
  const promote = () => platform.call("POST", `/registry/v2/tags/${repo.repo}:promote`, { token, body: promotion });
  assert.match((await promote()).text, /Its state is NO_DATA/);
  await repo.gate({ on: ["PULL", "PROMOTE"], mode: "ENFORCE", onUnknown: "PASS" });
  await repo.pulledAs("v1", 200);
  const passed = (await promote()).body["unknownImages"] as { state: string }[];
  assert.deepEqual(
    passed.map(({ state }) => state),
    ["NO_DATA"],
  );
  await repo.gate({ on: ["PULL"], mode: "ENFORCE" });
  await repo.pulledAs("v1", 403);
  await putNpm();
  await repo.pulledAs("v1", 200);
});

test("what is of no ecosystem, such as the image's own program, is listed and leaves the rest known", async () => {
  const app = await place();
  await putNpm();
  const shop = zipOf({
    ...manifestOf({ "Implementation-Title": "shop", "Implementation-Version": "1.0" }),
    ...classesIn("com/example/shop", 2),
  });
  const digest = await push(app, "v1", [NPM, { path: "app/shop-1.0.jar", content: shop }]);
  const { state, unknownImages } = await settled(app, digest);
  assert.deepEqual([state, unknownImages], ["KNOWLEDGE_STATE_READ", []]);
  const { images: seen } = await coverage(app, digest);
  assert.deepEqual(seen[0]?.uncovered, [{ ecosystem: "generic", packages: 1, preset: "", feeds: [] }]);
  assert.deepEqual(
    seen[0].files.map(({ path }) => path),
    ["app/shop-1.0.jar"],
  );
});

test("packages whose versions no order can read are counted and listed, and found by what is about all versions", async () => {
  const app = await place();
  await putRecords(platform, "npm", "osv", [
    osvOf("ALL-1", {
      affected: [{ package: { ecosystem: "npm", name: "odd" }, ranges: [semver({ introduced: "0" })] }],
    }),
    osvOf("SOME-1", affectedBefore("odd", "9.0.0")),
    // Its end cannot be read: all that may lie in the range is affected.
    osvOf("SOON-1", {
      affected: [
        { package: { ecosystem: "npm", name: "left-pad" }, ranges: [semver({ introduced: "0" }, { fixed: "soon" })] },
      ],
    }),
  ]);
  const digest = await push(app, "v1", [NPM, npmFile("app", "odd", "of today"), npmFile("app", "fine", "1.0.0")]);
  const found = await settled(app, digest);
  assert.deepEqual([found.state, found.notCompared], ["KNOWLEDGE_STATE_READ", 1]);
  const names = (found.findings as { vulnerability: string }[]).map(({ vulnerability }) => vulnerability);
  assert.deepEqual(names.sort(), ["ALL-1", "SOON-1"]);
  const [image] = (await coverage(app, digest)).images;
  assert.deepEqual(
    [image?.notCompared, image?.packagesNotCompared],
    [1, [{ purl: "pkg:npm/odd@of%20today", version: "of today" }]],
  );
});

const semver = (...events: object[]) => ({ type: "SEMVER", events });
