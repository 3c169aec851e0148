import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { loadConfig } from "../../../server/src/index.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { reviewScans } from "../../src/security/scanners/remove.ts";
import { type Database, openStore, type Row } from "../../../kernel/src/store/index.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { deleteReference, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";
import { addScan, addScanner } from "../../../server/test/support/scan-rows.ts";
import { type ScannerAdapter, startAdapter } from "../../../server/test/support/scanner-adapter.ts";
import { requestScans, scanPlace, whenScan } from "../../../server/test/support/scans.ts";

// What becomes of scans when processes end, and when what they are about goes.

const PRIVATE = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };
const LAYER = tarOf([npmFile("srv", "left-pad", "1.3.0")]);

async function adapterOf(t: TestContext): Promise<ScannerAdapter> {
  const adapter = await startAdapter();
  t.after(() => adapter.close());
  return adapter;
}

/** The adapter works on whatever it is asked until the function that is answered is called. */
function busy(adapter: ScannerAdapter): () => void {
  adapter.intercept = (req, res) => {
    if (!req.url?.endsWith("/report")) return false;
    res.writeHead(302, { "refresh-after": "1" }).end();
    return true;
  };
  return () => (adapter.intercept = () => false);
}

/** The only scan as soon as it is as wanted. */
async function scanRow(reader: Database, wanted: (row: Row<"scans">) => boolean): Promise<Row<"scans">> {
  return await eventually(async () => {
    const row = await reader.selectFrom("scans").selectAll().executeTakeFirst();
    return row !== undefined && wanted(row) && row;
  });
}

test("a scan that a server had under way is asked for again, whether it was shut down or killed", async (t) => {
  const adapter = await adapterOf(t);
  const release = busy(adapter);
  const { servers, registry, platform, url, bootstrap, env, replace } = await startReplicas(t, 1, PRIVATE);
  const call = async (path: string, body: object): Promise<{ uid: string }> => {
    const headers = { authorization: `Bearer ${platform}`, "content-type": "application/json" };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as { uid: string };
  };
  const { uid: organization, name } = bootstrap.organization;
  await call(`/vulnerabilities/v2/scanners/${organization}`, { name: "trivy", url: adapter.url });
  const digest = await pushLayers({ url, token: registry, name: `${name}/app` }, "v1", [LAYER]);
  const store = await openStore(loadConfig(env));
  t.after(() => store.close());
  const { uid: repo } = await store.reader.selectFrom("repos").select("uid").executeTakeFirstOrThrow();
  await call(`/vulnerabilities/v2/repos/${repo}:scan`, { digest });
  await scanRow(store.reader, ({ state }) => state === 2);
  await servers[0]?.stop("SIGTERM");
  const left = await scanRow(store.reader, () => true);
  assert.deepEqual([left.state, left.holder, left.attempts], [1, "", 0], "it is left to others, and does not count");
  await replace(0);
  const running = await scanRow(store.reader, ({ state }) => state === 2);
  assert.deepEqual([running.attempts, adapter.asked.length], [1, 2]);
  await replace(0);
  release();
  // The hold of the killed server ends first.
  const done = await scanRow(store.reader, ({ state }) => state === 3);
  assert.deepEqual([done.attempts, done.uid, adapter.asked.length], [2, running.uid, 3]);
});

test("a scan whose process is gone is taken over when its hold has ended, and fails after too many", async (t) => {
  const adapter = await adapterOf(t);
  const platform = await startPlatform({ ...PRIVATE, MOORAGE_SCAN_RETRY: "1s" });
  t.after(() => platform.close());
  const { repo, place } = await scanPlace(platform, "app");
  const digest = await pushLayers(place, "v1", [LAYER]);
  const scanner = await addScanner(platform, platform.organization, adapter.url);
  const held = async (attempts: number): Promise<string> => {
    const uid = await addScan(platform, repo, scanner, digest);
    const hold = { state: 2, holder: "gone", hold_until: platform.clock.nowMs() + 30_000, attempts };
    await platform.transact((tx) => tx.updateTable("scans").set(hold).where("uid", "=", uid).execute());
    return uid;
  };
  const uid = await held(1);
  const [other] = await requestScans(platform, repo, await pushLayers(place, "v2", [LAYER, LAYER]));
  await whenScan(platform, other?.uid ?? "", "DONE");
  assert.equal((await platform.ok("GET", `/vulnerabilities/v2/scans/${uid}`))["attempts"], 1, "it is still held");
  platform.clock.offsetMs += 31_000;
  assert.equal((await whenScan(platform, uid, "DONE"))["attempts"], 2);
  await platform.transact((tx) => tx.deleteFrom("scans").execute());
  const tooOften = await held(2);
  platform.clock.offsetMs += 31_000;
  const failed = await whenScan(platform, tooOften, "FAILED");
  assert.match(String(failed["reason"]), /the server ended each time/);
});

test("scans go with their image, their scanner and their repo", async (t) => {
  const platform = await startPlatform({ MOORAGE_SCANS: "0" });
  t.after(() => platform.close());
  const { repo, place } = await scanPlace(platform, "app");
  const other = await scanPlace(platform, "other");
  const [one, two] = [
    await addScanner(platform, platform.organization),
    await addScanner(platform, platform.organization),
  ];
  const digests = [await pushLayers(place, "v1", [LAYER]), await pushLayers(place, "v2", [LAYER, LAYER])];
  const elsewhere = await pushLayers(other.place, "v1", [LAYER]);
  for (const digest of digests) for (const scanner of [one, two]) await addScan(platform, repo, scanner, digest);
  await addScan(platform, other.repo, one, elsewhere);
  const remove = async (): Promise<number> => {
    const review = (tx: Database) => reviewScans.run(openCall(systemCall(Date.now()), tx), { after: "" }, undefined);
    return (await platform.transact(review)).removed;
  };
  const left = async (): Promise<number[]> => [
    (await platform.reader.selectFrom("scans").select("uid").execute()).length,
    (await platform.reader.selectFrom("scan_reports").select("scan").execute()).length,
  ];
  assert.equal(await remove(), 0);
  await deleteReference(place, digests[0] ?? "");
  assert.equal(await remove(), 2);
  await platform.ok("DELETE", `/vulnerabilities/v2/scanners/${two}`);
  assert.equal(await remove(), 1);
  assert.deepEqual(await left(), [2, 2]);
  await platform.ok("DELETE", `/registry/v2/repos/${other.repo}`);
  assert.deepEqual(await left(), [1, 1]);
});
