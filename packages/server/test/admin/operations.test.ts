import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlatform } from "../support/platform.ts";

const PATHS = ["jobs", "feeds", "feedProblems", "feedPresets", "garbage", "installation"].map(
  (name) => `/operations/v2/${name}`,
);

test("operators see jobs, feeds and the installation, and nobody else does", async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const { organization, bootstrap } = platform;
  const nowMs = platform.clock.nowMs();
  const leases = {
    idle: { holder: "", hold_until: nowMs + 60_000 },
    busy: { holder: "b", hold_until: nowMs + 60_000 },
  };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("job_leases")
      .values(Object.entries(leases).map(([name, lease]) => ({ work: `test-${name}`, ...lease })))
      .execute();
  });
  const { jobs } = await platform.ok<{ jobs: Record<string, string>[] }>("GET", "/operations/v2/jobs");
  const [busy, idle] = ["busy", "idle"].map((name) => jobs.find((job) => job["name"] === `test-${name}`));
  assert.deepEqual([busy?.["holder"], busy?.["dueTime"] ?? null, idle?.["leaseUntilTime"] ?? null], ["b", null, null]);
  assert.ok(busy?.["leaseUntilTime"] !== undefined && idle?.["dueTime"] !== undefined);
  assert.deepEqual((await platform.ok("GET", "/operations/v2/feeds"))["feeds"], []);

  const { uid: repo } = await platform.repo(organization);
  await platform.tag(repo);
  const found = await platform.ok("GET", "/operations/v2/installation");
  assert.match(String(found["version"]), /^\d+\.\d+\.\d+/);
  assert.ok(["sqlite", "postgres"].includes(String(found["engine"])));
  assert.deepEqual(
    [found["blobStore"], found["organizations"], found["repos"], found["tags"]],
    ["files", "2", "1", "1"],
  );
  // The blobs are in the data folder, whichever database it is.
  const { totalBytes, freeBytes, readTime } = found["disk"] as Record<string, string>;
  assert.ok(Number(totalBytes) > 0 && Number(freeBytes) <= Number(totalBytes), `${freeBytes} of ${totalBytes}`);
  assert.ok(Date.parse(readTime ?? "") >= nowMs);

  const elsewhere = bootstrap.publicOrganization.uid;
  const { uid: group } = await platform.group(organization);
  for (const identity of [
    await platform.identity(organization, "viewer"),
    await platform.identity(organization, "auditor"),
    await platform.identity(elsewhere, "owner"),
    await platform.identity(group, "owner"),
  ])
    for (const path of PATHS) {
      const { status } = await platform.call("GET", path, { token: await platform.token(identity) });
      assert.equal(status, 403, path);
    }
  const role = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
    name: "operator",
    capabilities: ["CAP_OPERATIONS_LIST"],
  });
  const operator = await platform.identity(organization);
  await platform.bind(organization, operator, role.uid);
  for (const path of PATHS)
    assert.equal((await platform.call("GET", path, { token: await platform.token(operator) })).status, 200, path);
});

test("a feed says how often it is fetched, when it is next, and when it is older than it should be", async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const nowMs = platform.clock.nowMs();
  const hourMs = 3_600_000;
  const feeds = {
    fresh: { address: "https://a.example/x", interval_ms: 6 * hourMs, success_time: nowMs - 6 * hourMs },
    failing: { address: "https://a.example/x", interval_ms: 6 * hourMs, success_time: nowMs - 8 * hourMs, error: "x" },
    asked: { address: "https://a.example/x", interval_ms: 48 * hourMs, request_time: nowMs + 1 },
    never: { address: "https://a.example/x", interval_ms: hourMs, attempt_time: null, create_time: nowMs - 3 * hourMs },
    imported: { address: "", interval_ms: 6 * hourMs, success_time: nowMs - 6 * 24 * hourMs },
    old: { address: "", interval_ms: 6 * hourMs, success_time: nowMs - 8 * 24 * hourMs },
  };
  await platform.transact(async (tx) => {
    for (const [name, more] of Object.entries(feeds))
      await tx
        .insertInto("feeds")
        .values({ ...FEED, name, attempt_time: nowMs, create_time: nowMs, ...more })
        .execute();
  });
  const answer = await platform.ok<{ feeds: Record<string, unknown>[] }>("GET", "/operations/v2/feeds");
  assert.deepEqual(
    answer.feeds.map((feed) => [feed["name"], feed["interval"], feed["isOverdue"] ?? false]),
    [
      ["asked", "172800s", false],
      ["failing", "21600s", true],
      ["fresh", "21600s", false],
      ["imported", "21600s", false],
      ["never", "3600s", true],
      ["old", "21600s", true],
    ],
  );
  const dueMs = answer.feeds.map(({ dueTime }) => (typeof dueTime === "string" ? Date.parse(dueTime) - nowMs : null));
  // The one that failed is tried again sooner, and the one that never was is due since it was added.
  assert.deepEqual(dueMs, [1, 900_000, 6 * hourMs, null, -3 * hourMs, null]);
});

test("a feed says what it covers, and what of it is not read or matches nothing is listed", async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const coverage = JSON.stringify([
    { space: "debian:12", records: 3, isMatched: true },
    { space: "Unheard Of", records: 1, isMatched: false },
  ]);
  const problem = { n: 0, record: "A-1", position: "A-1.json", message: "id: is missing" };
  await platform.transact(async (tx) => {
    for (const more of [
      { name: "kev", format: "kev" },
      { name: "osv", coverage, unmatched: 2, problems: 1 },
    ])
      await tx
        .insertInto("feeds")
        .values({ ...FEED, create_time: 1, ...more })
        .execute();
    await tx
      .insertInto("feed_problems")
      .values([
        { ...problem, feed: "osv", kind: "UNREADABLE" },
        { ...problem, feed: "osv", n: 1, kind: "UNMATCHED" },
        { ...problem, feed: "kev", kind: "UNREADABLE" },
      ])
      .execute();
  });
  const { feeds } = await platform.ok<{ feeds: Record<string, unknown>[] }>("GET", "/operations/v2/feeds");
  assert.deepEqual(
    feeds.map((feed) => [feed["name"], feed["coverageKnown"] ?? false, feed["unmatched"], feed["coverage"]]),
    [
      ["kev", false, "0", []],
      [
        "osv",
        true,
        "2",
        [
          { space: "debian:12", records: "3", isMatched: true, isCovered: true },
          { space: "Unheard Of", records: "1", isMatched: false, isCovered: false },
        ],
      ],
    ],
  );
  type Problems = { problems: Record<string, unknown>[] };
  const kinds = async (query: string) =>
    (await platform.ok<Problems>("GET", `/operations/v2/feedProblems${query}`)).problems.map((each) => [
      each["feed"],
      each["kind"],
      each["message"],
    ]);
  const unreadable = ["KIND_UNREADABLE", "id: is missing"];
  assert.deepEqual(await kinds("?feed=kev"), [["kev", ...unreadable]]);
  assert.deepEqual(await kinds(""), [
    ["kev", ...unreadable],
    ["osv", ...unreadable],
    ["osv", "KIND_UNMATCHED", "id: is missing"],
  ]);
  const token = await platform.token();
  assert.equal((await platform.call("GET", "/operations/v2/feedProblems?feed=none", { token })).status, 404);
  const { presets } = await platform.ok<{ presets: Record<string, unknown>[] }>("GET", "/operations/v2/feedPresets");
  const kev = presets.find(({ name }) => name === "kev");
  assert.deepEqual([kev?.["isAdded"], kev?.["interval"], kev?.["licence"]], [true, "43200s", "CC0-1.0"]);
  assert.equal(presets.find(({ name }) => name === "debian")?.["isAdded"] ?? false, false);
});

const FEED = {
  format: "osv",
  licence: "CC0-1.0",
  products: "[]",
  address: "",
  interval_ms: 3_600_000,
  origin: "command",
  run: "",
  etag: "",
  last_modified: "",
  records: 0,
  withdrawn: 0,
  problems: 0,
  error: "",
  restate: "",
};
