import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { startFeedServer } from "../support/feed-server.ts";
import { startInstallation } from "../support/installation.ts";
import { type Platform, startPlatform } from "../support/platform.ts";

const FEEDS = "/operations/v2/feeds";
const KEV = JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-1", dateAdded: "2026-01-01" }] });

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_FEEDS_MIRROR: "https://mirror.example/feeds" });
});
after(() => platform.close());

interface Feed {
  name: string;
  address: string;
  licence: string;
  interval: string;
  records: string;
  products: string[];
  requestTime?: string;
  deleteTime?: string;
  dueTime?: string;
  successTime?: string;
}

const listed = async (name: string): Promise<Feed | undefined> =>
  (await platform.ok<{ feeds: Feed[] }>("GET", FEEDS)).feeds.find((feed) => feed.name === name);
const asOwner = async (verb: string, path: string, body?: unknown) =>
  platform.call(verb, path, { token: await platform.token(), ...(body !== undefined && { body }) });
type Violation = { field?: string; type?: string; description: string };
const violation = ({ body }: Awaited<ReturnType<typeof asOwner>>): Violation | undefined =>
  body.details.flatMap((each) => [...(each.violations ?? []), ...(each.fieldViolations ?? [])])[0];

test("a preset is added by its name, after its address, interval and license were accepted", async () => {
  const refused = await asOwner("POST", `${FEEDS}?preset=osv-npm`, {});
  assert.equal(refused.status, 400, refused.text);
  assert.equal(
    violation(refused)?.description,
    'osv-npm would be fetched from https://mirror.example/feeds/npm/all.zip every 21600s, under the license "CC-BY-4.0 (GitHub), Apache-2.0 (OpenSSF)": set accept_licence if that is wanted',
  );
  assert.equal(await listed("osv-npm"), undefined);
  const dry = await platform.ok<Feed>("POST", `${FEEDS}?preset=osv-npm&acceptLicence=true&validateOnly=true`, {});
  assert.equal(dry.address, "https://mirror.example/feeds/npm/all.zip");
  assert.equal(await listed("osv-npm"), undefined);
  const added = await platform.ok<Feed>("POST", `${FEEDS}?preset=osv-npm&acceptLicence=true`, { interval: "86400s" });
  assert.deepEqual(
    [added.name, added.interval, added.licence],
    ["osv-npm", "86400s", "CC-BY-4.0 (GitHub), Apache-2.0 (OpenSSF)"],
  );
  // Nothing has fetched it yet, and the next look at the feeds does.
  assert.ok(Date.parse(added.dueTime ?? "") <= platform.clock.nowMs());
  assert.equal((await asOwner("POST", `${FEEDS}?preset=osv-npm&acceptLicence=true`, {})).status, 409);
  const { presets } = await platform.ok<{ presets: { name: string; isAdded: boolean }[] }>(
    "GET",
    "/operations/v2/feedPresets",
  );
  assert.equal(presets.find(({ name }) => name === "osv-npm")?.isAdded, true);
});

test("what is wrong with a feed is said by its field, and nothing is added", async () => {
  const right = { name: "own", format: "osv", licence: "CC-BY-4.0", address: "https://a.example/all.zip" };
  for (const [wrong, field] of [
    [{ name: "a/b" }, "name"],
    [{ name: "" }, "name"],
    [{ format: "nothing" }, "format"],
    [{ licence: "" }, "licence"],
    [{ licence: "CC-BY-ND-4.0" }, "licence"],
    [{ interval: "59s" }, "interval"],
    [{ products: ["pkg:oci/app"] }, "products"],
  ] as const) {
    const answer = await asOwner("POST", `${FEEDS}?acceptLicence=true`, { ...right, ...wrong });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(violation(answer)?.field, field, answer.text);
  }
  assert.equal(violation(await asOwner("POST", `${FEEDS}?preset=none&acceptLicence=true`, {}))?.field, "preset");
  assert.equal(
    violation(await asOwner("POST", `${FEEDS}?preset=kev&acceptLicence=true`, { name: "mine" }))?.field,
    "name",
  );
  assert.equal(await listed("own"), undefined);
});

test("feeds are not fetched from addresses that are not public, nor by other schemes", async (t) => {
  const closed = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "false" });
  t.after(() => closed.close());
  const token = await closed.token();
  for (const address of [
    "http://a.example/all.zip",
    "https://127.0.0.1/all.zip",
    "https://[::1]/all.zip",
    "https://10.0.0.1/all.zip",
    "https://169.254.169.254/latest/meta-data",
    "https://2130706433/all.zip",
    "file:///etc/passwd",
    "https://user:secret@a.example/all.zip",
  ]) {
    const body = { name: "own", format: "osv", licence: "MIT", address };
    const answer = await closed.call("POST", `${FEEDS}?acceptLicence=true`, { token, body });
    assert.equal(answer.status, 400, address);
    assert.equal(violation(answer)?.field, "address", answer.text);
  }
  const imported = { name: "own", format: "osv", licence: "MIT" };
  assert.equal((await closed.call("POST", FEEDS, { token, body: imported })).status, 200);
  const patch = { address: "https://192.168.0.1/all.zip" };
  const moved = await closed.call("PATCH", `${FEEDS}/own?acceptLicence=true`, { token, body: patch });
  assert.equal(violation(moved)?.field, "address", moved.text);
});

test("a feed is changed by its mask; another address or license is accepted anew, and fetches all of it now", async () => {
  const address = "https://a.example/all.zip";
  await platform.ok("POST", `${FEEDS}?acceptLicence=true`, {
    name: "changed",
    format: "osv",
    licence: "MIT",
    address,
    interval: "3600s",
  });
  await platform.transact((tx) =>
    tx
      .updateTable("feeds")
      .set({ etag: "x", newest: 1, full_time: 1, attempt_time: platform.clock.nowMs(), run: "under way" })
      .where("name", "=", "changed")
      .execute(),
  );
  const row = () =>
    platform.reader.selectFrom("feeds").selectAll().where("name", "=", "changed").executeTakeFirstOrThrow();
  const slower = await platform.ok<Feed>("PATCH", `${FEEDS}/changed`, { interval: "7200s" });
  assert.deepEqual([slower.interval, slower.address], ["7200s", address]);
  assert.deepEqual([(await row()).etag, (await row()).run], ["x", "under way"]);
  for (const change of [{ address: "https://b.example/all.zip" }, { licence: "CC0-1.0" }]) {
    const refused = await asOwner("PATCH", `${FEEDS}/changed`, change);
    assert.equal(violation(refused)?.type, "LICENCE_NOT_ACCEPTED", refused.text);
  }
  for (const fixed of ["name", "format", "records"])
    assert.equal((await asOwner("PATCH", `${FEEDS}/changed?updateMask=${fixed}`, {})).status, 400, fixed);
  const moved = await platform.ok<Feed>("PATCH", `${FEEDS}/changed?acceptLicence=true`, {
    address: "https://b.example/all.zip",
  });
  assert.ok(Date.parse(moved.dueTime ?? "") <= platform.clock.nowMs());
  const { etag, newest, full_time, run } = await row();
  assert.deepEqual([etag, newest, full_time], ["", null, null]);
  assert.notEqual(run, "under way", "the import from the old address writes nothing more");
  const imported = await platform.ok<Feed>("PATCH", `${FEEDS}/changed?updateMask=address`, {});
  assert.deepEqual([imported.address, imported.dueTime], ["", undefined]);
  const without = await asOwner("POST", `${FEEDS}/changed:refresh`);
  assert.equal(violation(without)?.type, "FEED_WITHOUT_ADDRESS", without.text);
});

test("the feeds of a file are fetched on request, and changed and removed in the file alone", async () => {
  await platform.ok("POST", `${FEEDS}?acceptLicence=true`, {
    name: "filed",
    format: "osv",
    licence: "MIT",
    address: "https://a.example/all.zip",
  });
  await platform.transact((tx) =>
    tx.updateTable("feeds").set({ origin: "file" }).where("name", "=", "filed").execute(),
  );
  for (const [verb, path] of [
    ["PATCH", `${FEEDS}/filed`],
    ["DELETE", `${FEEDS}/filed`],
  ] as const) {
    const answer = await asOwner(verb, path, verb === "PATCH" ? { interval: "7200s" } : undefined);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.message, /of MOORAGE_FEEDS_FILE/);
  }
  assert.ok((await platform.ok<Feed>("POST", `${FEEDS}/filed:refresh`)).requestTime);
});

test("only operators with the capability change feeds, and the audit log says who did", async () => {
  const { organization } = platform;
  const body = { name: "rights", format: "osv", licence: "MIT" };
  const role = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
    name: "feeder",
    capabilities: ["operations.list", "operations.feeds.update"],
  });
  const feeder = await platform.identity(organization);
  await platform.bind(organization, feeder, role.uid);
  const group = await platform.group(organization);
  for (const identity of [
    await platform.identity(organization, "editor"),
    await platform.identity(group.uid, "owner"),
    await platform.identity(platform.bootstrap.publicOrganization.uid, "owner"),
  ]) {
    const token = await platform.token(identity);
    const answer = await platform.call("POST", FEEDS, { token, body });
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, /CAP_OPERATIONS_FEEDS_UPDATE/);
  }
  const token = await platform.token(feeder);
  // One whose removal nobody has been woken for: that of the next one may be over when it is asked about.
  const leaving = { ...body, name: "leaving" };
  await platform.ok("POST", FEEDS, leaving);
  await platform.transact(async (tx) => {
    await tx
      .updateTable("feeds")
      .set({ delete_time: platform.clock.nowMs() })
      .where("name", "=", leaving.name)
      .execute();
  });
  const again = await asOwner("POST", FEEDS, leaving);
  assert.match(again.body.message, /is being removed/);
  assert.equal((await platform.call("POST", FEEDS, { token, body })).status, 200);
  const deleted = await platform.call("DELETE", `${FEEDS}/rights`, { token });
  assert.ok(deleted.body["deleteTime"], deleted.text);
  assert.equal((await platform.call("DELETE", `${FEEDS}/none`, { token })).status, 404);

  const { auditEntries } = await platform.ok<{ auditEntries: Record<string, unknown>[] }>(
    "GET",
    `/iam/v2/auditEntries?uidp.descendants_of=${organization}&identity=${feeder}`,
  );
  assert.deepEqual(
    auditEntries
      .filter(({ decision }) => decision === "AUDIT_DECISION_ALLOWED")
      .map(({ method, details }) => [method, (details as { name?: string }).name])
      .toSorted(),
    [
      ["moorage.operations.v2.OperationsService.CreateFeed", "rights"],
      ["moorage.operations.v2.OperationsService.DeleteFeed", "rights"],
    ],
  );
});

test("the server fetches what was added, fetches it again on request, and removes it with its records", async (t) => {
  const source = await startFeedServer(t);
  source.pages.set("/kev.json", { content: KEV });
  const server = await startInstallation(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const call = async <T>(verb: string, path: string, body?: unknown): Promise<T> => {
    const answer = await server.ask(verb, path, { token: server.platform, ...(body !== undefined && { json: body }) });
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text) as T;
  };
  const feed = async (): Promise<Feed | undefined> => (await call<{ feeds: Feed[] }>("GET", FEEDS)).feeds[0];
  const until = async (done: (feed: Feed | undefined) => boolean): Promise<void> => {
    await eventually(async () => done(await feed()), { everyMs: 200, instead: feed });
  };
  const body = {
    name: "kev",
    format: "kev",
    licence: "CC0-1.0",
    address: `${source.url}/kev.json`,
    interval: "86400s",
  };
  await call("POST", `${FEEDS}?acceptLicence=true`, body);
  await until((each) => each?.records === "1");
  assert.equal(source.asked.length, 1);
  await call("POST", `${FEEDS}/kev:refresh`);
  await eventually(() => source.asked.length >= 2);
  await until((each) => (each?.successTime ?? "") > (each?.requestTime ?? ""));
  const removed = await call<Feed>("DELETE", `${FEEDS}/kev`);
  assert.deepEqual([removed.records, removed.dueTime], ["1", undefined]);
  await until((each) => each === undefined);
  assert.equal(source.asked.length, 2);
});
