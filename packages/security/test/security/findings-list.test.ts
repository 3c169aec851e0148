import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { digestOf, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Finding {
  vulnerability: string;
  aliases: string[];
  repo: string;
  digest: string;
  tags: string[];
  package: { purl: string; name: string; version: string };
  locations: { layer: string; path: string }[];
  severity: string;
  score?: number;
  kev?: boolean;
  epss?: number;
  fixState: string;
  fixVersions?: string[];
  records: { feed: string; id: string; licence: string }[];
  state: string;
  openTime: string;
  closeTime?: string;
  closeReason?: string;
}

const PAD = tarOf([npmFile("app", "left-pad", "1.0.0"), npmFile("app", "other", "1.0.0")]);
const NEWER = tarOf([npmFile("app", "left-pad", "2.0.0"), npmFile("app", "other", "1.0.0")]);
const V3 = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };

let platform: Platform;
let team = "";
const repos: Record<string, string> = {};
const digests: Record<string, string> = {};
let startMs = 0;

before(async () => {
  startMs = Date.now();
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  const { organization } = platform;
  team = (await platform.group(organization, { name: "team" })).uid;
  const other = (await platform.group(organization, { name: "other" })).uid;
  repos["team"] = (await platform.repo(team, { name: "app" })).uid;
  repos["other"] = (await platform.repo(other, { name: "app" })).uid;
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.5.0") }),
    osvOf("GHSA-dddd-eeee-ffff", { ...affectedBefore("other", "9.0.0"), ...V3 }),
    osvOf("ACME-1", affectedBefore("other", "1.5.0")),
  ]);
  await putRecords(platform, "npm", "osv", [
    osvOf("NPM-7", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.4.0"), ...V3 }),
  ]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1")]);
  await putRecords(platform, "epss", "epss", [plainRecord("CVE-2026-1", { epss: 0.25, percentile: 0.5 })]);
  const push = async (path: string, tag: string, layer: Buffer): Promise<string> =>
    await pushLayers(await target(path), tag, [layer]);
  digests["old"] = await push("team/app", "v1", PAD);
  await push("other/app", "latest", PAD);
  digests["new"] = await push("team/app", "v2", NEWER);
  await until("", ({ length }) => length === 8);
});
after(() => platform.close());

async function target(path: string): Promise<PushTarget> {
  const { url, owner, bootstrap } = platform;
  const token = await platform.token(owner, { audience: new URL(url).host });
  return { url, token, name: `${bootstrap.organization.name}/${path}` };
}

async function ask(query: string, token?: string): Promise<Answer> {
  return await platform.call("GET", `/vulnerabilities/v2/findings?${query}`, {
    token: token ?? (await platform.token()),
  });
}

async function list(query: string, token?: string): Promise<Finding[]> {
  const { status, body, text } = await ask(query, token);
  assert.equal(status, 200, text);
  return (body["findings"] as Finding[] | undefined) ?? [];
}

/** The findings as soon as they are as wanted. */
async function until(query: string, wanted: (found: Finding[]) => boolean): Promise<Finding[]> {
  return await eventually(
    async () => {
      const found = await list(query);
      return wanted(found) && found;
    },
    { instead: () => shorts(query) },
  );
}

const short = ({ repo, tags, package: { name, version }, vulnerability }: Finding): string => {
  const where = Object.keys(repos).find((each) => repos[each] === repo) ?? "";
  return `${where} ${tags.join()} ${name} ${version} ${vulnerability}`;
};
const shorts = async (query: string, token?: string): Promise<string[]> => (await list(query, token)).map(short).sort();

test("a finding says which vulnerability it is, of which package, where, and what ends it", async () => {
  const [found, ...more] = await list(`repo=${repos["team"]}&tag=v1&packages=left-pad`);
  assert.deepEqual(more, []);
  assert.ok(found !== undefined);
  const { openTime, ...rest } = found;
  assert.ok(Date.parse(openTime) >= startMs - 1_000);
  assert.deepEqual(rest, {
    vulnerability: "CVE-2026-1",
    aliases: ["GHSA-aaaa-bbbb-cccc", "NPM-7"],
    repo: repos["team"],
    digest: digests["old"],
    tags: ["v1"],
    tagsTotal: 1,
    platform: "",
    contradictions: [],
    remediations: [],
    package: {
      purl: "pkg:npm/left-pad@1.0.0",
      name: "left-pad",
      version: "1.0.0",
      sourceName: "left-pad",
      sourceVersion: "1.0.0",
    },
    claims: [],
    sources: ["layers"],
    locations: [{ layer: digestOf(PAD), path: "app/node_modules/left-pad/package.json" }],
    severity: "FINDING_SEVERITY_CRITICAL",
    score: 9.8,
    kev: true,
    epss: 0.25,
    epssPercentile: 0.5,
    fixState: "FIX_STATE_FIXED",
    fixVersions: ["1.4.0", "1.5.0"],
    records: rest.records,
    state: "FINDING_STATE_OPEN",
    closeReason: "",
  });
  assert.deepEqual(
    rest.records.map(({ feed, id, licence }) => [feed, id, licence]),
    [
      ["github", "GHSA-aaaa-bbbb-cccc", "CC-BY-4.0"],
      ["npm", "NPM-7", "CC-BY-4.0"],
    ],
  );
});

test("filters: each leaves what it says, and all together what all say", async () => {
  const pad = ["other latest left-pad 1.0.0 CVE-2026-1", "team v1 left-pad 1.0.0 CVE-2026-1"];
  for (const query of [
    "vulnerabilities=CVE-2026-1",
    "vulnerabilities=cve-2026-1&vulnerabilities=CVE-1999-1",
    "vulnerabilities=ghsa-AAAA-bbbb-cccc",
    "vulnerabilities=NPM-7",
    "packages=left-pad",
    "packages=pkg:npm/left-pad",
    "packages=pkg:npm/left-pad@1.0.0",
    "kev=true",
    "minSeverity=CRITICAL&kev=true",
    "packages=left-pad&vulnerabilities=CVE-2026-1",
    "query=EFT-pa",
    "query=cve-2026-1",
    "query=aaaa-bbbb",
  ])
    assert.deepEqual(await shorts(query), pad, query);
  assert.deepEqual(await shorts(`repo=acme/team/app&packages=left-pad`), pad.slice(1));
  assert.deepEqual(await shorts(`uidp.descendantsOf=${team}&packages=left-pad`), pad.slice(1));
  assert.deepEqual(await shorts(`repo=${repos["team"]}&tag=v2&minSeverity=CRITICAL`), [
    "team v2 other 1.0.0 GHSA-dddd-eeee-ffff",
  ]);
  assert.deepEqual(await shorts(`repo=${repos["team"]}&digest=${digests["new"]}&minSeverity=UNKNOWN&packages=other`), [
    "team v2 other 1.0.0 ACME-1",
    "team v2 other 1.0.0 GHSA-dddd-eeee-ffff",
  ]);
  for (const query of [
    "fixable=false",
    "packages=nothing",
    "vulnerabilities=CVE-1999-1",
    "state=CLOSED",
    "packages=pkg:pypi/left-pad",
    "query=left%25pad",
    "query=pkg:npm/left-pad@1.0.1",
  ])
    assert.deepEqual(await shorts(query), [], query);
  assert.equal((await shorts("fixable=true&kev=false")).length, 6);
});

test("pages together are the list, whatever their size, and a token belongs to its filters", async () => {
  for (const filter of ["", "packages=other&packages=left-pad"]) {
    const whole = (await list(filter)).map(short);
    assert.equal(whole.length, 8);
    for (const size of [1, 3]) {
      const found: string[] = [];
      let token = "";
      do {
        const { body } = await ask(`${filter}&pageSize=${size}&pageToken=${token}`);
        const page = (body["findings"] as Finding[] | undefined) ?? [];
        assert.ok(page.length <= size);
        found.push(...page.map(short));
        token = body.nextPageToken;
      } while (token !== "");
      assert.deepEqual(found, whole);
    }
  }
  const { body } = await ask("pageSize=1");
  const other = await ask(`pageSize=1&kev=true&pageToken=${body.nextPageToken}`);
  assert.equal(other.status, 400);
  assert.match(other.text, /page_token/);
});

test("who may not list repos, tags and manifests of a group sees nothing of it", async () => {
  const stranger = await platform.token(await platform.identity(platform.organization));
  const viewer = await platform.token(await platform.identity(team, "viewer"));
  assert.deepEqual(await shorts("", stranger), []);
  assert.deepEqual(await shorts("vulnerabilities=CVE-2026-1", stranger), []);
  assert.deepEqual(await shorts("packages=left-pad", viewer), ["team v1 left-pad 1.0.0 CVE-2026-1"]);
  assert.equal((await shorts("", viewer)).length, 5);
  const status = async (query: string, token?: string): Promise<number> => (await ask(query, token)).status;
  for (const query of [`repo=${repos["other"]}`, "repo=acme/other/app", `repo=${repos["other"]}&tag=latest`]) {
    assert.equal(await status(query, viewer), 404, query);
    assert.equal(await status(query, stranger), 404, query);
    assert.equal(await status(query), 200, query);
  }
  assert.equal(await status(`repo=${repos["team"]}`, viewer), 200);
  assert.equal(await status(`repo=${repos["team"]}`, stranger), 404);
  // The digest is there, in a repo that the caller does not see, and in one that does not have it.
  assert.equal(await status(`repo=${repos["other"]}&digest=${digests["new"]}`), 404);
  assert.equal((await platform.call("GET", "/vulnerabilities/v2/findings", {})).status, 401);
});

test("a digest without a repo asks in every repo that has it and that the caller sees", async () => {
  const query = `digest=${digests["old"]}&packages=left-pad`;
  const both = ["other latest left-pad 1.0.0 CVE-2026-1", "team v1 left-pad 1.0.0 CVE-2026-1"];
  assert.deepEqual(await shorts(query), both);
  const paged: string[] = [];
  for (let token: unknown = ""; ;) {
    const { body } = await ask(`${query}&pageSize=1&pageToken=${String(token)}`);
    paged.push(...((body["findings"] ?? []) as Finding[]).map(short));
    token = body["nextPageToken"];
    if (token === "") break;
  }
  assert.deepEqual(paged.sort(), both);
  const viewer = await platform.token(await platform.identity(team, "viewer"));
  assert.deepEqual(await shorts(query, viewer), both.slice(1));
  const elsewhere = await platform.token(await platform.identity(platform.organization));
  assert.equal((await ask(query, elsewhere)).status, 404);
});

test("bad input is rejected, and names its field", async () => {
  const digest = `sha256:${"0".repeat(64)}`;
  for (const [query, status, field] of [
    ["tag=v1", 400, "tag"],
    [`digest=${digest}`, 404, "sha256:0"],
    [`repo=${repos["team"]}&tag=v1&digest=${digest}`, 400, "digest"],
    [`repo=${repos["team"]}&digest=latest`, 400, "digest"],
    ["pageSize=-1", 400, "page_size"],
    ["pageToken=x", 400, "page_token"],
    ["minSeverity=AWFUL", 400, "min"],
    ["asOf=yesterday", 400, "as"],
    [`repo=${repos["team"]}&tag=none`, 404, "none"],
    [`repo=${repos["team"]}&digest=${digest}`, 404, "sha256:0"],
    ["repo=acme/none", 404, "acme/none"],
  ] as const) {
    const answer = await ask(query);
    assert.equal(answer.status, status, `${query}: ${answer.text}`);
    assert.ok(answer.text.includes(field), `${query}: ${answer.text}`);
  }
});

test("as of a time: the tags and findings of then; what was closed since is closed now", async () => {
  const repo = (await platform.repo(platform.organization, { name: "timed" })).uid;
  const layer = tarOf([npmFile("app", "timed", "1.0.0")]);
  const digest = await pushLayers(await target("timed"), "v1", [layer]);
  await putRecords(platform, "timed", "osv", [osvOf("ACME-9", affectedBefore("timed", "1.5.0"))]);
  const [open] = await until(`repo=${repo}`, ({ length }) => length === 1);
  assert.ok(open !== undefined);
  // Now the tag points elsewhere, and then the record is taken back.
  const moved = await pushLayers(await target("timed"), "v1", [layer, tarOf([npmFile("app", "quiet", "1.0.0")])]);
  const [there] = await until(`repo=${repo}&tag=v1`, (found) => found[0]?.digest === moved);
  assert.deepEqual([there?.openTime, there?.tags], [open.openTime, ["v1"]]);
  await wait(200);
  await putRecords(platform, "timed", "osv", [], ["ACME-9"]);
  await until(`repo=${repo}`, ({ length }) => length === 0);
  const [closed] = await list(`repo=${repo}&state=CLOSED`);
  assert.deepEqual(
    [closed?.vulnerability, closed?.state, closed?.closeReason],
    ["ACME-9", "FINDING_STATE_CLOSED", "REMOVED"],
  );
  // The time of a command is that at which it was asked for, which may be a moment before the change that it sees.
  const thenMs = Date.parse(closed?.closeTime ?? "") - 1;
  assert.ok(thenMs > Date.parse(open.openTime));
  const asOf = (timeMs: number): string => `repo=${repo}&asOf=${new Date(timeMs).toISOString()}`;
  const [then] = await list(asOf(thenMs));
  assert.deepEqual([then?.digest, then?.state, then?.closeReason], [moved, "FINDING_STATE_OPEN", ""]);
  const [first] = await list(asOf(Date.parse(open.openTime)));
  assert.deepEqual([first?.digest, first?.tags], [digest, ["v1"]]);
  assert.deepEqual(await list(asOf(Date.parse(open.openTime) - 1)), []);
  assert.deepEqual(await list(`${asOf(thenMs)}&state=CLOSED`), []);
});

test("a closed finding is found by the ids that its record had, also when that is removed with its feed's others", async () => {
  const repo = (await platform.repo(platform.organization, { name: "former" })).uid;
  await pushLayers(await target("former"), "v1", [tarOf([npmFile("app", "former", "1.0.0")])]);
  await putRecords(platform, "former", "osv", [
    osvOf("ACME-50", { aliases: ["CVE-2026-50"], ...affectedBefore("former", "1.5.0") }),
    osvOf("ACME-51", { aliases: ["CVE-2026-51"], ...affectedBefore("nothing", "1.5.0") }),
  ]);
  await until(`repo=${repo}`, ({ length }) => length === 1);
  await putRecords(platform, "former", "osv", [], ["ACME-50", "ACME-51"]);
  await until(`repo=${repo}`, ({ length }) => length === 0);
  for (const id of ["CVE-2026-50", "acme-50"]) {
    const [closed, ...more] = await list(`repo=${repo}&state=CLOSED&vulnerabilities=${id}`);
    assert.deepEqual(
      [closed?.vulnerability, closed?.aliases, closed?.closeReason],
      ["CVE-2026-50", ["ACME-50"], "REMOVED"],
    );
    assert.deepEqual(more, []);
  }
  const kept = await platform.reader.selectFrom("feed_keys").select("record").where("feed", "=", "former").execute();
  assert.deepEqual(
    [...new Set(kept.map(({ record }) => record))],
    ["ACME-50"],
    "of what nothing was found, nothing is kept",
  );
  // It comes back with another alias.
  await putRecords(platform, "former", "osv", [
    osvOf("ACME-50", { aliases: ["CVE-2026-52"], ...affectedBefore("former", "1.5.0") }),
  ]);
  await until(`repo=${repo}&vulnerabilities=CVE-2026-52`, ({ length }) => length === 1);
  assert.deepEqual(await list(`repo=${repo}&vulnerabilities=CVE-2026-50`), []);
});
