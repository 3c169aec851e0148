import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { digestOf, pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Answer, blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const OS = { path: "etc/os-release", content: "ID=debian\nVERSION_ID=12\n" };
const BASE = tarOf([
  OS,
  {
    path: "var/lib/dpkg/status",
    content:
      "Package: bash\nVersion: 5.2-1\nArchitecture: amd64\n\nPackage: zlib1g\nVersion: 1.2\nArchitecture: amd64\n",
  },
]);
const OLD = tarOf([
  npmFile("a", "@one/one", "1.9.0"),
  npmFile("b", "@one/one", "1.10.0"),
  npmFile("a", "gone", "1.0.0"),
]);
const NEW = tarOf([npmFile("a", "@one/one", "1.10.0"), npmFile("a", "came", "2.0.0")]);

let platform: Platform;
let place: PushTarget;
let repo = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  const { url, owner, bootstrap, organization } = platform;
  repo = (await platform.repo(organization, { name: "app" })).uid;
  const token = await platform.token(owner, { audience: new URL(url).host });
  place = { url, token, name: `${bootstrap.organization.name}/app` };
});
after(() => platform.close());

interface Diff {
  from: Side;
  to: Side;
  platforms: {
    platform: string;
    kind: string;
    from?: { digest: string; layerCount: number; packagesState: string; packagesReason: string };
    to?: { digest: string; packagesState: string; packagesReason: string };
    config: Value[];
    labels: Value[];
    annotations: Value[];
    layers: { kind: string; digest: string; size: string }[];
  }[];
  packages: {
    kind: string;
    purl: string;
    name: string;
    fromVersions: string[];
    toVersions: string[];
    platforms: string[];
  }[];
  packagesComplete: boolean;
  addedPackages: number;
  removedPackages: number;
  changedPackages: number;
  annotations: Value[];
  nextPageToken: string;
  markdown: string;
}
interface Side {
  reference: string;
  tag: string;
  digest: string;
  time?: string;
  stored: boolean;
  size: string;
}
interface Value {
  name: string;
  from?: string;
  to?: string;
}

async function ask(from: string, to: string, more = "", token?: string): Promise<Answer> {
  const query = new URLSearchParams({ from, to }).toString();
  const path = `/registry/v2/repos/${repo}/diff?${query}${more}`;
  return await platform.call("GET", path, { token: token ?? (await platform.token()) });
}

async function diff(from: string, to: string, more = ""): Promise<Diff> {
  const { status, text, body } = await ask(from, to, more);
  assert.equal(status, 200, text);
  return body as unknown as Diff;
}

/** The answer as soon as no image waits to be read. */
async function whenRead(from: string, to: string, more = ""): Promise<Diff> {
  await eventually(async () => {
    const images = (await diff(from, to)).platforms.flatMap((each) => [each.from, each.to]);
    return images.every((image) => image?.packagesState !== "PACKAGES_STATE_WAITING");
  });
  return await diff(from, to, more);
}

const changesOf = ({ packages }: Diff): string[] =>
  packages.map(({ kind, purl, fromVersions, toVersions, platforms }) =>
    [kind.replace("CHANGE_KIND_", ""), purl, fromVersions.join("+"), "→", toVersions.join("+"), ...platforms].join(" "),
  );

test("two points of a tag's history differ in packages, configuration, labels, layers and size", async () => {
  const config = (env: string[], labels: object, user?: string): object => ({
    architecture: "amd64",
    os: "linux",
    config: { Env: env, Labels: labels, ...(user === undefined ? {} : { User: user }) },
  });
  const first = await pushLayers(place, "latest", [BASE, OLD], undefined, config(["PATH=/bin", "A=1"], { v: "1" }));
  const then = new Date(platform.clock.nowMs()).toISOString();
  platform.clock.offsetMs += 1_000;
  const second = await pushLayers(place, "latest", [BASE, NEW], undefined, config(["PATH=/bin"], { v: "2" }, "nobody"));
  const found = await whenRead(`latest@${then}`, "latest");
  assert.deepEqual([found.from.digest, found.to.digest], [first, second]);
  assert.deepEqual([found.from.tag, found.from.time, found.to.time], ["latest", then, undefined]);
  assert.equal(found.packagesComplete, true);
  assert.deepEqual(changesOf(found), [
    "CHANGED pkg:npm/%40one/one 1.9.0+1.10.0 → 1.10.0 linux/amd64",
    "ADDED pkg:npm/came  → 2.0.0 linux/amd64",
    "REMOVED pkg:npm/gone 1.0.0 →  linux/amd64",
  ]);
  assert.deepEqual([found.addedPackages, found.removedPackages, found.changedPackages], [1, 1, 1]);
  const [only, ...others] = found.platforms;
  assert.deepEqual(others, []);
  assert.deepEqual([only?.platform, only?.kind], ["linux/amd64", "CHANGE_KIND_CHANGED"]);
  assert.deepEqual(only?.config, [
    { name: "Env.A", from: "1" },
    { name: "User", to: "nobody" },
  ]);
  assert.deepEqual(only?.labels, [{ name: "v", from: "1", to: "2" }]);
  assert.deepEqual(
    only?.layers.map(({ kind, digest, size }) => [kind, digest, Number(size)]),
    [
      ["CHANGE_KIND_REMOVED", digestOf(OLD), OLD.length],
      ["CHANGE_KIND_ADDED", digestOf(NEW), NEW.length],
    ],
  );
  const configs = [config(["PATH=/bin", "A=1"], { v: "1" }), config(["PATH=/bin"], { v: "2" }, "nobody")];
  const sizes = configs.map((each, n) => JSON.stringify(each).length + BASE.length + ([OLD, NEW][n]?.length ?? 0));
  assert.deepEqual([Number(found.from.size), Number(found.to.size)], sizes);

  // The same by digest, and the other way round.
  const back = await diff(second, first);
  assert.deepEqual(changesOf(back), [
    "CHANGED pkg:npm/%40one/one 1.10.0 → 1.9.0+1.10.0 linux/amd64",
    "REMOVED pkg:npm/came 2.0.0 →  linux/amd64",
    "ADDED pkg:npm/gone  → 1.0.0 linux/amd64",
  ]);
  assert.equal(back.from.tag, "");
  assert.deepEqual(changesOf(await diff(first, first)), []);
});

test("an index is compared by platform: what differs on several is one change that names them", async () => {
  const platforms = [
    { os: "linux", architecture: "amd64" },
    { os: "linux", architecture: "arm", variant: "v7" },
    { os: "linux", architecture: "s390x" },
  ];
  const image = async (n: number, ...layers: Buffer[]): Promise<string> =>
    await pushLayers(place, `part-${n}`, layers, undefined, platforms[n]);
  const [amd, arm, s390x] = platforms as [(typeof platforms)[0], (typeof platforms)[0], (typeof platforms)[0]];
  const same = await image(2, BASE);
  const first = await pushIndex(
    place,
    "multi",
    [
      [await image(0, OLD), amd],
      [await image(1, OLD), arm],
      [same, s390x],
    ],
    { a: "1" },
  );
  const second = await pushIndex(place, "multi", [
    [await image(0, NEW), amd],
    [same, s390x],
  ]);
  const found = await whenRead(first, second);
  assert.deepEqual(
    found.platforms.map(({ platform: name, kind }) => `${name} ${kind}`),
    ["linux/amd64 CHANGE_KIND_CHANGED", "linux/arm/v7 CHANGE_KIND_REMOVED", "linux/s390x CHANGE_KIND_UNSPECIFIED"],
  );
  assert.deepEqual(changesOf(found), [
    "CHANGED pkg:npm/%40one/one 1.9.0+1.10.0 → 1.10.0 linux/amd64",
    "REMOVED pkg:npm/%40one/one 1.9.0+1.10.0 →  linux/arm/v7",
    "ADDED pkg:npm/came  → 2.0.0 linux/amd64",
    "REMOVED pkg:npm/gone 1.0.0 →  linux/amd64 linux/arm/v7",
  ]);
  assert.deepEqual(found.annotations, [{ name: "a", from: "1" }]);
  // An image of one platform is compared with the one of an index for that.
  const plain = await pushLayers(place, "plain", [NEW], undefined, amd);
  assert.deepEqual(
    (await whenRead(plain, second)).platforms.map(({ platform: name, kind }) => `${name} ${kind}`),
    ["linux/amd64 CHANGE_KIND_UNSPECIFIED", "linux/s390x CHANGE_KIND_ADDED"],
  );
});

test("packages come in pages of the digests that the first page compared", async () => {
  const many = (from: number, to: number): Buffer =>
    tarOf(Array.from({ length: to - from }, (_, n) => npmFile("a", `package-${from + n}`, "1.0.0")));
  await pushLayers(place, "paged", [many(0, 1)]);
  const first = await pushLayers(place, "paged-new", [many(1, 8)]);
  const all = await whenRead("paged", "paged-new");
  assert.equal(all.packages.length, 8);
  const pages = [await diff("paged", "paged-new", "&page_size=3")];
  // The tag moves: the pages stay those of the diff that was begun.
  await pushLayers(place, "paged-new", [many(0, 1)]);
  for (let nextPageToken = pages[0]?.nextPageToken ?? ""; nextPageToken !== "";) {
    const page = await diff("paged", "paged-new", `&page_size=3&page_token=${nextPageToken}`);
    pages.push(page);
    nextPageToken = page.nextPageToken;
  }
  assert.deepEqual(
    pages.map(({ packages }) => packages.length),
    [3, 3, 2],
  );
  assert.deepEqual(
    pages.flatMap(({ packages }) => packages),
    all.packages,
  );
  for (const page of pages) assert.deepEqual([page.to.digest, page.addedPackages], [first, 7]);
  assert.equal((await diff("paged", "paged-new")).packages.length, 0);
  const other = await ask("paged-new", "paged", `&page_token=${pages[0]?.nextPageToken}`);
  assert.deepEqual([other.status, blamed(other)], [400, ["page_token"]]);
});

test("what is not known about packages is said, never answered as if there were none", async () => {
  const damaged = await pushLayers(place, "damaged", [Buffer.from("no archive")]);
  const good = await pushLayers(place, "good", [NEW]);
  const failed = await whenRead(damaged, good);
  assert.equal(failed.packagesComplete, false);
  assert.deepEqual(changesOf(failed), []);
  assert.equal(failed.platforms[0]?.from?.packagesState, "PACKAGES_STATE_FAILED");
  assert.match(failed.platforms[0]?.from?.packagesReason ?? "", /is no tar archive/);
  assert.equal(failed.platforms[0]?.to?.packagesState, "PACKAGES_STATE_KNOWN");
  assert.match((await whenRead(damaged, good, "&format=MARKDOWN")).markdown, /are not known: it could not be read/);

  // A tag may point to what the repo does not hold.
  await platform.tag(repo, { name: "elsewhere", digest: `sha256:${"a".repeat(64)}` });
  const gone = await diff("elsewhere", good);
  assert.deepEqual([gone.from.stored, gone.to.stored, gone.packagesComplete], [false, true, false]);
  assert.deepEqual([gone.platforms, gone.packages], [[], []]);
  assert.match((await diff("elsewhere", good, "&format=MARKDOWN")).markdown, /is not stored any longer/);
});

test("Markdown has the same, and what an image says cannot break out of it", async () => {
  const labels = (evil: string): object => ({ architecture: "amd64", os: "linux", config: { Labels: { evil } } });
  await pushLayers(place, "md-1", [OLD], undefined, labels("x"));
  await pushLayers(place, "md-2", [NEW], undefined, labels("a | b\n<script>`"));
  const { markdown, ...rest } = await whenRead("md-1", "md-2", "&format=MARKDOWN");
  assert.match(markdown, /^# acme\/app: md-1 → md-2$/m);
  assert.match(markdown, /^1 added, 1 removed, 1 changed\.$/m);
  assert.match(markdown, /^\| changed \| npm\/%40one\/one \| 1\.9\.0, 1\.10\.0 \| 1\.10\.0 \| linux\/amd64 \|$/m);
  assert.match(markdown, /^\| evil \| x \| a \\\| b \\<script\\>\\` \|$/m);
  assert.deepEqual([rest.packages, rest.platforms, rest.addedPackages], [[], [], 1]);
});

test("a reference that is none is blamed by its field, one that names nothing is NOT_FOUND", async () => {
  const good = await pushLayers(place, "refs", [NEW]);
  const later = new Date(platform.clock.nowMs() + 86_400_000).toISOString();
  for (const [from, to, field] of [
    ["", good, "from"],
    [good, "sha256:abc", "to"],
    ["not/a/tag", good, "from"],
    ["refs@yesterday", good, "from"],
    [good, `refs@${later}`, "to"],
  ] as const) {
    const answer = await ask(from, to);
    assert.deepEqual([answer.status, blamed(answer)], [400, [field]], `${from} ${to}`);
  }
  for (const from of ["nothing", "refs@2020-01-01", `sha256:${"0".repeat(64)}`])
    assert.equal((await ask(from, good)).status, 404, from);
  // A date means the end of its day.
  const today = new Date(platform.clock.nowMs()).toISOString().slice(0, 10);
  assert.equal((await diff(`refs@${today}`, good)).from.digest, good);
  // A tag that was deleted is in its history still.
  const then = new Date(platform.clock.nowMs()).toISOString();
  platform.clock.offsetMs += 1_000;
  const { tags } = await platform.ok("GET", `/registry/v2/tags?name=refs&uidp.children_of=${repo}`);
  await platform.ok("DELETE", `/registry/v2/tags/${(tags as { uid: string }[])[0]?.uid}`);
  assert.equal((await ask("refs", good)).status, 404);
  assert.equal((await diff(`refs@${then}`, good)).from.digest, good);
});

test("a stranger sees no repo; who may not list packages sees all else, and that", async () => {
  const [from, to] = [await pushLayers(place, "r1", [OLD]), await pushLayers(place, "r2", [NEW])];
  await whenRead(from, to);
  const holder = async (...capabilities: string[]): Promise<string> => {
    const { organization } = platform;
    const role = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
      name: `role-${capabilities.length}`,
      capabilities,
    });
    const identity = await platform.identity(organization);
    await platform.bind(organization, identity, role.uid);
    return await platform.token(identity);
  };
  const stranger = await platform.token(await platform.identity(platform.organization));
  assert.equal((await ask(from, to, "", stranger)).status, 404);
  const needed = ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_MANIFEST_METADATA_LIST"];
  assert.equal((await ask(from, to, "", await holder("CAP_REPO_LIST"))).status, 403);
  assert.equal((await ask(from, to, "", await holder("CAP_REPO_LIST", "CAP_TAG_LIST"))).status, 403);
  const without = (await ask(from, to, "", await holder(...needed))).body as unknown as Diff;
  assert.equal(without.platforms[0]?.layers.length, 2);
  assert.deepEqual([without.packages, without.packagesComplete], [[], false]);
  assert.equal(without.platforms[0]?.to?.packagesState, "PACKAGES_STATE_NOT_PERMITTED");
  const all = (await ask(from, to, "", await holder(...needed, "CAP_TENANT_SBOMS_LIST"))).body as unknown as Diff;
  assert.equal(all.packages.length, 3);
});
