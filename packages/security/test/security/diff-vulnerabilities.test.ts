import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { holderOf } from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Answer, blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const V3 = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };

let platform: Platform;
let token = "";
let place: Place;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  place = await newRepoPlace(platform, token);
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.5.0"), ...V3 }),
    osvOf("CVE-2026-2", affectedBefore("other", "9.0.0")),
    osvOf("CVE-2026-3", affectedBefore("came", "1.0.1")),
  ]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1")]);
});
after(() => platform.close());

interface Known {
  state: string;
  versions: string[];
  fixState: string;
  fixVersions: string[];
  closeReason: string;
}
interface Changed {
  kind: string;
  vulnerability: string;
  aliases: string[];
  purl: string;
  name: string;
  severity: string;
  score?: number;
  kev: boolean;
  from?: Known;
  to?: Known;
  platforms: string[];
}
interface Side {
  digest: string;
  asOf?: string;
}
interface Diff {
  from: Side;
  to: Side;
  platforms: { from?: { vulnerabilitiesReason: string }; to?: { vulnerabilitiesReason: string } }[];
  packages: { purl: string }[];
  vulnerabilities: Changed[];
  vulnerabilitiesComplete: boolean;
  addedVulnerabilities: number;
  removedVulnerabilities: number;
  changedVulnerabilities: number;
  nextPageToken: string;
  markdown: string;
}

async function ask(from: string, to: string, more = "", as?: string): Promise<Answer> {
  const query = new URLSearchParams({ from, to }).toString();
  const path = `/registry/v2/repos/${place.repo}/diff?${query}${more}`;
  return await platform.call("GET", path, { token: as ?? (await platform.token()) });
}

async function diff(from: string, to: string, more = ""): Promise<Diff> {
  const { status, text, body } = await ask(from, to, more);
  assert.equal(status, 200, text);
  return body as unknown as Diff;
}

/** The answer as soon as it is as wanted; by default, as soon as all is known. */
async function until(
  from: string,
  to: string,
  more = "",
  wanted = ({ vulnerabilitiesComplete }: Diff): boolean => vulnerabilitiesComplete,
): Promise<Diff> {
  return await eventually(
    async () => {
      const found = await diff(from, to, more);
      return wanted(found) && found;
    },
    { instead: () => diff(from, to, more) },
  );
}

const npmLayer = (...packages: string[]): Buffer =>
  tarOf(
    packages.map((each) => {
      const [name = "", version = ""] = each.split("@");
      return npmFile("app", name, version);
    }),
  );
const push = (tag: string, ...packages: string[]): Promise<string> => pushLayers(place, tag, [npmLayer(...packages)]);

const short = (known: Known | undefined): string =>
  known === undefined ? "-" : `${known.state.replace("FINDING_STATE_", "")} ${known.versions.join("+")}`;
const shorts = ({ vulnerabilities }: Diff): string[] =>
  vulnerabilities.map(({ kind, vulnerability, name, from, to }) =>
    [kind.replace("CHANGE_KIND_", ""), vulnerability, name, short(from), "→", short(to)].join(" "),
  );

/** The time by the server's clock; what follows happens later. */
function now(): string {
  const time = new Date(platform.clock.nowMs()).toISOString();
  platform.clock.offsetMs += 1_000;
  return time;
}

/**
 * Since when the only finding of the tag is open. A step of matching that waits for its turn has its time from before,
 * so that what a test does next is later than this, but not always than the time at which the test looks.
 */
async function openTime(tag: string): Promise<string> {
  const { findings } = await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${place.repo}&tag=${tag}`);
  const [only, ...others] = findings as { openTime: string }[];
  assert.ok(only !== undefined && others.length === 0);
  return only.openTime;
}

test("an update says which vulnerabilities it ends and which it brings, and not which it keeps", async () => {
  await push("v1", "left-pad@1.0.0", "other@1.0.0");
  await push("v2", "left-pad@2.0.0", "other@1.1.0", "came@1.0.0");
  const found = await until("v1", "v2");
  assert.deepEqual(shorts(found), [
    "REMOVED CVE-2026-1 left-pad OPEN 1.0.0 → -",
    "ADDED CVE-2026-3 came - → OPEN 1.0.0",
  ]);
  const { addedVulnerabilities: added, removedVulnerabilities: removed, changedVulnerabilities: changed } = found;
  assert.deepEqual([added, removed, changed], [1, 1, 0]);
  const [worst] = found.vulnerabilities;
  assert.deepEqual(worst, {
    kind: "CHANGE_KIND_REMOVED",
    vulnerability: "CVE-2026-1",
    aliases: ["GHSA-aaaa-bbbb-cccc"],
    purl: "pkg:npm/left-pad",
    name: "left-pad",
    severity: "FINDING_SEVERITY_CRITICAL",
    score: 9.8,
    kev: true,
    from: {
      state: "FINDING_STATE_OPEN",
      versions: ["1.0.0"],
      fixState: "FIX_STATE_FIXED",
      fixVersions: ["1.5.0"],
      closeReason: "",
      claims: [],
    },
    platforms: ["linux/amd64"],
  });
  assert.deepEqual(shorts(await diff("v2", "v1")), [
    "ADDED CVE-2026-1 left-pad - → OPEN 1.0.0",
    "REMOVED CVE-2026-3 came OPEN 1.0.0 → -",
  ]);
  assert.deepEqual(shorts(await diff("v1", "v1")), []);
});

test("a side with a time has what was known then, and as_of says of both what was known when", async () => {
  const digest = await push("times", "timed@1.0.0");
  const early = now();
  await until("times", "v1");
  const record = (more: object): ReturnType<typeof osvOf> =>
    osvOf("CVE-2026-10", { ...affectedBefore("timed", "2.0.0"), ...more });
  await putRecords(platform, "timed", "osv", [record({})]);
  const opened = await until(`times@${early}`, "times", "", ({ vulnerabilities }) => vulnerabilities.length > 0);
  assert.deepEqual(shorts(opened), ["ADDED CVE-2026-10 timed - → OPEN 1.0.0"]);
  assert.deepEqual([opened.from.digest, opened.to.digest], [digest, digest]);
  assert.deepEqual([opened.from.asOf, opened.to.asOf], [early, undefined]);
  const late = await openTime("times");
  await putRecords(platform, "timed", "osv", [], ["CVE-2026-10"]);
  const closed = await until(`times@${late}`, "times", "", ({ vulnerabilities }) => vulnerabilities.length > 0);
  assert.deepEqual(shorts(closed), ["CHANGED CVE-2026-10 timed OPEN 1.0.0 → CLOSED 1.0.0"]);
  assert.equal(closed.vulnerabilities[0]?.to?.closeReason, "REMOVED");
  assert.equal(closed.changedVulnerabilities, 1);
  // What is known now is the same of both, as was what was known then.
  assert.deepEqual(shorts(await diff("times", "times")), []);
  const between = await diff(`times@${early}`, "times", `&as_of=${late}`);
  assert.deepEqual([shorts(between), between.from.asOf, between.to.asOf], [[], late, late]);
  // An image of another package: as of that time it brings what was known then, and nothing now.
  await push("times-none", "none@1.0.0");
  await until("times-none", "times");
  assert.deepEqual(shorts(await diff("times-none", "times", `&as_of=${late}`)), [
    "ADDED CVE-2026-10 timed - → OPEN 1.0.0",
  ]);
  assert.deepEqual(shorts(await diff("times-none", "times")), []);
});

test("a fix that is known now is a change", async () => {
  await putRecords(platform, "fixes", "osv", [
    osvOf("CVE-2026-20", { affected: [{ package: { ecosystem: "npm", name: "unfixed" }, versions: ["1.0.0"] }] }),
  ]);
  await push("fix", "unfixed@1.0.0");
  await until("fix", "v1", "", ({ removedVulnerabilities }) => removedVulnerabilities > 0);
  const then = await openTime("fix");
  await putRecords(platform, "fixes", "osv", [osvOf("CVE-2026-20", affectedBefore("unfixed", "1.0.1"))]);
  const found = await until(`fix@${then}`, "fix", "", ({ vulnerabilities }) => vulnerabilities.length > 0);
  const [change] = found.vulnerabilities;
  assert.deepEqual(
    [change?.kind, change?.from?.fixState, change?.to?.fixState, change?.to?.fixVersions],
    ["CHANGE_KIND_CHANGED", "FIX_STATE_NOT_FIXED", "FIX_STATE_FIXED", ["1.0.1"]],
  );
});

test("what differs in the same way on several platforms of an index is one change", async () => {
  const amd = { os: "linux", architecture: "amd64" };
  const arm = { os: "linux", architecture: "arm64" };
  const index = async (tag: string, layer: Buffer, second: Buffer): Promise<string> =>
    await pushIndex(place, tag, [
      [await pushLayers(place, `${tag}-amd`, [layer], undefined, amd), amd],
      [await pushLayers(place, `${tag}-arm`, [second], undefined, arm), arm],
    ]);
  await index("multi-1", npmLayer("left-pad@1.0.0"), npmLayer("left-pad@1.0.0"));
  await index("multi-2", npmLayer("left-pad@1.5.0", "came@1.0.0"), npmLayer("left-pad@1.5.0"));
  const found = await until("multi-1", "multi-2");
  assert.deepEqual(
    found.vulnerabilities.map(({ vulnerability, platforms }) => [vulnerability, ...platforms]),
    [
      ["CVE-2026-1", "linux/amd64", "linux/arm64"],
      ["CVE-2026-3", "linux/amd64"],
    ],
  );
});

test("vulnerabilities come in the pages of the packages", async () => {
  const whole = await diff("v1", "v2");
  const pages: Diff[] = [];
  for (let next = ""; pages.length === 0 || next !== "";) {
    const page = await diff("v1", "v2", `&page_size=1${next === "" ? "" : `&page_token=${next}`}`);
    pages.push(page);
    next = page.nextPageToken;
  }
  assert.deepEqual(
    pages.map(({ packages, vulnerabilities }) => [packages.length, vulnerabilities.length]),
    [
      [1, 1],
      [1, 1],
      [1, 0],
    ],
  );
  assert.deepEqual(
    pages.flatMap(({ vulnerabilities }) => vulnerabilities),
    whole.vulnerabilities,
  );
  for (const page of pages) assert.equal(page.removedVulnerabilities, 1);
  const other = await ask("v1", "v2", `&as_of=2026-01-01T00:00:00Z&page_token=${pages[0]?.nextPageToken}`);
  assert.deepEqual([other.status, blamed(other)], [400, ["page_token"]]);
});

test("Markdown has them too", async () => {
  const { markdown } = await diff("v1", "v2", "&format=MARKDOWN");
  assert.match(markdown, /^## Vulnerabilities\n\n1 added, 1 removed, 0 changed\.$/m);
  assert.match(
    markdown,
    /^\| removed \| CVE-2026-1 \| CRITICAL, known to be exploited \| npm\/left-pad \| 1\.0\.0, fixed in 1\.5\.0 \|  \| linux\/amd64 \|$/m,
  );
  const then = now();
  const timed = await diff(`v1@${then}`, "v2", "&format=MARKDOWN");
  assert.ok(timed.markdown.includes(`as they were known at ${then}`));
});

test("what is not known is said, and nothing of it is answered", async () => {
  await pushLayers(place, "damaged", [Buffer.from("no archive")]);
  const isRead = ({ platforms }: Diff): boolean =>
    /could not be read/.test(platforms[0]?.from?.vulnerabilitiesReason ?? "");
  const found = await until("damaged", "v1", "", isRead);
  assert.deepEqual([found.vulnerabilitiesComplete, found.vulnerabilities], [false, []]);
  assert.equal(found.platforms[0]?.to?.vulnerabilitiesReason, "");
  assert.match((await diff("damaged", "v1", "&format=MARKDOWN")).markdown, /the vulnerabilities of .* are not known/);
});

test("whoever may list findings sees them, also who may not list packages; a stranger sees nothing", async () => {
  const holder = async (...capabilities: string[]): Promise<string> =>
    (await holderOf(platform, platform.organization, capabilities)).token;
  const needed = ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_MANIFEST_METADATA_LIST"];
  const seen = await ask("v1", "v2", "", await holder(...needed));
  assert.equal(seen.status, 200, seen.text);
  const { packages, vulnerabilities } = seen.body as unknown as Diff;
  assert.deepEqual([packages.length, vulnerabilities.length], [0, 2]);
  assert.equal((await ask("v1", "v2", "", await holder(...needed.slice(0, 2)))).status, 403);
  assert.equal((await ask("v1", "v2", "", await holder("CAP_VULN_REPORT_LIST"))).status, 404);
});

test("a time that is none is blamed", async () => {
  const answer = await ask("v1", "v2", "&as_of=yesterday");
  assert.deepEqual([answer.status, blamed(answer)], [400, ["as_of"]]);
});
