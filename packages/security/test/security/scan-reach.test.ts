import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushArtifact, pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  OCI_IMAGE,
  type ScanAsked,
  type ScannerAdapter,
  startAdapter,
} from "../../../server/test/support/scanner-adapter.ts";
import { requestScans, scanPlace, whenScan } from "../../../server/test/support/scans.ts";

const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const ABSENT = `sha256:${"0".repeat(64)}`;
const LINUX = { os: "linux", architecture: "amd64" };
const SHARED = tarOf([npmFile("srv", "base", "1.0.0")]);

let platform: Platform;
let adapter: ScannerAdapter;
let scanner = "";
let repo = "";
let place: PushTarget;
/** Whether the adapter has its report; until then its scans are under way. */
let isReady = false;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_SCAN_RETRY: "50ms,50ms" });
  adapter = await startAdapter();
  ({ repo, place } = await scanPlace(platform, "app"));
  const body = { name: "curious", url: adapter.url, onRequestOnly: true };
  scanner = (await platform.ok("POST", `/vulnerabilities/v2/scanners/${platform.organization}`, body)).uid;
});
after(() => Promise.all([platform.close(), adapter.close()]));
beforeEach(() => {
  isReady = false;
  adapter.intercept = (req, res) => {
    if (isReady || !(req.url ?? "").includes("/report")) return false;
    res.writeHead(302, { "refresh-after": "1" }).end();
    return true;
  };
});

interface Answer {
  status: number;
  code: string | undefined;
  text: string;
}

/** Asks the registry as the adapter, with what it was given, or with another Authorization header. */
async function asAdapter(
  { registry }: ScanAsked,
  path: string,
  { method = "GET", authorization = registry.authorization } = {},
): Promise<Answer> {
  const answer = await fetch(`${registry.url}${path}`, { method, headers: { authorization }, redirect: "manual" });
  const text = await answer.text();
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1];
  return { status: answer.status, code, text: text.replaceAll(/sha256:[0-9a-f]{64}/g, "DIGEST") };
}

/** What a manifest of the repo refers to, as paths below the repo. */
async function partsOf(target: PushTarget, digest: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${target.token}` };
  const answer = await fetch(`${target.url}/v2/${target.name}/manifests/${digest}`, { headers });
  const {
    config,
    layers = [],
    manifests = [],
  } = (await answer.json()) as Record<string, { digest: string }[]> & {
    config?: { digest: string };
  };
  return [
    ...(config === undefined ? [] : [`blobs/${config.digest}`]),
    ...layers.map((each) => `blobs/${each.digest}`),
    ...manifests.map((each) => `manifests/${each.digest}`),
  ];
}

const image = (tag: string, of = place): Promise<string> =>
  pushLayers(of, tag, [SHARED, tarOf([npmFile("srv", tag, "1.0.0")])], undefined, { ...LINUX, created_by: tag });

/** The request that the adapter got for the digest, while its scan is under way. */
async function askedFor(digest: string): Promise<ScanAsked> {
  return await eventually(() => adapter.asked.findLast(({ artifact }) => artifact.digest === digest));
}

test("a scanner's token reaches the scanned image and nothing else, and only while the scan is under way", async () => {
  const [own, other] = [await image("own"), await image("other")];
  const referrer = await pushArtifact(place, {
    artifactType: "application/vnd.cyclonedx+json",
    subject: own,
    layers: [{ mediaType: "application/vnd.cyclonedx+json", content: "{}" }],
  });
  const index = await pushIndex(place, "index", [[own, LINUX]]);
  const elsewhere = (await scanPlace(platform, "elsewhere")).place;
  const there = await image("own", elsewhere);
  assert.equal(there, own, "the other repo holds the same image");
  const [scan] = await requestScans(platform, repo, own, { scanner });
  assert.ok(scan);
  const asked = await askedFor(own);
  await whenScan(platform, scan.uid, "RUNNING");
  const base = `/v2/${place.name}`;

  const reached = [`manifests/${own}`, ...(await partsOf(place, own))];
  assert.equal(reached.length, 4);
  for (const path of reached)
    for (const method of ["GET", "HEAD"])
      assert.equal((await asAdapter(asked, `${base}/${path}`, { method })).status, 200, `${method} ${path}`);
  assert.equal((await asAdapter(asked, "/v2/")).status, 200);

  // An ordinary token is answered all of it, from the cache of pulls as well.
  const ordinary = { authorization: `Bearer ${place.token}` };
  const others = (await partsOf(place, other)).filter((path) => !reached.includes(path));
  assert.equal(others.length, 2, "they share a layer");
  const hidden = [`manifests/${other}`, `manifests/${referrer}`, `manifests/${index}`, "manifests/own", ...others];
  for (const path of [...hidden, ...hidden])
    assert.equal((await asAdapter(asked, `${base}/${path}`, ordinary)).status, 200, path);
  const absent = await asAdapter(asked, `${base}/manifests/${ABSENT}`);
  const refused = [
    ...hidden,
    `blobs/${ABSENT}`,
    "manifests/absent",
    "manifests/own@2026-01-31",
    "tags/list",
    `referrers/${own}`,
    `referrers/${other}`,
    `referrers/${ABSENT}`,
    "_oci/tag-history/own",
    "_oci/ext/discover",
    "_service/history/own",
  ];
  for (const path of refused)
    assert.deepEqual(await asAdapter(asked, `${base}/${path}`), { ...absent, status: 403, code: "DENIED" }, path);
  for (const [method, path] of [
    ["HEAD", `manifests/${other}`],
    ["DELETE", `manifests/${own}`],
    ["DELETE", `blobs/${ABSENT}`],
    ["PUT", "manifests/own"],
    ["POST", "blobs/uploads/"],
    ["POST", `blobs/uploads/?mount=${ABSENT}&from=${elsewhere.name}`],
  ] as const)
    assert.equal((await asAdapter(asked, `${base}/${path}`, { method })).status, 403, `${method} ${path}`);
  for (const path of [`manifests/${own}`, ...(await partsOf(elsewhere, own)), "tags/list", `referrers/${own}`])
    assert.equal((await asAdapter(asked, `/v2/${elsewhere.name}/${path}`)).code, "DENIED", path);
  assert.equal((await asAdapter(asked, "/v2/_catalog")).code, "UNAUTHORIZED");

  // The token endpoint makes no other token of it.
  const secret = asked.registry.authorization.replace("Bearer ", "");
  const scope = `/token?service=x&scope=repository:${place.name}:pull`;
  const basic = `Basic ${Buffer.from(`scanner:${secret}`).toString("base64")}`;
  for (const authorization of [asked.registry.authorization, basic])
    assert.equal((await asAdapter(asked, scope, { authorization })).code, "UNAUTHORIZED");
  assert.equal((await asAdapter(asked, `${base}/manifests/${own}`, { authorization: basic })).code, "UNAUTHORIZED");
  for (const path of ["/npm/app/left-pad", "/pypi/app/simple/", "/api/v1/x", "/iam/v2/groups", "/mcp"])
    assert.notEqual((await asAdapter(asked, path)).status, 200, path);

  isReady = true;
  await whenScan(platform, scan.uid, "DONE");
  for (const path of reached) {
    const answer = await asAdapter(asked, `${base}/${path}`);
    assert.deepEqual([answer.status, answer.code], [403, "DENIED"], `${path} after the scan`);
  }
  for (const path of reached) assert.equal((await asAdapter(asked, `${base}/${path}`, ordinary)).status, 200, path);
});

test("of an index, a scanner's token reaches what it names, in any nesting", async () => {
  const [first, second, other] = [await image("first"), await image("second"), await image("apart")];
  const inner = await pushIndex(place, "inner", [[second, LINUX]]);
  const outer = await pushIndex(place, "outer", [
    [first, LINUX],
    [inner, { os: "linux", architecture: "arm64" }],
  ]);
  const above = await pushIndex(place, "above", [
    [outer, LINUX],
    [other, LINUX],
  ]);
  const { metadata } = adapter;
  const [capability] = metadata["capabilities"] as [object];
  adapter.metadata = {
    ...metadata,
    capabilities: [{ ...capability, consumes_mime_types: [OCI_IMAGE, OCI_INDEX] }],
  };
  // As if it were asked for: requests ask for the images of an index.
  const uid = newUid(repo);
  const state = { state: 1, reason: "", attempts: 0, holder: "", hold_until: 0, software: null, counts: null };
  const report = { report_mime_type: "", report_size: 0, packages: 0, report_time: null };
  const row = { uid, parent: repo, scanner, scanner_name: "curious", digest: outer, type: 1, ...state, ...report };
  const times = { request_time: platform.clock.nowMs(), start_time: null };
  await platform.transact((tx) =>
    tx
      .insertInto("scans")
      .values({ ...row, ...times })
      .execute(),
  );
  const asked = await askedFor(outer);
  await whenScan(platform, uid, "RUNNING");
  const reached = [`manifests/${outer}`];
  for (const digest of [outer, inner, first, second]) reached.push(...(await partsOf(place, digest)));
  assert.equal(new Set(reached).size, 9);
  const statuses = async (): Promise<Set<number>> => {
    const found = new Set<number>();
    for (const path of reached) found.add((await asAdapter(asked, `/v2/${place.name}/${path}`)).status);
    return found;
  };
  assert.deepEqual(await statuses(), new Set([200]));
  const foreign = [`manifests/${above}`, `manifests/${other}`, ...(await partsOf(place, other))];
  for (const path of foreign.filter((each) => !reached.includes(each)))
    assert.equal((await asAdapter(asked, `/v2/${place.name}/${path}`)).code, "DENIED", path);
  adapter.metadata = metadata;
  // As when the scan ends, without any other change that would empty caches.
  assert.deepEqual(await statuses(), new Set([200]));
  await platform.transact((tx) =>
    tx.updateTable("scans").set({ state: 4, holder: "", hold_until: 0 }).where("uid", "=", uid).execute(),
  );
  assert.deepEqual(await statuses(), new Set([403]));
});
