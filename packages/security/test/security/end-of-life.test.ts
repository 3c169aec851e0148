import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { loadConfig, withFeeds } from "../../../server/src/index.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { realData } from "../../../server/test/support/feed-files.ts";
import { blamed, type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { zipOf } from "../../../server/test/support/zip.ts";

// Which tags are of a product that is past its end of life, and what feeds say about products.
const page = (identifiers: string[], ...releases: [cycle: string, eol: string, latest: string][]): string =>
  [
    "---",
    "title: A product",
    "identifiers:",
    ...identifiers.map((purl) => `  - purl: ${purl}`),
    "releases:",
    ...releases.map(
      ([cycle, eol, latest]) =>
        `  - releaseCycle: "${cycle}"\n    releaseDate: 2020-01-02\n    eol: ${eol}\n    latest: "${latest}"`,
    ),
    "---",
    "Text.",
  ].join("\n");

const ENGINE = page(
  ["pkg:docker/library/engine", "pkg:github/acme/engine", "pkg:npm/%40acme/engine"],
  ["3", "2099-01-01", "3.1.0"],
  ["2.10", "false", "2.10.4"],
  ["2.1", "2026-08-31", "2.1.9"],
  ["2", "2020-05-05", "2.0.1"],
  ["1", "true", "1.9.9"],
);
const DEBIAN = page(["pkg:generic/debian"], ["12", "2028-06-30", "12.9"], ["9", "2022-06-30", "9.13"]);
const AS_OF = "2026-11-01T00:00:00Z";

let platform: Platform;
let registry = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  registry = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const archive = path.join(platform.settings["MOORAGE_DATA_DIR"] ?? "", "products.zip");
  writeFileSync(
    archive,
    zipOf([
      { name: "products/engine.md", content: ENGINE },
      { name: "products/debian.md", content: DEBIAN },
    ]),
  );
  await importFeed("eol", archive);
});
after(() => platform.close());

async function importFeed(name: string, file: string): Promise<number> {
  return await withFeeds(loadConfig(platform.settings), async (feeds) => {
    await feeds.add({ name, format: "endoflife", licence: "MIT" });
    return (await feeds.importData(name, file, {})).changed;
  });
}

interface EolTag {
  name: string;
  uid: string;
  digest: string;
  product: string;
  version: string;
  versionSource: string;
  productSource: string;
  release: { version: string; eolDate: string; eol: boolean; latestVersion: string };
  status: string;
  graceExpireTime?: string;
  feed: { name: string; licence: string };
}

const target = (name: string): PushTarget => ({ url: platform.url, token: registry, name: `acme/${name}` });
const labeled = (labels: object): object => ({ architecture: "amd64", os: "linux", config: { Labels: labels } });
const push = (name: string, tag: string, labels: object = {}, ...files: Parameters<typeof tarOf>[0][number][]) =>
  pushLayers(target(name), tag, [tarOf(files)], undefined, labeled(labels));

/** All tags below the parent, over all pages. */
async function listed(parent: string, query = `as_of=${AS_OF}`, token?: string): Promise<EolTag[]> {
  const found: EolTag[] = [];
  for (let pageToken = ""; ;) {
    const path = `/registry/v2/eolTags?uidp.descendants_of=${parent}&${query}${pageToken && `&page_token=${pageToken}`}`;
    const { status, body, text } = await platform.call("GET", path, { token: token ?? (await platform.token()) });
    assert.equal(status, 200, text);
    found.push(...(body["eolTags"] as EolTag[]));
    pageToken = body.nextPageToken;
    if (pageToken === "") return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

async function whenRead(digest: string): Promise<void> {
  await eventually(async () => {
    const row = await platform.reader
      .selectFrom("image_catalogs")
      .select("state")
      .where("digest", "=", digest)
      .executeTakeFirst();
    return row?.state === 2;
  });
}

test("a repo's setting names the product; the longest cycle that begins the version counts", async () => {
  const { uid } = await platform.repo(platform.organization, { name: "by-setting", product: { id: "engine" } });
  const digest = await push("by-setting", "2.1.4");
  for (const tag of ["2.10.1", "2.7-slim", "v1.0", "3", "latest"]) await push("by-setting", tag);
  await push("by-setting", "labeled", { "org.opencontainers.image.version": "2.1.0" });
  const tags = await listed(uid);
  assert.deepEqual(
    tags.map(({ name, release, status, versionSource }) => [name, release.version, status, versionSource]),
    [
      ["2.1.4", "2.1", "EOL_TAG_STATUS_IN_GRACE", "tag"],
      ["2.7-slim", "2", "EOL_TAG_STATUS_INACTIVE", "tag"],
      ["labeled", "2.1", "EOL_TAG_STATUS_IN_GRACE", "org.opencontainers.image.version"],
      ["v1.0", "1", "EOL_TAG_STATUS_INACTIVE", "tag"],
    ],
  );
  const [first] = tags;
  assert.deepEqual([first?.digest, first?.product, first?.productSource], [digest, "engine", "PRODUCT_SOURCE_REPO"]);
  assert.deepEqual(
    [first?.release.eolDate, first?.release.eol, first?.release.latestVersion],
    ["2026-08-31", true, "2.1.9"],
  );
  // Six months after the last of August is the last of February.
  assert.equal(first?.graceExpireTime, "2027-02-28T00:00:00.000Z");
  assert.deepEqual(first?.feed, { name: "eol", licence: "MIT" });
  // It ends with the beginning of the day, in UTC.
  const names = async (asOf: string): Promise<string[]> =>
    (await listed(uid, `as_of=${asOf}`)).map(({ name }) => name).filter((name) => name.startsWith("2.1"));
  assert.deepEqual(await names("2026-08-30T23:59:59.999Z"), []);
  assert.deepEqual(await names("2026-08-31T00:00:00Z"), ["2.1.4"]);
  assert.deepEqual(
    (await listed(uid, "as_of=2027-02-28T00:00:00Z&name=2.1.4")).map(({ status }) => status),
    ["EOL_TAG_STATUS_INACTIVE"],
  );
  // Only the active tags count, once a repo names some.
  await platform.ok("PATCH", `/registry/v2/repos/${uid}`, { activeTags: ["v1.0", "3"] });
  assert.deepEqual(
    (await listed(uid)).map(({ name }) => name),
    ["v1.0"],
  );
});

test("without a setting labels name the product, then the image's own purl, then a package of the repo's name", async () => {
  const group = (await platform.group(platform.organization, { name: "mapped" })).uid;
  await push("mapped/by-title", "1", {
    "org.opencontainers.image.title": "engine",
    "org.opencontainers.image.version": "2.0",
  });
  await push("mapped/by-source", "1", {
    "org.opencontainers.image.source": "https://github.com/Acme/engine.git",
    "org.opencontainers.image.version": "1.2",
  });
  await push("mapped/engine", "2.0.3");
  const packaged = await push(
    "mapped/app",
    "latest",
    { "org.opencontainers.image.title": "engine" },
    npmFile("a", "@acme/engine", "2.1.3"),
  );
  const os = await push(
    "mapped/debian",
    "stable",
    {},
    { path: "etc/os-release", content: "ID=debian\nVERSION_ID=9\n" },
  );
  await push("mapped/other", "1");
  const arm = { os: "linux", architecture: "arm64" };
  const inner = await pushLayers(target("mapped/index"), "inner", [Buffer.from("x")], undefined, {
    ...arm,
    config: { Labels: { "org.opencontainers.image.title": "engine", "org.opencontainers.image.version": "1.0" } },
  });
  await pushIndex(target("mapped/index"), "multi", [[inner, arm]]);
  await whenRead(packaged);
  await whenRead(os);
  const found = (await listed(group)).map(({ name, product, productSource, version, versionSource }) =>
    [name, product, productSource.replace("PRODUCT_SOURCE_", ""), version, versionSource].join(" "),
  );
  assert.deepEqual(found.sort(), [
    "1 engine LABEL 1.2 org.opencontainers.image.version",
    "1 engine LABEL 2.0 org.opencontainers.image.version",
    "2.0.3 engine IMAGE 2.0.3 tag",
    "inner engine LABEL 1.0 org.opencontainers.image.version",
    "latest engine LABEL 2.1.3 pkg:npm/%40acme/engine@2.1.3",
    "multi engine LABEL 1.0 org.opencontainers.image.version",
  ]);
  const { repos } = await platform.ok("GET", `/registry/v2/repos?name=debian&uidp.descendants_of=${group}`);
  await platform.ok("PATCH", `/registry/v2/repos/${(repos as Json[])[0]?.uid}`, { product: { id: "debian" } });
  const debian = (await listed(group)).find(({ name }) => name === "stable");
  assert.deepEqual([debian?.release.version, debian?.versionSource], ["9", "os-release"]);
});

test("pages go on after the tag that was looked at last, whatever was found, with the filters of the first", async () => {
  const group = (await platform.group(platform.organization, { name: "paged" })).uid;
  const { uid } = await platform.repo(group, { name: "many", product: { id: "engine" } });
  const digest = await push("paged/many", "first");
  const tags = Array.from({ length: 1_200 }, (_, n) => ({ n, name: n % 400 === 399 ? `1.${n}` : `none-${n}` }));
  await platform.transact(async (tx) => {
    for (let at = 0; at < tags.length; at += 100)
      await tx
        .insertInto("tags")
        .values(
          tags.slice(at, at + 100).map(({ n, name }) => ({
            uid: `${uid}/${n.toString(16).padStart(16, "0")}`,
            parent: uid,
            name,
            digest,
            deprecated: 0,
            bundles: "[]",
            create_time: 1,
            update_time: 1,
          })),
        )
        .execute();
  });
  assert.deepEqual(
    (await listed(uid)).map(({ name }) => name),
    ["1.1199", "1.399", "1.799"],
  );
  assert.deepEqual(
    (await listed(uid, `as_of=${AS_OF}&page_size=1`)).map(({ name }) => name),
    ["1.1199", "1.399", "1.799"],
  );
  const first = await platform.ok("GET", `/registry/v2/eolTags?uidp.descendants_of=${uid}&page_size=1`);
  const second = await platform.ok("GET", `/registry/v2/eolTags?page_size=1&page_token=${first.nextPageToken}`);
  assert.deepEqual(
    (await rows(second, "eolTags")).map(({ name }) => name),
    ["1.799"],
  );
  const token = await platform.token();
  const other = await platform.call("GET", `/registry/v2/eolTags?name=x&page_token=${first.nextPageToken}`, { token });
  assert.deepEqual([other.status, blamed(other)], [400, ["page_token"]]);
});

test("who may not list tags there gets none", async () => {
  const { organization } = platform;
  await platform.repo(organization, { name: "seen", product: { id: "engine" } });
  await push("seen", "1.0");
  const stranger = await platform.token(await platform.identity(organization));
  assert.deepEqual(await listed(organization, `as_of=${AS_OF}&name=1.0`, stranger), []);
  const viewer = await platform.token(await platform.identity(organization, "viewer"));
  assert.deepEqual((await listed(organization, `as_of=${AS_OF}&name=1.0`, viewer)).length, 1);
});

test("the versions of a product are answered by its id and by its purls", async () => {
  const token = await platform.token(await platform.identity(platform.organization));
  const ask = (name: string) => platform.call("GET", `/registry/v2/versions/${encodeURIComponent(name)}`, { token });
  for (const name of ["engine", "pkg:npm/%40acme/engine@1.0.0", "pkg:docker/library/engine"]) {
    const { status, body, text } = await ask(name);
    assert.equal(status, 200, text);
    const versions = (field: string): string[] => (body[field] as { version: string }[]).map(({ version }) => version);
    assert.deepEqual(
      [body["product"], versions("versions"), body["latestVersion"], body["gracePeriodMonths"]],
      ["engine", ["3", "2.10"], "3.1.0", 6],
    );
    assert.ok(versions("eolVersions").includes("2"));
  }
  for (const name of ["nothing", "pkg:npm/nothing"]) assert.equal((await ask(name)).status, 404, name);
});

test("the products of endoflife.date are read: which tags of node are past their end of life", async (t) => {
  const file = realData(t, "endoflife-products.zip");
  if (file === undefined) return;
  assert.ok((await importFeed("real", file)) > 450);
  const { uid } = await platform.repo(platform.organization, { name: "node" });
  for (const tag of ["18.20.4-alpine", "24", "25.1"]) await push("node", tag);
  assert.deepEqual(
    (await listed(uid)).map(({ name, product, release }) => [name, product, release.eolDate]),
    [
      ["18.20.4-alpine", "nodejs", "2025-04-30"],
      ["25.1", "nodejs", "2026-06-01"],
    ],
  );
});
