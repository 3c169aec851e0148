// What clients of npm get of an upstream's packages under a policy, in metadata and by direct URL, and what is noted.
import assert from "node:assert/strict";
import { after, before, beforeEach, test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { openNpm, npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { type NpmRegistry, startNpmRegistry } from "../../../server/test/support/npm-registry.ts";
import { newPolicy } from "../../../server/test/support/policies.ts";

const DAY_MS = 86_400_000;
const ABBREVIATED = "application/vnd.npm.install-v1+json";

let platform: Platform;
let upstream: NpmRegistry;
let startedMs = 0;
before(async (t) => {
  upstream = await startNpmRegistry(t as TestContext);
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  startedMs = platform.clock.nowMs();
});
after(() => platform.close());

let group = "";
let path = "";
let policy = "";
let count = 0;
/** A group with the upstream and a policy. */
async function begin(fields: object): Promise<void> {
  const { uid, name } = await platform.group(platform.organization, { name: `team-${(count += 1)}` });
  group = uid;
  path = `acme/${name}`;
  await platform.ok("POST", `/libraries/v2/upstreams/${group}`, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    url: upstream.url,
  });
  policy = (await newPolicy(platform, group, fields)).uid;
}
beforeEach(() => {
  platform.clock.offsetMs = 0;
});

/** Publishes versions at the upstream, each so many days before the tests began; MIT unless a license is given. */
function put(name: string, ...versions: [version: string, days: number, license?: string][]): void {
  for (const [version, days, license = "MIT"] of versions)
    upstream.publish(name, version, {
      manifest: { license },
      time: new Date(startedMs - days * DAY_MS).toISOString(),
    });
}
const get = async (at: string, accept = ABBREVIATED, token?: string): Promise<Answer> =>
  platform.call("GET", at, { token: token ?? (await platform.token()), headers: { accept } });
const packument = (name: string, accept?: string): Promise<Answer> => get(npmPath(path, name), accept);
const tarball = (name: string, version: string, token?: string): Promise<Answer> =>
  get(`${npmPath(path, name)}/-/${name.slice(name.indexOf("/") + 1)}-${version}.tgz`, ABBREVIATED, token);
const versionsIn = ({ body }: Answer): string[] => Object.keys((body["versions"] ?? {}) as object);
const latestIn = ({ body }: Answer): unknown => (body["dist-tags"] as { latest?: string } | undefined)?.latest;
const errorOf = ({ status, body }: Answer): [number, string] => [status, String(body["error"])];

/** The blocks of the group, once there are that many requests of them. */
async function blocks(requests: number, query = ""): Promise<Json[]> {
  return await eventually(async () => {
    const { blocks: found } = await platform.ok<{ blocks: Json[] }>(
      "GET",
      `/libraries/v2/blocks?uidp.children_of=${group}${query}`,
    );
    return found.reduce((sum, block) => sum + Number(block["count"]), 0) >= requests && found;
  });
}

test("a version that is too young is in no metadata, and its URL says when it opens", async () => {
  await begin({});
  put("young", ["1.0.0", 30], ["1.1.0", 8], ["2.0.0-rc.1", 7.5], ["2.0.0", 2]);
  for (const accept of [ABBREVIATED, "application/json"]) {
    const answer = await packument("young", accept);
    assert.deepEqual([latestIn(answer), versionsIn(answer)], ["1.1.0", ["1.0.0", "1.1.0", "2.0.0-rc.1"]]);
  }
  const { body } = await packument("young", "application/json");
  assert.equal((body["time"] as Record<string, string>)["2.0.0"], undefined);
  const version = await get(`${npmPath(path, "young")}/2.0.0`);
  assert.deepEqual([version.status, (await get(`${npmPath(path, "young")}/latest`)).body["version"]], [403, "1.1.0"]);
  const [status, error] = errorOf(await tarball("young", "2.0.0"));
  assert.equal(status, 403);
  const opens = /^Blocked: young@2\.0\.0 is too young: it opens at (.*Z)$/.exec(error)?.[1];
  assert.ok(Math.abs(Date.parse(opens ?? "") - startedMs - 5 * DAY_MS) < 60_000, error);
  assert.equal(upstream.count("/young/-/young-2.0.0.tgz"), 0, "it was fetched");
  assert.equal((await tarball("young", "1.1.0")).status, 200);
});

test("it opens when the clock passes that time, also in a document that is in memory", async () => {
  await begin({ cooldown: "259200s" });
  put("ripe", ["1.0.0", 30], ["1.1.0", 2]);
  assert.equal(latestIn(await packument("ripe")), "1.0.0");
  const first = await packument("ripe");
  platform.clock.offsetMs = DAY_MS - 60_000;
  assert.equal((await packument("ripe")).headers.etag, first.headers.etag);
  assert.equal((await tarball("ripe", "1.1.0")).status, 403);
  platform.clock.offsetMs = DAY_MS + 1_000;
  const opened = await packument("ripe");
  assert.deepEqual([latestIn(opened), versionsIn(opened)], ["1.1.0", ["1.0.0", "1.1.0"]]);
  assert.equal((await tarball("ripe", "1.1.0")).status, 200);
});

test("it opens in a cached answer too, where nobody is asked any more", async () => {
  await begin({ mode: "POLICY_MODE_PREVIEW" });
  put("cached", ["1.0.0", 30], ["1.0.1", 2], ["1.1.0", 20]);
  for (const version of ["1.0.0", "1.0.1", "1.1.0"]) assert.equal((await tarball("cached", version)).status, 200);
  const { upstreams } = await platform.ok<{ upstreams: { uid: string }[] }>(
    "GET",
    `/libraries/v2/upstreams?uidp.children_of=${group}`,
  );
  await platform.ok("DELETE", `/libraries/v2/upstreams/${upstreams[0]?.uid}`);
  await platform.ok("PATCH", `/libraries/v2/artifactPolicies/${policy}`, {
    mode: "POLICY_MODE_ENFORCE",
    cooldown: "259200s",
  });
  platform.clock.offsetMs = DAY_MS - 20_000;
  const token = await platform.token();
  const shown = async (): Promise<string[]> => versionsIn(await get(npmPath(path, "cached"), ABBREVIATED, token));
  for (let time = 0; time < 3; time += 1) assert.deepEqual(await shown(), ["1.0.0", "1.1.0"]);
  platform.clock.offsetMs = DAY_MS + 5_000;
  assert.deepEqual(await shown(), ["1.0.0", "1.0.1", "1.1.0"]);
});

test("a package of which every version is blocked is answered with 409 and the reason", async () => {
  await begin({});
  put("new", ["1.0.0", 1], ["1.0.1", 0]);
  const [status, error] = errorOf(await packument("new"));
  assert.equal(status, 409);
  assert.match(error, /^Blocked: every version of new is blocked: 1\.0\.1 is too young: .*; the first opens at .*Z$/);
  platform.clock.offsetMs = 6.5 * DAY_MS;
  assert.deepEqual(versionsIn(await packument("new")), ["1.0.0"]);
});

test("in preview clients get everything, and the list says what they would not have got", async () => {
  await begin({ mode: "POLICY_MODE_PREVIEW", deniedLicenses: ["GPL-*"] });
  put("free", ["1.0.0", 30], ["1.1.0", 30, "GPL-3.0-only"], ["2.0.0", 2]);
  const answer = await packument("free");
  assert.deepEqual([latestIn(answer), versionsIn(answer)], ["2.0.0", ["1.0.0", "1.1.0", "2.0.0"]]);
  assert.equal((await tarball("free", "1.1.0")).status, 200);
  const noted = (await blocks(2)).map(({ name, ...block }) => [name, block["version"], block["reason"], block["mode"]]);
  assert.deepEqual(noted.toSorted(), [
    ["free", "1.1.0", "BLOCK_REASON_LICENSE", "POLICY_MODE_PREVIEW"],
    ["free", "2.0.0", "BLOCK_REASON_COOLDOWN", "POLICY_MODE_PREVIEW"],
  ]);
});

test("a change of the policy counts with the next request, whatever is in memory", async () => {
  await begin({ mode: "POLICY_MODE_PREVIEW" });
  put("changing", ["1.0.0", 30], ["1.1.0", 1]);
  assert.equal(latestIn(await packument("changing")), "1.1.0");
  assert.equal((await tarball("changing", "1.1.0")).status, 200);
  const patch = (mask: string, body: object): Promise<Json> =>
    platform.ok("PATCH", `/libraries/v2/artifactPolicies/${policy}?update_mask=${mask}`, body);
  await patch("mode", { mode: "POLICY_MODE_ENFORCE" });
  assert.equal(latestIn(await packument("changing")), "1.0.0");
  // It is kept by now, and blocked all the same.
  assert.equal((await tarball("changing", "1.1.0")).status, 403);
  await patch("allowedPurls", { allowedPurls: ["pkg:npm/changing@1.1.0"] });
  assert.equal(latestIn(await packument("changing")), "1.1.0");
  assert.equal((await tarball("changing", "1.1.0")).status, 200);
  await patch("blockedPurls", { blockedPurls: ["pkg:npm/changing?vers=vers:npm/>=1.1.0"] });
  assert.equal(latestIn(await packument("changing")), "1.0.0");
  assert.deepEqual(errorOf(await tarball("changing", "1.1.0")), [
    403,
    "Blocked: changing@1.1.0 is blocked by the rule pkg:npm/changing?vers=vers:npm/>=1.1.0",
  ]);
  await platform.ok("DELETE", `/libraries/v2/artifactPolicies/${policy}`);
  assert.equal(latestIn(await packument("changing")), "1.1.0");
});

test("a record of malware that comes today blocks what was there yesterday", async () => {
  await begin({ cooldown: "0s" });
  put("stolen", ["1.0.0", 30], ["1.0.1", 20]);
  assert.equal(latestIn(await packument("stolen")), "1.0.1");
  assert.equal((await tarball("stolen", "1.0.1")).status, 200);
  // In memory as it is now, after the file has come.
  assert.equal(latestIn(await packument("stolen")), "1.0.1");
  const affected = [{ package: { ecosystem: "npm", name: "stolen" }, versions: ["1.0.1"] }];
  await putRecords(platform, "osv", "osv", [osvOf("MAL-2026-99", { affected })]);
  assert.deepEqual(versionsIn(await packument("stolen")), ["1.0.0"]);
  assert.deepEqual(errorOf(await tarball("stolen", "1.0.1")), [403, "Blocked: stolen@1.0.1 is malware by MAL-2026-99"]);
});

test("licenses are judged in metadata and by URL; what has none is as the policy says", async () => {
  await begin({ cooldown: "0s", allowedLicenses: ["MIT", "BSD-*"], unknownLicense: "UNKNOWN_LICENSE_BLOCK" });
  put(
    "licensed",
    ["1.0.0", 30],
    ["1.1.0", 30, "(GPL-2.0-only OR BSD-3-Clause)"],
    ["1.2.0", 30, "GPL-2.0-only"],
    ["1.3.0", 30, ""],
  );
  assert.deepEqual(versionsIn(await packument("licensed")), ["1.0.0", "1.1.0"]);
  assert.deepEqual(errorOf(await tarball("licensed", "1.2.0")), [
    403,
    "Blocked: licensed@1.2.0 has the license GPL-2.0-only, which is not allowed",
  ]);
  // What an upstream writes there may be anything.
  put("licensed", ["1.4.0", 30, `a\nb${"c".repeat(100_000)}`]);
  platform.clock.offsetMs = 600_000;
  assert.deepEqual(errorOf(await tarball("licensed", "1.4.0")), [
    403,
    `Blocked: licensed@1.4.0 has the license a b${"c".repeat(97)}, which is not allowed`,
  ]);
  assert.deepEqual(errorOf(await tarball("licensed", "1.3.0")), [403, "Blocked: licensed@1.3.0 has no known license"]);
});

test("what a group has published is blocked by package URLs alone", async () => {
  await begin({ allowedLicenses: ["MIT"], blockedPurls: ["pkg:npm/own@1.0.1"] });
  for (const version of ["1.0.0", "1.0.1"])
    assert.equal(
      (await publishNpm(platform, path, "own", version, { manifest: { license: "GPL-3.0-only" } })).status,
      201,
    );
  assert.deepEqual([latestIn(await packument("own")), versionsIn(await packument("own"))], ["1.0.0", ["1.0.0"]]);
  assert.equal((await tarball("own", "1.0.0")).status, 200);
  assert.equal((await tarball("own", "1.0.1")).status, 403);
});

test("the list of blocks has a row for each version, identity and reason, which counts its requests", async () => {
  await begin({});
  put("counted", ["1.0.0", 30], ["1.1.0", 3], ["1.2.0", 2]);
  const [ann, bob] = [await platform.identity(group, "viewer"), await platform.identity(group, "viewer")];
  const [annsToken, bobsToken] = [await platform.token(ann), await platform.token(bob)];
  for (const token of [annsToken, annsToken, bobsToken])
    assert.equal((await tarball("counted", "1.1.0", token)).status, 403);
  // Metadata note one version, the one that would have been the latest; those in memory, too.
  for (const _ of [1, 2]) assert.equal((await get(npmPath(path, "counted"), ABBREVIATED, annsToken)).status, 200);
  const all = await blocks(5);
  assert.deepEqual(
    all.map((block) => [block["version"], block["identity"], block["count"]]).toSorted(),
    [
      ["1.1.0", ann, 2],
      ["1.1.0", bob, 1],
      ["1.2.0", ann, 2],
    ].toSorted(),
  );
  const [one] = await blocks(1, `&identity=${bob}`);
  const { uid, firstTime, lastTime, openTime, detail, ...rest } = one ?? ({} as Json);
  assert.ok(String(uid).startsWith(`${group}/`));
  assert.ok(Date.parse(String(firstTime)) <= Date.parse(String(lastTime)));
  assert.ok(Math.abs(Date.parse(String(openTime)) - startedMs - 4 * DAY_MS) < 60_000);
  assert.match(String(detail), /^published at .*Z$/);
  assert.deepEqual(rest, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    name: "counted",
    version: "1.1.0",
    identity: bob,
    reason: "BLOCK_REASON_COOLDOWN",
    mode: "POLICY_MODE_ENFORCE",
    count: 1,
  });
  // The latest first; the same row for what is asked for again.
  platform.clock.offsetMs = 60_000;
  assert.equal((await tarball("counted", "1.1.0", await platform.token(bob))).status, 403);
  const [again] = await blocks(6);
  assert.deepEqual([again?.uid, again?.["count"], again?.["firstTime"]], [uid, 2, firstTime]);
  assert.notEqual(again?.["lastTime"], lastTime);
  const none = await platform.ok<Json>(
    "GET",
    `/libraries/v2/blocks?uidp.children_of=${group}&reason=BLOCK_REASON_PURL`,
  );
  assert.equal(none.totalCount, "0");
});

test("the list of blocks is for those who set the rules and for auditors, and has an event for each new row", async () => {
  await begin({});
  put("seen", ["1.0.0", 30], ["1.1.0", 3]);
  for (const _ of [1, 2]) await tarball("seen", "1.1.0");
  await blocks(2);
  const list = async (role: string): Promise<Answer> =>
    get(
      `/libraries/v2/blocks?uidp.children_of=${group}`,
      "application/json",
      await platform.token(await platform.identity(group, role)),
    );
  for (const [role, expected] of [
    ["editor", "1"],
    ["auditor", "1"],
    ["viewer", "0"],
    ["registry.push", "0"],
  ] as const)
    assert.equal((await list(role)).body.totalCount, expected, role);
  const feed = `/events/v2/events?group=${group}&type_prefixes=dev.moorage.libraries.version.blocked`;
  const events = await eventually(async () => {
    const { events: found } = await platform.ok<{ events: Json[] }>("GET", feed);
    return found.length > 0 && found;
  });
  assert.equal(events.length, 1, JSON.stringify(events));
  assert.match(JSON.stringify(events[0]), /"name":"seen","version":"1.1.0".*"reason":"cooldown"/);
});

test("npm installs what is open, and prints why it does not get a version by its number", async (t) => {
  await begin({});
  put("installed", ["1.0.0", 30], ["1.1.0", 1]);
  const token = await platform.token();
  const npm = openNpm(t, `${platform.url}/npm/${path}/`, (place) => `${place}:_authToken=${token}`);
  const app = npm.folderOf("app", { name: "app", version: "1.0.0" });
  const installed = await npm.run(["install", "--no-audit", "installed"], { cwd: app });
  assert.equal(installed.code, 0, installed.stderr);
  const list = await npm.run(["ls", "--json"], { cwd: app });
  assert.equal(JSON.parse(list.stdout).dependencies.installed.version, "1.0.0");
  const young = await npm.run(["install", "--no-audit", "installed@1.1.0"], { cwd: app });
  assert.notEqual(young.code, 0);
  const byUrl = await npm.run(
    ["install", "--no-audit", `${platform.url}/npm/${path}/installed/-/installed-1.1.0.tgz`],
    { cwd: app },
  );
  assert.notEqual(byUrl.code, 0);
  assert.match(byUrl.stderr, /403/);
});
