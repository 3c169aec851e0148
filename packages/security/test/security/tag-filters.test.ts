import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  cosignLayer,
  cosignPayload,
  newKey,
  newSigner,
  pushCosign,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

// Lists of tags are filtered by what is known of their images; what is not known is an answer of its own.

interface Tags {
  tags: { name: string }[];
  nextPageToken: string;
  totalCount?: string;
  leftOutCount: number;
  unknownCount: number;
}

const CRITICAL = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };
/** What nobody has pushed. */
const ABSENT = `sha256:${"a".repeat(64)}`;

let platform: Platform;
let app: Place;
let registryToken: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_WORK_POLL: "20ms" });
  await putRecords(platform, "npm", "osv", [
    osvOf("NPM-1", { ...affectedBefore("left-pad", "2.0.0"), ...CRITICAL }),
    osvOf("NPM-2", affectedBefore("right-pad", "2.0.0")),
  ]);
  registryToken = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  app = await newRepoPlace(platform, registryToken);
  await pushAll(app);
});
after(() => platform.close());

/** Images of which different things are known, each under a tag. */
async function pushAll(place: Place): Promise<void> {
  const image = (tag: string, name: string, version: string, architecture = "amd64"): Promise<string> =>
    pushLayers(place, tag, [tarOf([npmFile("app", name, version), { path: `of-${tag}` }])], undefined, {
      architecture,
      os: "linux",
    });
  const critical = await image("critical", "left-pad", "1.0.0");
  await image("unrated", "right-pad", "1.0.0", "arm64");
  await image("clean", "left-pad", "3.0.0", "arm");
  await pushLayers(place, "damaged", [Buffer.from("no archive")]);
  const clean = await image("other", "left-pad", "3.0.0", "s390x");
  await pushIndex(place, "both", [
    [critical, { os: "linux", architecture: "amd64" }],
    [clean, { os: "linux", architecture: "arm", variant: "v7" }],
  ]);
  await platform.ok("POST", `/registry/v2/tags/${place.repo}`, { name: "gone", digest: ABSENT });
}

const path = (query: string, repo = app.repo): string => `/registry/v2/tags?uidp.children_of=${repo}&${query}`;
const list = (query: string): Promise<Tags> => platform.ok<Tags>("GET", path(query));
const namesOf = ({ tags }: Tags): string[] => tags.map(({ name }) => name);
/** Waits until the filter answers these names, and so many of which it is not known. */
async function answers(query: string, names: string[], unknown: number): Promise<void> {
  let found: unknown;
  await eventually(async () => {
    const answer = await list(query);
    found = [namesOf(answer), answer.unknownCount];
    return JSON.stringify(found) === JSON.stringify([names, unknown]);
  }).catch((error: unknown) => {
    throw new Error(`${query}: ${JSON.stringify(found)}`, { cause: error });
  });
}

test("tags are filtered by architecture, and those that point to nothing are not known", async () => {
  await answers("architecture=arm64", ["unrated"], 1);
  await answers("architecture=arm", ["both", "clean"], 1);
  await answers("architecture=arm/v7", ["both"], 1);
  await answers("architecture=riscv64", [], 1);
  const { leftOutCount, totalCount, nextPageToken } = await list("architecture=arm64");
  assert.deepEqual([leftOutCount, totalCount, nextPageToken], [6, undefined, ""]);
  // Without such a filter the list is what it was.
  const all = await list("");
  assert.deepEqual([all.totalCount, all.leftOutCount, all.unknownCount], ["7", 0, 0]);
});

test("tags are filtered by open findings; what is not known is never free of them", async () => {
  await answers("findings=NONE", ["clean", "other"], 2);
  await answers("findings=CRITICAL", ["both", "critical"], 3);
  await answers("findings=ANY", ["both", "critical", "unrated"], 2);
  await answers("findings=UNKNOWN", ["damaged", "gone"], 0);
  // What has no severity may be of any.
  await answers("findings=HIGH&order_by=name%20desc", ["critical", "both"], 3);
  await answers("findings=NONE&architecture=arm", ["clean"], 1);
});

test("a filter's answer changes with the findings, although nothing of the tags does", async () => {
  const place = await newRepoPlace(platform, registryToken);
  await pushLayers(place, "v1", [tarOf([npmFile("app", "mid-pad", "1.0.0")])]);
  const found = async (query: string): Promise<string[]> =>
    namesOf(await platform.ok<Tags>("GET", path(query, place.repo)));
  await eventually(async () => (await found("findings=NONE")).length === 1);
  await putRecords(platform, "later", "osv", [osvOf("NPM-3", { ...affectedBefore("mid-pad", "2.0.0"), ...CRITICAL })]);
  await eventually(async () => (await found("findings=NONE")).length === 0);
  await eventually(async () => (await found("findings=CRITICAL")).length === 1);
});

test("tags are filtered by what their signatures are worth", async () => {
  const place = await newRepoPlace(platform, registryToken);
  const own = newKey();
  await newSigner(platform, platform.organization, "release", [own]);
  const sign = async (tag: string, key: ReturnType<typeof newKey>): Promise<void> => {
    const digest = await pushLayers(place, tag, [Buffer.from(`layer of ${tag}`)]);
    await pushCosign(place, digest, [cosignLayer(key, cosignPayload(digest))]);
    await verifiedSignatures(platform, place, digest);
  };
  await sign("ours", own);
  await sign("theirs", newKey());
  await pushLayers(place, "unsigned", [Buffer.from("a layer")]);
  await platform.ok("POST", `/registry/v2/tags/${place.repo}`, { name: "gone", digest: ABSENT });
  const found = async (signature: string): Promise<unknown[]> => {
    const query = `include_referrers=false&signature=${signature}`;
    const answer = await platform.ok<Tags>("GET", path(query, place.repo));
    return [...namesOf(answer), answer.unknownCount];
  };
  await eventually(async () => (await found("NONE")).length === 2);
  assert.deepEqual(await found("TRUSTED"), ["ours", 1]);
  assert.deepEqual(await found("UNTRUSTED"), ["theirs", 1]);
  assert.deepEqual(await found("NONE"), ["unsigned", 1]);
  assert.deepEqual(await found("UNKNOWN"), ["gone", 0]);
});

test("who may not see findings or signatures does not learn them by a filter", async () => {
  await answers("findings=CRITICAL", ["both", "critical"], 3);
  const { uid: role } = await platform.ok<Json>("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "tags-only",
    capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"],
  });
  const identity = await platform.identity(platform.organization);
  await platform.bind(platform.organization, identity, role);
  const token = await platform.token(identity);
  const asked = async (query: string): Promise<unknown[]> => {
    const { status, body } = await platform.call("GET", path(query), { token });
    assert.equal(status, 200);
    const answer = body as unknown as Tags;
    return [answer.tags.length, answer.leftOutCount, answer.unknownCount];
  };
  for (const value of ["CRITICAL", "HIGH", "MEDIUM", "ANY", "NONE"])
    assert.deepEqual(await asked(`findings=${value}`), [0, 7, 7], value);
  for (const value of ["TRUSTED", "UNTRUSTED", "NONE"])
    assert.deepEqual(await asked(`signature=${value}`), [0, 7, 7], value);
  assert.deepEqual(await asked("architecture=amd64"), [0, 7, 7]);
  assert.deepEqual(await asked("findings=UNKNOWN"), [7, 0, 0]);
  assert.deepEqual(await asked("signature=UNKNOWN"), [7, 0, 0]);
});

test("pages of a filter have every tag that fits once, and count each of the others once", async () => {
  const seen: string[] = [];
  let [leftOut, unknown, pageToken] = [0, 0, ""];
  do {
    // A request with a token may leave the filter out: the token holds it.
    const page = await list(pageToken === "" ? "architecture=arm&page_size=1" : `page_size=1&page_token=${pageToken}`);
    seen.push(...namesOf(page));
    leftOut += page.leftOutCount;
    unknown += page.unknownCount;
    ({ nextPageToken: pageToken } = page);
  } while (pageToken !== "");
  assert.deepEqual([seen, leftOut, unknown], [["both", "clean"], 5, 1]);
  const { nextPageToken } = await list("architecture=arm&page_size=1");
  const refused = async (query: string): Promise<Answer> =>
    platform.call("GET", path(query), { token: await platform.token() });
  assert.equal((await refused(`architecture=amd64&page_token=${nextPageToken}`)).status, 400);
  assert.equal((await refused("architecture=arm&skip=1")).status, 400);
  assert.equal((await refused("findings=SOME")).status, 400);
});

test("a page looks at a bounded number of tags, and says how many it left out", async () => {
  const { uid: repo } = await platform.repo(platform.organization, { name: "many" });
  await platform.transact(async (tx) => {
    for (let part = 0; part < 3; part += 1) {
      const rows = Array.from({ length: 500 }, (_, at) => {
        const name = `t${String(part * 500 + at).padStart(4, "0")}`;
        const digest = `sha256:${name.slice(1).padStart(64, "0")}`;
        const times = { create_time: 1, update_time: 1 };
        return { uid: `${repo}/${name}`, parent: repo, name, digest, deprecated: 0, bundles: "[]", ...times };
      });
      await tx.insertInto("tags").values(rows).execute();
    }
  });
  const first = await platform.ok<Tags>("GET", path("architecture=arm64", repo));
  assert.deepEqual([first.tags, first.leftOutCount, first.unknownCount], [[], 1_000, 1_000]);
  assert.notEqual(first.nextPageToken, "");
  const second = await platform.ok<Tags>("GET", path(`page_token=${first.nextPageToken}`, repo));
  assert.deepEqual([second.leftOutCount, second.nextPageToken], [500, ""]);
  // What takes more is looked at less.
  const costly = await platform.ok<Tags>("GET", path("findings=NONE", repo));
  assert.equal(costly.leftOutCount, 200);
});
