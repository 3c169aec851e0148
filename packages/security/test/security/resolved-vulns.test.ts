import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SecurityAdvisoryService } from "@moorage/api";
import {
  ADVISORIES,
  ADVISORY_EVENTS,
  type AdvisoryJson,
  holderOf,
  newAdvisory,
} from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Answer, blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";

const DAY_MS = 86_400_000;
const REPORTS = "/advisory/v2/images/resolvedVulns";
const CVSS = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";

let platform: Platform;
let team = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  const { clock, organization } = platform;
  // Noon of tomorrow: a test never comes to the end of a day by itself.
  const noon = (Math.floor(clock.nowMs() / DAY_MS) + 1.5) * DAY_MS;
  clock.offsetMs += noon - clock.nowMs();
  team = (await platform.group(organization, { name: "team" })).uid;
});
after(() => platform.close());

interface Place {
  repo: string;
  /** The path of the image. */
  name: string;
}
let places = 0;
async function newPlace(): Promise<Place> {
  const image = `app-${(places += 1)}`;
  const { uid: repo } = await platform.repo(team, { name: image });
  return { repo, name: `${platform.bootstrap.organization.name}/team/${image}` };
}
/** With a token that is good on this day. */
async function target({ name }: Place): Promise<PushTarget> {
  const { url, owner } = platform;
  return { url, name, token: await platform.token(owner, { audience: new URL(url).host }) };
}

const npmLayer = (...packages: string[]): Buffer =>
  tarOf(
    packages.map((each) => {
      const [name = "", version = ""] = each.split("@");
      return npmFile("app", name, version);
    }),
  );
let images = 0;
/** An image that was read, which no tag that a test asks about points to. */
async function image(place: Place, layer: Buffer, configuration?: object): Promise<string> {
  const digest = await pushLayers(await target(place), `image-${(images += 1)}`, [layer], undefined, configuration);
  const path = `/registry/v2/repos/${place.repo}/digests/${digest}/sbom`;
  const ask = async (): Promise<Answer> => await platform.call("GET", path, { token: await platform.token() });
  await eventually(
    async () => {
      const { status, text } = await ask();
      return status === 200 || text.includes("could not be read");
    },
    { instead: async () => (await ask()).text },
  );
  return digest;
}
const npmImage = (place: Place, ...packages: string[]): Promise<string> => image(place, npmLayer(...packages));

const today = (): string => new Date(platform.clock.nowMs()).toISOString().slice(0, 10);
/** The next day begins. Returns it. */
function nextDay(days = 1): string {
  platform.clock.offsetMs += days * DAY_MS;
  return today();
}
async function move({ repo }: Place, digest: string, tag = "latest"): Promise<void> {
  await platform.tag(repo, { name: tag, digest });
  platform.clock.offsetMs += 1_000;
}

interface Report {
  date: string;
  state: string;
  stateReason: string;
  resolvedVulns: { id: string; aliases: string[]; cvssSeverities: { type: string; score: string }[] }[];
}
async function ask(query: string, as?: string): Promise<Answer> {
  return await platform.call("GET", `${REPORTS}?${query}`, { token: as ?? (await platform.token()) });
}
async function reports(query: string): Promise<Report[]> {
  const { status, text, body } = await ask(query);
  assert.equal(status, 200, text);
  return body["resolvedVulnsReports"] as Report[];
}
/** `2026-11-23 CVE-2026-1`, for each day from the first one on. */
async function since(first: string, { repo }: Place, more = ""): Promise<string[]> {
  return (await reports(`imageRefs.repo=${repo}&startTime=${first}T00:00:00Z${more}`)).map(line);
}
const line = ({ date, resolvedVulns }: Report): string =>
  [date.slice(0, 10), ...resolvedVulns.map(({ id }) => id)].join(" ");

const APPROVED = { reviewState: "APPROVED" };
const fixedIn = (fixedVersion: string): object => ({ fixed: { fixedVersion }, ...APPROVED });
const FALSE_POSITIVE = {
  falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH" },
  ...APPROVED,
};
/** A new advisory about a component of the image, with an event. */
async function advise({ name }: Place, component: string, id: string, event: object, more: object = {}) {
  return await newAdvisory(platform, team, {
    artifactName: name,
    artifactType: "OCI_IMAGE",
    componentName: component,
    componentType: "npm",
    aliases: [id],
    events: [event],
    ...more,
  });
}

test("a day has what the tag's digest fixed against the one before; a rollback takes it back, a removal is no fix", async () => {
  const place = await newPlace();
  const [old, fixed, without] = [
    await npmImage(place, "left-pad@1.0.0", "other@1.0.0"),
    await npmImage(place, "left-pad@2.1.0", "other@1.0.0"),
    await npmImage(place, "other@1.0.0"),
  ];
  const severities = [{ type: "CVSS_V3", score: CVSS }];
  await advise(place, "left-pad", "cve-2026-1", fixedIn("2.0.0"), {
    aliases: ["GHSA-xxxx-yyyy-zzzz", "cve-2026-1"],
    severities,
  });
  const first = nextDay();
  const days: string[] = [];
  for (const digests of [[old], [], [fixed], [old], [fixed], [without], [fixed], [old], [fixed, old], [old, fixed]]) {
    for (const digest of digests) await move(place, digest);
    days.push(today());
    nextDay();
  }
  const wanted = days.map((day, n) => (n === 2 || n === 4 || n === 9 ? `${day} CVE-2026-1` : day));
  assert.deepEqual(await since(first, place), [...wanted, today()]);
  const [found] = (await reports(
    `imageRefs.repo=${place.repo}&startTime=${days[2]}T10:00:00Z&endTime=${days[2]}T23:00:00Z`,
  )) as [Report];
  assert.equal(found.date, `${days[2]}T00:00:00.000Z`);
  assert.deepEqual(
    [found.state, found.stateReason],
    ["NO_DATA", "no feed covers 2 packages of npm (moorage feeds add osv-npm would)"],
  );
  assert.deepEqual(found.resolvedVulns, [
    {
      id: "CVE-2026-1",
      aliases: ["GHSA-xxxx-yyyy-zzzz"],
      cvssSeverities: [{ type: "TYPE_CVSS_V3", score: CVSS }],
    },
  ]);
  // The first day that is asked for is compared with the digest of the days before.
  assert.deepEqual(await since(days[4] ?? "", place, `&endTime=${days[4]}T00:00:00Z`), [`${days[4]} CVE-2026-1`]);
});

test("a false positive is resolved on the day of the event that decides, where the component was in the digest", async () => {
  const place = await newPlace();
  const digest = await npmImage(place, "left-pad@1.0.0");
  const first = nextDay();
  await move(place, digest);
  const second = nextDay();
  const advisory = (await advise(place, "left-pad", "CVE-2026-2", FALSE_POSITIVE)) as AdvisoryJson;
  await advise(place, "absent", "CVE-2026-3", FALSE_POSITIVE);
  await advise(place, "left-pad", "CVE-2026-4", { ...FALSE_POSITIVE, reviewState: "PENDING" });
  await advise(place, "left-pad", "CVE-2026-5", { ...FALSE_POSITIVE }, { artifactName: `${place.name}-other` });
  const third = nextDay();
  assert.deepEqual(await since(first, place), [first, `${second} CVE-2026-2`, third]);
  // A later event that is approved decides otherwise; one that waits does not.
  const event = await platform.ok("POST", `${ADVISORIES}/${advisory.uid}/events`, { truePositiveDetermination: {} });
  assert.deepEqual(await since(first, place), [first, `${second} CVE-2026-2`, third]);
  await platform.ok("PATCH", `${ADVISORY_EVENTS}/${event.uid}`, { reviewState: "APPROVED" });
  assert.deepEqual(await since(first, place), [first, second, third]);
  await platform.ok("POST", `${ADVISORIES}/${advisory.uid}/events`, FALSE_POSITIVE);
  assert.deepEqual(await since(first, place), [first, second, `${third} CVE-2026-2`]);
  await platform.ok("DELETE", `${ADVISORIES}/${advisory.uid}`);
  assert.deepEqual(await since(first, place), [first, second, third]);
  // On the day of the event the tag points to an image without the component, which the days before had.
  const fourth = nextDay();
  await move(place, await npmImage(place, "other@1.0.0"));
  await advise(place, "left-pad", "CVE-2026-6", FALSE_POSITIVE);
  assert.deepEqual(await since(first, place), [first, second, third, fourth]);
});

test("advisories of the groups above the repo count, about the image or a package, whatever source it is from", async () => {
  const place = await newPlace();
  const debian = (version: string, npm: string): Buffer =>
    tarOf([
      { path: "etc/os-release", content: "ID=debian\nVERSION_ID=12\n" },
      {
        path: "var/lib/dpkg/status",
        content: `Package: zlib1g\nSource: zlib\nVersion: 1:${version}\nArchitecture: amd64\n`,
      },
      npmFile("app", "left-pad", npm),
      npmFile("app", "@scope/part", npm),
    ]);
  const [old, fixed] = [await image(place, debian("1.2-9", "1.0.0")), await image(place, debian("1.2-10", "2.0.0"))];
  const other = (await platform.group(platform.organization)).uid;
  const advise_ = (group: string, artifactName: string, artifactType: string, id: string, version: string, more = {}) =>
    newAdvisory(platform, group, { artifactName, artifactType, aliases: [id], events: [fixedIn(version)], ...more });
  await advise_(platform.organization, "left-pad", "NPM", "CVE-2026-10", "2.0.0");
  await advise_(team, "zlib", "DEB", "CVE-2026-11", "1:1.2-10");
  await advise_(team, "zlib1g", "deb", "CVE-2026-12", "1:1.2-10");
  await advise_(team, "@scope/part", "NPM", "CVE-2026-13", "1.5.0");
  // In a package that may not own it, of another group, about another type, not fixed yet, elsewhere, for another
  // architecture.
  await advise_(team, "zlib1g", "DEB", "CVE-2026-19", "2.0.0", { componentName: "left-pad", componentType: "npm" });
  await advise_(other, "left-pad", "NPM", "CVE-2026-20", "2.0.0");
  await advise_(team, "left-pad", "PYPI", "CVE-2026-21", "2.0.0");
  await advise_(team, "zlib", "DEB", "CVE-2026-22", "1:1.2-11");
  const where = { componentName: "left-pad", componentType: "npm" };
  await advise(place, "left-pad", "CVE-2026-23", fixedIn("2.0.0"), { ...where, componentLocation: "/elsewhere" });
  await advise(place, "left-pad", "CVE-2026-24", fixedIn("2.0.0"), { ...where, artifactArchitecture: "arm64" });
  await advise(place, "left-pad", "CVE-2026-15", fixedIn("2.0.0"), {
    componentLocation: "/app/node_modules/left-pad/package.json",
    artifactArchitecture: "x86_64",
  });
  const first = nextDay();
  await move(place, old);
  const second = nextDay();
  await move(place, fixed);
  const ids = [10, 11, 12, 13, 15].map((n) => `CVE-2026-${n}`);
  assert.deepEqual(await since(first, place), [first, [second, ...ids].join(" ")]);
});

test("days on which it is not known what the image held are left out, and the next one is compared with the last known", async () => {
  const place = await newPlace();
  const [old, fixed] = [await npmImage(place, "gap@1.0.0"), await npmImage(place, "gap@2.0.0")];
  const damaged = await image(place, Buffer.from("no archive"));
  await advise(place, "gap", "CVE-2026-30", fixedIn("2.0.0"));
  const first = nextDay();
  const second = nextDay();
  await move(place, old);
  nextDay();
  await move(place, damaged);
  nextDay();
  const { tags } = await platform.ok("GET", `/registry/v2/tags?name=latest&uidp.children_of=${place.repo}`);
  await platform.ok("DELETE", `/registry/v2/tags/${(tags as { uid: string }[])[0]?.uid}`);
  const fifth = nextDay();
  await move(place, fixed);
  const tomorrow = new Date(platform.clock.nowMs() + DAY_MS).toISOString();
  const wanted = [second, `${fifth} CVE-2026-30`];
  assert.deepEqual(await since(first, place, `&endTime=${tomorrow}`), wanted);
  assert.deepEqual(await since(fifth, place), wanted.slice(1));
  assert.deepEqual(await since(tomorrow.slice(0, 10), place, `&endTime=${tomorrow}`), []);
});

test("a fix that a feed knows counts as well, unless an advisory decides otherwise", async () => {
  const place = await newPlace();
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", {
      aliases: ["CVE-2026-40"],
      ...affectedBefore("fed", "1.5.0"),
      severity: [{ type: "CVSS_V3", score: CVSS }],
    }),
    osvOf("CVE-2026-41", affectedBefore("fed", "9.0.0")),
    osvOf("CVE-2026-42", affectedBefore("decided", "1.5.0")),
    osvOf("CVE-2026-43", affectedBefore("removed", "1.5.0")),
    // A fix of another branch, and a version from before it came.
    osvOf("CVE-2026-44", affectedBetween("branched", ["0", "1.5.0"], ["2.0.0", "2.5.0"])),
    osvOf("CVE-2026-45", affectedBetween("lowered", ["1.0.0", "1.5.0"])),
  ]);
  const old = await npmImage(place, "fed@1.0.0", "decided@1.0.0", "removed@1.0.0", "branched@1.0.0", "lowered@1.0.0");
  const fixed = await npmImage(place, "fed@1.5.0", "decided@1.5.0", "branched@2.1.0", "lowered@0.9.0");
  const later = await npmImage(place, "fed@0.9.0");
  const list = async (): Promise<Answer> =>
    await platform.call("GET", `/vulnerabilities/v2/findings?repo=${place.repo}&page_size=200`, {
      token: await platform.token(),
    });
  await eventually(async () => ((await list()).body["findings"] as unknown[] | undefined)?.length === 10, {
    instead: async () => (await list()).text,
  });
  const first = nextDay();
  await move(place, old);
  const second = nextDay();
  await move(place, fixed);
  const third = nextDay();
  await move(place, later);
  assert.deepEqual(await since(first, place), [first, `${second} CVE-2026-40 CVE-2026-42`, third]);
  const [, found] = (await reports(`imageRefs.repo=${place.repo}&startTime=${first}T00:00:00Z`)) as [Report, Report];
  assert.deepEqual(found.resolvedVulns[0], {
    id: "CVE-2026-40",
    aliases: ["GHSA-aaaa-bbbb-cccc"],
    cvssSeverities: [{ type: "TYPE_CVSS_V3", score: CVSS }],
  });
  // The same vulnerability is one, whoever says that it is fixed.
  await advise(place, "fed", "GHSA-AAAA-BBBB-CCCC", fixedIn("1.5.0"));
  assert.deepEqual(await since(first, place), [first, `${second} CVE-2026-40 CVE-2026-42`, third]);
  await advise(place, "decided", "CVE-2026-42", fixedIn("1.6.0"));
  assert.deepEqual(await since(first, place), [first, `${second} CVE-2026-40`, third]);
});

/** `affected` of an OSV record: the package is affected from one version of each pair until the other. */
function affectedBetween(name: string, ...pairs: [introduced: string, fixed: string][]): object {
  const events = pairs.flatMap(([introduced, fixed]) => [{ introduced }, { fixed }]);
  return { affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events }] }] };
}

test("of an index all images have to have the fixed version", async () => {
  const place = await newPlace();
  const amd = { os: "linux", architecture: "amd64" };
  const arm = { os: "linux", architecture: "arm64" };
  const index = async (tag: string, first: string, second: string): Promise<string> =>
    await pushIndex(await target(place), tag, [
      [await image(place, npmLayer(first), amd), amd],
      [await image(place, npmLayer(second), arm), arm],
    ]);
  const old = await index("old", "multi@1.0.0", "multi@1.0.1");
  const half = await index("half", "multi@2.0.0", "multi@1.0.1");
  const whole = await index("whole", "multi@2.0.0", "multi@2.0.0");
  await advise(place, "multi", "CVE-2026-50", fixedIn("2.0.0"));
  await advise(place, "multi", "CVE-2026-51", fixedIn("2.0.0"), { artifactArchitecture: "amd64" });
  const first = nextDay();
  await move(place, old);
  const second = nextDay();
  await move(place, half);
  const third = nextDay();
  await move(place, whole);
  assert.deepEqual(await since(first, place), [first, `${second} CVE-2026-51`, `${third} CVE-2026-50`]);
});

test("reports come in pages of days, of several tags and images, by REST as by gRPC", async () => {
  const [one, two] = [await newPlace(), await newPlace()];
  const first = nextDay();
  const days: string[] = [];
  for (const [n, place] of [one, two, one, two].entries()) {
    const [old, fixed] = [await npmImage(place, `paged-${n}@1.0.0`), await npmImage(place, `paged-${n}@2.0.0`)];
    await advise(place, `paged-${n}`, `CVE-2026-6${n}`, fixedIn("2.0.0"));
    await move(place, old, n < 2 ? "latest" : "next");
    days.push(nextDay());
    await move(place, fixed, n < 2 ? "latest" : "next");
  }
  const all = (
    await reports(
      `imageRefs=${encodeURIComponent(
        JSON.stringify([
          { repo: one.name, tags: ["latest", "next"] },
          { repo: two.repo, tags: ["latest"] },
          { repo: two.repo, tags: ["next"] },
        ]),
      )}&startTime=${first}T00:00:00Z`,
    )
  ).map(line);
  assert.deepEqual(all, [first, ...days.map((day, n) => `${day} CVE-2026-6${n}`)]);
  assert.deepEqual(await since(first, one), [first, `${days[0]} CVE-2026-60`, ...days.slice(1)]);

  const query = `imageRefs.repo=${one.repo}&imageRefs.tags=latest&imageRefs.tags=next&startTime=${first}T00:00:00Z&orderBy=date%20desc`;
  const pages: string[][] = [];
  for (let more = ""; ;) {
    const { body, status, text } = await ask(`${more === "" ? query : `page_token=${more}`}&page_size=2`);
    assert.equal(status, 200, text);
    assert.equal(body.totalCount, "5");
    pages.push((body["resolvedVulnsReports"] as Report[]).map(line));
    more = body.nextPageToken;
    if (more === "") break;
    const other = await ask(`page_token=${more}&imageRefs.repo=${two.repo}`);
    assert.deepEqual([other.status, blamed(other)], [400, ["page_token"]]);
  }
  assert.deepEqual(pages, [
    [`${days[3]}`, `${days[2]} CVE-2026-62`],
    [`${days[1]}`, `${days[0]} CVE-2026-60`],
    [first],
  ]);
  const skipped = await ask(`${query}&skip=4`);
  assert.deepEqual([(skipped.body["resolvedVulnsReports"] as Report[]).map(line), skipped.body.skipped], [[first], 4]);

  const { listResolvedVulnsReports: method } = SecurityAdvisoryService.method;
  const answer = await both(
    platform,
    method,
    { imageRefs: [{ repo: one.repo }, { repo: two.repo }] },
    await platform.token(),
  );
  assert.equal((answer.body["resolvedVulnsReports"] as Report[]).length, 5);
  const elsewhere = await ask(`imageRefs.repo=${one.repo}&uidp.descendants_of=${two.repo}`);
  assert.deepEqual([elsewhere.status, elsewhere.body["resolvedVulnsReports"]], [200, []]);
});

test("without times the reports are those of the last 30 days, and of 366 at most", async () => {
  const place = await newPlace();
  const digest = await npmImage(place, "long@1.0.0");
  nextDay();
  await move(place, digest);
  nextDay(40);
  const found = await reports(`imageRefs.repo=${place.repo}`);
  const day = (before: number): string => new Date(platform.clock.nowMs() - before * DAY_MS).toISOString().slice(0, 10);
  assert.deepEqual([found.length, line(found[0] as Report), line(found.at(-1) as Report)], [30, day(29), day(0)]);
  const end = `endTime=${day(0)}T23:59:59Z`;
  assert.equal(
    (await ask(`imageRefs.repo=${place.repo}&${end}&startTime=${day(365)}T00:00:00Z`)).body.totalCount,
    "41",
  );
  const long = await ask(`imageRefs.repo=${place.repo}&${end}&startTime=${day(366)}T23:59:59Z`);
  assert.deepEqual([long.status, blamed(long)], [400, ["start_time"]]);
});

test("what is wrong is blamed by its field, all at once", async () => {
  const { repo } = await newPlace();
  for (const [query, ...fields] of [
    ["", "image_refs"],
    ["imageRefs.tags=latest", "image_refs[0].repo"],
    [`imageRefs.repo=${repo}&imageRefs.tags=a&imageRefs.tags=b%2Fc`, "image_refs[0].tags[1]"],
    [`imageRefs.repo=${repo}&startTime=2026-02-02T00:00:00Z&endTime=2026-02-01T00:00:00Z`, "end_time"],
    [`imageRefs.repo=${repo}&startTime=yesterday`, "start_time"],
    [`imageRefs.repo=${repo}&page_size=-1`, "page_size"],
    [`imageRefs.repo=${repo}&order_by=name`, "order_by"],
    [
      `imageRefs.tags=%20&endTime=2020-01-01T00:00:00Z&startTime=2021-01-01T00:00:00Z`,
      "image_refs[0].repo",
      "image_refs[0].tags[0]",
      "end_time",
    ],
    [`imageRefs.repo=${repo}${Array.from({ length: 101 }, (_, n) => `&imageRefs.tags=t${n}`).join("")}`, "image_refs"],
  ] as const) {
    const answer = await ask(query);
    assert.deepEqual([answer.status, blamed(answer)], [400, fields], query.slice(0, 100));
  }
});

test("an image that the caller may not see is NOT_FOUND, as is one that is not there", async () => {
  const place = await newPlace();
  await move(place, await npmImage(place, "seen@1.0.0"));
  const { organization } = platform;
  const query = `imageRefs.repo=${place.repo}`;
  const as = async (...capabilities: string[]): Promise<string> =>
    (await holderOf(platform, organization, capabilities)).token;
  const statusOf = async (asked: string, who: string): Promise<number> => (await ask(asked, who)).status;
  assert.equal((await platform.call("GET", `${REPORTS}?${query}`)).status, 401);
  assert.equal(await statusOf(query, await platform.token(await platform.identity(organization))), 404);
  assert.equal(await statusOf(query, await as("CAP_VULN_REPORT_LIST", "CAP_TAG_LIST")), 404);
  for (const held of [["CAP_TAG_LIST"], ["CAP_VULN_REPORT_LIST"]]) {
    const answer = await ask(query, await as("CAP_REPO_LIST", ...held));
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, held[0] === "CAP_TAG_LIST" ? /lacks CAP_VULN_REPORT_LIST/ : /lacks CAP_TAG_LIST/);
  }
  assert.equal(await statusOf(query, await as("CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_VULN_REPORT_LIST")), 200);
  const viewer = await platform.identity(organization, "viewer");
  assert.equal(await statusOf(query, await platform.token(viewer)), 200);
  const owner = await platform.token();
  assert.equal(await statusOf(query, owner), 200);
  for (const none of ["imageRefs.repo=acme/none", `imageRefs.repo=${team}`, `${query}&imageRefs.tags=never`])
    assert.equal(await statusOf(none, owner), 404, none);
});
