import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Exposure {
  identity: string;
  repoUid: string;
  image: string;
  digest: string;
  firstPullTime: string;
  lastPullTime: string;
  pulls: string;
  openTime: string;
  package: string;
  version: string;
  fix: string;
}
interface Exposures extends Json {
  exposures: Exposure[];
  coverage: { since?: string };
  unknownSummary?: object;
  state?: string;
}

const PATH = "acme/app";
const PAD = tarOf([npmFile("app", "left-pad", "1.0.0")]);
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_WORK_POLL: "20ms" });
});
after(() => platform.close());

async function push(tag: string, layer: Buffer): Promise<string> {
  const { url, owner } = platform;
  const token = await platform.token(owner, { audience: new URL(url).host });
  return await pushLayers({ url, token, name: PATH }, tag, [layer]);
}
async function pull(identity: string, reference: string, method = "GET"): Promise<void> {
  const token = await platform.token(identity, { audience: new URL(platform.url).host });
  const { status } = await platform.call(method, `/v2/${PATH}/manifests/${reference}`, { token });
  assert.equal(status, 200);
}
const list = (query = "", vulnerability = "CVE-2026-1"): Promise<Exposures> =>
  platform.ok<Exposures>("GET", `/vulnerabilities/v2/exposures?vulnerability=${vulnerability}&${query}`);

test("exposures are who pulled an image since a vulnerability is open in it, and which version fixes it", async () => {
  const [ann, bob, eve] = await Promise.all([1, 2, 3].map(() => platform.identity(platform.organization, "viewer")));
  assert.ok(ann !== undefined && bob !== undefined && eve !== undefined);
  const digest = await push("v1", PAD);
  await push("v2", tarOf([npmFile("app", "left-pad", "2.0.0")]));
  // Before the vulnerability is known.
  await pull(eve, "v1");
  assert.equal((await list()).state, "KNOWLEDGE_STATE_NO_DATA");
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.5.0") }),
  ]);
  await eventually(async () => {
    const found = await platform.ok<Json>("GET", "/vulnerabilities/v2/findings?vulnerabilities=CVE-2026-1");
    return (found["findings"] as unknown[]).length === 1;
  });
  assert.deepEqual((await list()).exposures, []);
  for (const reference of ["v1", digest]) await pull(ann, reference);
  await pull(ann, "v2");
  await pull(bob, "v1", "HEAD");
  await eventually(async () => (await list()).exposures.length === 2);
  // The tag points elsewhere now, and the image runs where it was pulled.
  await push("v1", tarOf([npmFile("app", "left-pad", "3.0.0")]));
  const { exposures, coverage, unknownSummary, state } = await list();
  const byIdentity = new Map(exposures.map((each) => [each.identity, each]));
  assert.deepEqual([...byIdentity.keys()].sort(), [ann, bob].sort());
  const first = byIdentity.get(ann);
  assert.ok(first !== undefined);
  const { firstPullTime, lastPullTime, openTime, repoUid: _repo, ...rest } = first;
  assert.deepEqual(rest, {
    identity: ann,
    image: PATH,
    digest,
    pulls: "2",
    package: "left-pad",
    version: "1.0.0",
    fix: "1.5.0",
  });
  assert.ok(openTime <= firstPullTime && firstPullTime <= lastPullTime);
  assert.equal(byIdentity.get(bob)?.pulls, "0", "it only asked whether the image is the same");
  assert.ok(coverage.since !== undefined && unknownSummary !== undefined);
  assert.equal(state, "KNOWLEDGE_STATE_UNSPECIFIED");

  const paged = await list("page_size=1");
  const next = await list(`page_size=1&page_token=${encodeURIComponent(paged.nextPageToken)}`);
  assert.deepEqual(
    [...paged.exposures, ...next.exposures].map(({ identity }) => identity),
    exposures.map(({ identity }) => identity),
  );
  assert.deepEqual((await list("since=2100-01-01T00:00:00Z")).exposures, []);
  assert.equal((await list("", "GHSA-aaaa-bbbb-cccc")).exposures.length, 2, "by any of its ids");
});

test("exposures name people: they are for who may list events, and never a part of them", async () => {
  const ask = async (identity: string, query = "vulnerability=CVE-2026-1") =>
    await platform.call("GET", `/vulnerabilities/v2/exposures?${query}`, { token: await platform.token(identity) });
  const viewer = await platform.identity(platform.organization, "viewer");
  assert.equal((await ask(viewer)).status, 403);
  const auditor = await platform.identity(platform.organization, "auditor");
  assert.equal((await ask(auditor)).status, 200);
  const stranger = await platform.identity(platform.organization);
  assert.deepEqual((await ask(stranger)).body["exposures"], []);
  assert.equal((await ask(auditor, "page_size=5")).status, 400, "without a vulnerability");
});
