import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { type Json, type Platform, reason, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { addScanner } from "../../../server/test/support/scan-rows.ts";
import {
  OCI_IMAGE,
  type ScanAsked,
  type ScannerAdapter,
  startAdapter,
  VULNERABILITIES,
} from "../../../server/test/support/scanner-adapter.ts";
import { requestScans, scanPlace, whenScan } from "../../../server/test/support/scans.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const PATH = "/vulnerabilities/v2/scanners";
const SCANS = "/vulnerabilities/v2/scans";
const LINUX = { os: "linux", architecture: "amd64" };

let platform: Platform;
let adapter: ScannerAdapter;
let scanner = "";
let owner = "";
let repo = "";
let place: PushTarget;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_SCAN_RETRY: "50ms,50ms" });
  adapter = await startAdapter();
  owner = await platform.token();
  // What is pushed is scanned when a test asks for it, and not by itself.
  const body = { name: "trivy", url: adapter.url, authorization: "Bearer adapter", onRequestOnly: true };
  scanner = (await platform.ok("POST", `${PATH}/${platform.organization}`, body)).uid;
  ({ repo, place } = await scanPlace(platform, "app"));
});
after(() => Promise.all([platform.close(), adapter.close()]));
beforeEach(() => {
  adapter.intercept = () => false;
});

/** Pushes an image with these packages of npm, each as name@version. */
const push = (tag: string, ...packages: string[]): Promise<string> =>
  pushLayers(place, tag, [
    tarOf(
      packages.map((each) => {
        const [name = "", version = ""] = each.split("@");
        return npmFile("srv", name, version);
      }),
    ),
  ]);
const scanOf = async (digest: string, more: object = {}): Promise<Json> => {
  const [scan] = await requestScans(platform, repo, digest, more);
  assert.ok(scan);
  return scan;
};
const pulled = async (asked: ScanAsked, path: string, method = "GET"): Promise<number> => {
  const headers = { authorization: asked.registry.authorization };
  return (await fetch(`${asked.registry.url}/v2/${path}`, { method, headers })).status;
};
const isReport = ({ url = "" }: IncomingMessage): boolean => url.endsWith("/report");
/** Answers reports so. */
const reporting = (answer: (res: ServerResponse) => void): void => {
  adapter.intercept = (req, res) => {
    if (isReport(req)) answer(res);
    return isReport(req);
  };
};

test("a scanner pulls the image, and its report is kept beside the findings of the server", async () => {
  const digest = await push("v1", "left-pad@1.3.0", "lodash@4.0.0", "harmless@1.0.0");
  const asked = await scanOf(digest);
  assert.deepEqual(
    [asked["state"], asked["scanner"], asked["digest"], asked["type"], asked["counts"]],
    ["SCAN_STATE_WAITING", scanner, digest, "SCAN_TYPE_VULNERABILITY", undefined],
  );
  const done = await whenScan(platform, asked.uid, "DONE");
  assert.deepEqual(
    [done["scannerName"], done["software"], done["reason"], done["attempts"], done["reportMimeType"]],
    ["trivy", { name: "Test Scanner", vendor: "Tests", version: "1.2.3" }, "", 1, VULNERABILITIES],
  );
  assert.deepEqual(done["counts"], { critical: 1, high: 0, medium: 1, low: 0, negligible: 1, unknown: 1, fixable: 1 });
  for (const time of ["requestTime", "startTime", "reportTime"]) assert.ok(done[time], time);
  const sent = adapter.asked.at(-1);
  assert.deepEqual(sent?.artifact, { repository: place.name, digest, tag: "v1", mime_type: OCI_IMAGE });
  assert.deepEqual(sent?.enabled_capabilities, [{ type: "vulnerability", produces_mime_types: [VULNERABILITIES] }]);
  assert.ok(adapter.headers.every(({ authorization }) => authorization === "Bearer adapter"));

  const raw = await platform.ok("GET", `${SCANS}/${done.uid}/report`);
  const report = JSON.parse(Buffer.from(String(raw["content"]), "base64").toString()) as Record<string, object>;
  assert.deepEqual(report["artifact"], sent?.artifact, "it is the report as the adapter made it");
  assert.deepEqual([raw["mimeType"], raw["scanner"]], [VULNERABILITIES, scanner]);
  assert.equal(done["reportSize"], Buffer.from(String(raw["content"]), "base64").length);

  const found = `${SCANS}/${done.uid}/vulnerabilities`;
  const all = (await platform.ok("GET", found))["vulnerabilities"] as Json[];
  assert.deepEqual(
    all.map((each) => [each["id"], each["package"], each["version"], each["fixVersion"], each["severity"]].join(" ")),
    [
      "CVE-2026-1001 left-pad 1.3.0 1.3.1 FINDING_SEVERITY_CRITICAL",
      "CVE-2026-1002 lodash 4.0.0  FINDING_SEVERITY_MEDIUM",
      "CVE-2026-1003 lodash 4.0.0  FINDING_SEVERITY_NEGLIGIBLE",
      "CVE-2026-1004 lodash 4.0.0  FINDING_SEVERITY_UNKNOWN",
    ],
  );
  assert.deepEqual([all[0]?.["score"], all[1]?.["links"]], [9.8, ["https://example.com/CVE-2026-1002"]]);
  const first = await platform.ok("GET", `${found}?pageSize=1&minSeverity=MEDIUM`);
  assert.deepEqual([(first["vulnerabilities"] as Json[]).length, first["totalCount"]], [1, 2]);
  const second = await platform.ok("GET", `${found}?minSeverity=MEDIUM&pageToken=${first.nextPageToken}`);
  assert.deepEqual([(second["vulnerabilities"] as Json[])[0]?.["id"], second.nextPageToken], ["CVE-2026-1002", ""]);
  const other = await platform.call("GET", `${found}?pageToken=${first.nextPageToken}`, { token: owner });
  assert.equal(other.status, 400, "a page token belongs to its request");

  const listed = await rows(platform.ok("GET", `${SCANS}?digest=${digest}&scanner=${scanner}&state=DONE`), "scans");
  assert.deepEqual(listed, [done]);
  assert.deepEqual(await rows(platform.ok("GET", `${SCANS}?digest=${digest}&state=FAILED`), "scans"), []);
  const findings = await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}`);
  assert.deepEqual(findings["findings"], [], "what the scanner says is no finding of the server");
});

test("the token of a scan pulls from this repo alone, and only for a while", async (t) => {
  const digest = await push("token", "harmless@1.0.1");
  let isReady = false;
  adapter.intercept = (req, res) => {
    if (!isReport(req) || isReady) return false;
    res.writeHead(302, { "refresh-after": "1" }).end();
    return true;
  };
  const { uid } = await scanOf(digest);
  await whenScan(platform, uid, "RUNNING");
  const asked = adapter.asked.at(-1);
  assert.ok(asked);
  // Events of pulls come soon after them.
  const actors = async (): Promise<string[]> =>
    (await platform.reader.selectFrom("events").select("actor").where("type", "=", "registry.pull.v1").execute()).map(
      ({ actor }) => actor,
    );
  const actor = JSON.stringify({ subject: platform.owner, act: { scan: uid } });
  await eventually(async () => (await actors()).includes(actor));
  const { place: other } = await scanPlace(platform, "other");
  const secret = await pushLayers(other, "v1", [tarOf([npmFile("srv", "secret", "1.0.0")])]);
  assert.equal(await pulled(asked, `${place.name}/manifests/${digest}`), 200);
  assert.ok([401, 403].includes(await pulled(asked, `${other.name}/manifests/${secret}`)));
  assert.ok([401, 403].includes(await pulled(asked, `${place.name}/manifests/${digest}`, "DELETE")));
  assert.ok([401, 403].includes(await pulled(asked, `${place.name}/blobs/uploads/`, "POST")));
  const bearer = asked.registry.authorization.replace("Bearer ", "");
  assert.ok([401, 403].includes((await platform.call("GET", "/iam/v2/groups", { token: bearer })).status));
  isReady = true;
  await whenScan(platform, uid, "DONE");
  t.after(() => (platform.clock.offsetMs = 0));
  platform.clock.offsetMs = 29 * 60_000;
  assert.equal(await pulled(asked, `${place.name}/manifests/${digest}`), 403, "the scan has ended");
  platform.clock.offsetMs = 31 * 60_000;
  assert.equal(await pulled(asked, `${place.name}/manifests/${digest}`), 401, "the token has ended");
});

test("a scan that fails is attempted again, and has a reason when it fails for good", async () => {
  const digest = await push("fails", "left-pad@1.3.0", "harmless@2.0.0");
  let answers = 0;
  reporting((res) => {
    answers += 1;
    res.writeHead(500, { "content-type": "application/json" }).end(`{"error": {"message": "no space left"}}`);
  });
  const { uid } = await scanOf(digest);
  const failed = await whenScan(platform, uid, "FAILED");
  assert.deepEqual([failed["attempts"], answers], [3, 3]);
  assert.equal(failed["reason"], "the adapter answered 500 where it was asked for a report: no space left");
  const none = await platform.call("GET", `${SCANS}/${uid}/report`, { token: owner });
  assert.deepEqual([none.status, reason(none)], [400, "FAILED_PRECONDITION"]);
  assert.match(none.text, /no space left/);

  answers = 0;
  adapter.intercept = (req, res) => {
    if (!isReport(req) || (answers += 1) > 1) return false;
    res.writeHead(404).end();
    return true;
  };
  const again = await scanOf(digest);
  assert.deepEqual([again.uid, again["state"], again["reason"], again["attempts"]], [uid, "SCAN_STATE_WAITING", "", 0]);
  assert.equal((await whenScan(platform, uid, "DONE"))["attempts"], 2);

  // What was reported stays until there is another report.
  reporting((res) => res.writeHead(500).end());
  await scanOf(digest);
  const kept = await whenScan(platform, uid, "FAILED");
  assert.deepEqual([(kept["counts"] as Json)["critical"], kept["reportMimeType"]], [1, VULNERABILITIES]);
  assert.ok((await platform.ok("GET", `${SCANS}/${uid}/report`))["content"]);
});

const HUGE = Buffer.alloc(1 << 20, " ");
const REPORTS: Record<string, [write: (res: ServerResponse) => void, why: RegExp]> = {
  "another media type": [
    (res) => res.writeHead(200, { "content-type": "application/json" }).end("{}"),
    /media type application\/json, not application\/vnd\.security/,
  ],
  "no JSON": [(res) => res.writeHead(200, { "content-type": VULNERABILITIES }).end("{"), /cannot be read as JSON/],
  "JSON of endless depth": [
    (res) => res.writeHead(200, { "content-type": VULNERABILITIES }).end(`{"a":${"[".repeat(100_000)}`),
    /nested too deeply/,
  ],
  "no list": [
    (res) => res.writeHead(200, { "content-type": VULNERABILITIES }).end(`{"vulnerabilities": 1}`),
    /vulnerabilities: must be a list/,
  ],
  "a vulnerability without an id": [
    (res) => res.writeHead(200, { "content-type": VULNERABILITIES }).end(`{"vulnerabilities": [{}]}`),
    /vulnerabilities\[0\]\.id: is required/,
  ],
  "a report without an end": [
    (res) => {
      res.writeHead(200, { "content-type": VULNERABILITIES });
      const more = (): void => {
        while (!res.destroyed && res.write(HUGE));
      };
      res.on("drain", more);
      more();
    },
    /the answer is too large/,
  ],
  "a compressed report": [
    (res) => res.writeHead(200, { "content-type": VULNERABILITIES, "content-encoding": "gzip" }).end("a"),
    /the answer is encoded/,
  ],
  "a rejection": [(res) => res.writeHead(403).end(), /answered 403/],
};
for (const [what, [write, why]] of Object.entries(REPORTS))
  test(`${what} fails a scan at the first attempt`, async () => {
    const digest = await push("refused", `harmless@${what.length}.0.0`);
    reporting(write);
    const failed = await whenScan(platform, (await scanOf(digest)).uid, "FAILED");
    assert.match(String(failed["reason"]), why);
    assert.equal(failed["attempts"], 1);
    assert.equal(failed["counts"], undefined);
  });

test("a report that never comes ends with a reason", async (t) => {
  const impatient = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_SCAN_TIMEOUT: "2s",
    MOORAGE_SCAN_RETRY: "50ms",
  });
  t.after(() => impatient.close());
  const scanPlaceThere = await scanPlace(impatient, "app");
  await impatient.ok("POST", `${PATH}/${impatient.organization}`, { name: "slow", url: adapter.url });
  const digest = await pushLayers(scanPlaceThere.place, "v1", [tarOf([npmFile("srv", "harmless", "3.0.0")])]);
  let answers = 0;
  reporting((res) => {
    answers += 1;
    // Following it would ask another server.
    res.writeHead(302, { location: "http://127.0.0.1:9/", "refresh-after": "1" }).end();
  });
  const [scan] = await requestScans(impatient, scanPlaceThere.repo, digest);
  const failed = await whenScan(impatient, scan?.uid ?? "", "FAILED");
  assert.equal(failed["reason"], "the adapter had no report within 2000 ms");
  assert.ok(answers >= 1);
});

test("a scan is running while its adapter works, and a request leaves it alone then", async () => {
  const digest = await push("slow", "left-pad@1.2.9");
  let isReady = false;
  adapter.intercept = (req, res) => {
    if (!isReport(req) || isReady) return false;
    res.writeHead(302, { "refresh-after": "1" }).end();
    return true;
  };
  const { uid } = await scanOf(digest);
  await whenScan(platform, uid, "RUNNING");
  assert.equal((await scanOf(digest))["state"], "SCAN_STATE_RUNNING");
  isReady = true;
  assert.equal((await whenScan(platform, uid, "DONE"))["attempts"], 1);
  assert.equal(adapter.asked.filter(({ artifact }) => artifact.digest === digest).length, 1);
});

test("only what the adapter takes is sent to it; of an index each image", async () => {
  const images = [await push("a", "left-pad@1.0.1"), await push("b", "left-pad@1.0.2")];
  const index = await pushIndex(
    place,
    "index",
    images.map((digest, n) => [digest, { ...LINUX, variant: `v${n}` }] as const),
  );
  const scans = await requestScans(platform, repo, index);
  assert.deepEqual(scans.map(({ digest }) => digest).sort(), images.toSorted());
  for (const { uid } of scans) await whenScan(platform, uid, "DONE");
  assert.ok(!adapter.asked.some(({ artifact }) => artifact.digest === index));

  const ask = async (body: object): Promise<string> => {
    const answer = await platform.call("POST", `/vulnerabilities/v2/repos/${repo}:scan`, { token: owner, body });
    return `${answer.status} ${answer.text}`;
  };
  assert.match(await ask({ digest: `sha256:${"0".repeat(64)}` }), /^404 .*Image not found/s);
  assert.match(await ask({ digest: "latest" }), /^400 .*digest/s);
  const [digest = ""] = images;
  assert.match(await ask({ digest, scanner: "0".repeat(40) }), /^404 .*Scanner not found/s);
  // By what the adapter says then, not by what it said when it was registered.
  const { metadata } = adapter;
  adapter.metadata = {
    ...metadata,
    capabilities: [{ type: "vulnerability", consumes_mime_types: ["a/b"], produces_mime_types: [VULNERABILITIES] }],
  };
  const { uid } = await scanOf(digest);
  assert.match(String((await whenScan(platform, uid, "FAILED"))["reason"]), /makes no report that is read here of/);
  await platform.ok("POST", `${PATH}/${scanner}:check`, {});
  assert.match(await ask({ digest }), /^400 .*NO_SCANNER/s);
  adapter.metadata = metadata;
  await platform.ok("POST", `${PATH}/${scanner}:check`, {});
  await platform.ok("PATCH", `${PATH}/${scanner}?updateMask=disabled`, { disabled: true });
  assert.match(await ask({ digest }), /^400 .*NO_SCANNER/s);
  assert.match(await ask({ digest, scanner }), /^400 .*SCANNER_DISABLED/s);
  await platform.ok("PATCH", `${PATH}/${scanner}?updateMask=disabled`, { disabled: false });
});

test("who loses the right to pull has nothing scanned any more", async () => {
  const identity = await platform.identity(platform.organization);
  const { uid: group, name } = await platform.group(platform.organization);
  const binding = await platform.bind(group, identity, await platform.role("owner"));
  const { uid: inside } = await platform.repo(group, { name: "inside" });
  const { url, token } = place;
  const target = { url, token, name: `${platform.bootstrap.organization.name}/${name}/inside` };
  const digest = await pushLayers(target, "v1", [tarOf([npmFile("srv", "left-pad", "1.3.0")])]);
  const made = await platform.call("POST", `${PATH}/${group}`, {
    token: await platform.token(identity),
    body: { name: "own", url: adapter.url },
  });
  const asks = { scanner: made.body.uid };
  const [first] = await requestScans(platform, inside, digest, asks);
  await whenScan(platform, first?.uid ?? "", "DONE");
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  const sent = adapter.asked.length;
  await requestScans(platform, inside, digest, asks);
  const failed = await whenScan(platform, first?.uid ?? "", "FAILED");
  assert.match(String(failed["reason"]), /may not pull from the repo/);
  assert.equal(adapter.asked.length, sent);
});

test("an adapter at a private address is not asked, whenever it came to be there", async (t) => {
  const closed = await startPlatform({ MOORAGE_SCAN_RETRY: "50ms" });
  t.after(() => closed.close());
  const inside = await scanPlace(closed, "app");
  const digest = await pushLayers(inside.place, "v1", [tarOf([npmFile("srv", "left-pad", "1.3.0")])]);
  // As if its name had led to a public address when it was registered.
  await addScanner(closed, closed.organization, adapter.url.replace("http:", "https:"));
  const [scan] = await requestScans(closed, inside.repo, digest);
  const failed = await whenScan(closed, scan?.uid ?? "", "FAILED");
  assert.deepEqual(
    [failed["reason"], failed["attempts"]],
    ["the adapter gave no answer: the address is not a public one", 1],
  );
});

test("a scanner has so many images scanned concurrently, and no more", async (t) => {
  const few = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_SCANS: "2" });
  t.after(() => few.close());
  const there = await scanPlace(few, "app");
  await few.ok("POST", `${PATH}/${few.organization}`, { name: "busy", url: adapter.url });
  let isReady = false;
  adapter.intercept = (req, res) => {
    if (!isReport(req) || isReady) return false;
    res.writeHead(302, { "refresh-after": "1" }).end();
    return true;
  };
  const uids: string[] = [];
  for (const version of ["1.0.0", "2.0.0", "3.0.0"]) {
    const digest = await pushLayers(there.place, "v", [tarOf([npmFile("srv", "left-pad", version)])]);
    uids.push((await requestScans(few, there.repo, digest))[0]?.uid ?? "");
  }
  const running = async () => rows(few.ok("GET", `${SCANS}?state=RUNNING`), "scans");
  await eventually(async () => (await running()).length >= 2);
  assert.equal((await running()).length, 2);
  isReady = true;
  for (const uid of uids) await whenScan(few, uid, "DONE");
});
