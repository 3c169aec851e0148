// Edges: a Moorage that follows another one by its API, with the times of its moves, and reports pulls back.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sendJson, sendStatus } from "../../../server/test/support/fake-source.ts";
import { startFollower } from "../../../server/test/support/follower.ts";
import { digestOf, OCI_IMAGE, startInstallation } from "../../../server/test/support/installation.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

interface Move {
  time: string;
  digest: string;
  reason: string;
  source?: string;
}

interface EdgeState {
  state: string;
  message: string;
  way?: string;
  apiProblem: string;
  lastComparisonTime?: string;
  reportedTime?: string;
  reportProblem: string;
  pendingReports: string;
  unnotedReports: string;
  missingRepositories: string;
  heldDeletions: string;
  tags: string;
}

async function startEdge(t: TestContext, follow: object = {}) {
  const center = await startInstallation(t);
  const front = await startFront(t, center.url);
  const follower = await startFollower(t);
  const { here } = follower;
  const repoUid = async (at: typeof center, name: string): Promise<string> =>
    (await at.api("GET", `/registry/v2/repos?name=${name}`)).repos[0]?.uid ?? "";
  return {
    center,
    front,
    ...follower,
    edge: async (password = center.platform) =>
      await follower.follow({ registry: front.url, prefix: "acme", username: "robot", password, follow }),
    ended: (uid: string) => follower.ended(uid) as unknown as Promise<EdgeState>,
    again: (uid: string, force = false) => follower.again(uid, force) as unknown as Promise<EdgeState>,
    repoUid,
    moves: async (at: typeof center, name: string, tag: string): Promise<Move[]> =>
      (
        await at.api<{ moves: Move[] }>("GET", `/registry/v2/repos/${await repoUid(at, name)}/tags/${tag}/moves`)
      ).moves.toReversed(),
    pull: async (name: string, reference: string) =>
      await here.ask("GET", `/v2/acme/edge/${name}/manifests/${reference}`, { token: here.registry }),
    /** The paths that were asked for, without queries, since the last call. */
    asked: () => front.seen.splice(0).map(({ method, path }) => `${method} ${path.split("?")[0]}`),
  };
}

test("a Moorage is followed by its API, and only what changed is asked for", async (t) => {
  const { center, edge, ended, again, tags, asked, pull } = await startEdge(t);
  for (const name of ["app", "tools/deep/x"]) await center.pushImage(`acme/${name}`, "1", name);
  await center.pushImage("acme/app", "2", "two");
  const uid = await edge();
  const first = await ended(uid);
  assert.deepEqual(
    [first.state, first.way, first.apiProblem, first.tags],
    ["SYNC_STATE_SUCCEEDED", "FOLLOW_WAY_API", "", "3"],
    first.message,
  );
  assert.ok(first.lastComparisonTime !== undefined);
  assert.deepEqual([await tags("app"), await tags("tools/deep/x")], [["1", "2"], ["1"]]);
  const before = asked();
  assert.deepEqual(
    before.filter((path) => path.includes("_catalog") || path.startsWith("HEAD ")),
    [],
    "no catalog, and no HEAD per tag",
  );

  const moved = await center.pushImage("acme/app", "1", "moved");
  const second = await again(uid);
  assert.deepEqual(
    [second.state, second.lastComparisonTime],
    ["SYNC_STATE_SUCCEEDED", first.lastComparisonTime],
    second.message,
  );
  assert.equal((await pull("app", "1")).headers.get("docker-content-digest"), moved.digest);
  // Tags that moved within the hour are looked at again, with what is attached to them.
  const known = asked();
  assert.deepEqual(known.filter((path) => path.startsWith("GET /registry/v2/tags")).length, 3, known.join("\n"));
  const forced = await again(uid, true);
  assert.notEqual(forced.lastComparisonTime, first.lastComparisonTime, "a forced turn compares all");
});

test("the history of tags comes with the times of the center, so that tags are pulled as of a second", async (t) => {
  const { center, edge, ended, again, moves, pull, here } = await startEdge(t, { history: true });
  const digests: string[] = [];
  for (const content of ["one", "two", "three"])
    digests.push((await center.pushImage("acme/app", "1", content)).digest);
  const uid = await edge();
  assert.equal((await ended(uid)).state, "SYNC_STATE_SUCCEEDED");
  const there = await moves(center, "app", "1");
  const first = await moves(here, "app", "1");
  const timed = (list: Move[]) => list.map(({ time, digest }) => [time, digest]);
  assert.deepEqual(timed(first), timed(there));
  assert.deepEqual(
    first.map(({ reason }) => reason),
    ["import", "import", "mirror"],
  );
  assert.match(first[0]?.source ?? "", /^http:\/\/127\.0\.0\.1/);

  // Away and back: the digest is the one that was here.
  await center.pushImage("acme/app", "1", "away");
  await center.pushImage("acme/app", "1", "three");
  assert.equal((await again(uid)).state, "SYNC_STATE_SUCCEEDED");
  const later = await moves(center, "app", "1");
  assert.deepEqual(timed(await moves(here, "app", "1")), timed(later));
  await center.close();
  for (const { digest } of later) assert.equal((await pull("app", digest)).status, 200, "all of it is here");
  const second = new Date(Date.parse(there[0]?.time ?? "")).toISOString();
  const { history } = (
    await here.ask("GET", `/v2/acme/edge/app/_service/history/1?end=${second}`, { token: here.registry })
  ).json;
  assert.deepEqual(
    history.map(({ digest }) => digest),
    digests.slice(0, 1),
  );
});

test("deletions at the center are seen by exact, with the history of what was deleted", async (t) => {
  const { center, edge, ended, again, tags, repoUid } = await startEdge(t, { exact: true });
  for (let at = 0; at < 30; at += 1) await center.pushImage("acme/app", `v${at}`, "content");
  const uid = await edge();
  assert.equal((await ended(uid)).state, "SYNC_STATE_SUCCEEDED");
  const remove = async (tag: string) => {
    const repo = await repoUid(center, "app");
    const found = await center.api<{ tags: { uid: string }[] }>(
      "GET",
      `/registry/v2/tags?uidp.childrenOf=${repo}&name=${tag}`,
    );
    await center.api("DELETE", `/registry/v2/tags/${found.tags[0]?.uid}`);
  };
  await remove("v1");
  const few = await again(uid);
  assert.deepEqual(
    [few.state, few.way, (await tags("app")).length],
    ["SYNC_STATE_SUCCEEDED", "FOLLOW_WAY_API", 29],
    few.message,
  );
  for (const tag of ["v2", "v3", "v4"]) await remove(tag);
  const many = await again(uid);
  assert.deepEqual(
    [many.state, many.heldDeletions, (await tags("app")).length],
    ["SYNC_STATE_FAILED", "3", 29],
    many.message,
  );
  assert.equal((await again(uid, true)).state, "SYNC_STATE_SUCCEEDED");
  assert.equal((await tags("app")).length, 26);
});

test("without a right to the API the catalog is read, and the upstream says so", async (t) => {
  const { center, edge, front, ended, again, tags, pull } = await startEdge(t);
  await center.pushImage("acme/app", "1", "one");
  front.intercept = (req, res) => /^\/(registry|iam)\//.test(req.url ?? "") && sendStatus(res, 403);
  const uid = await edge();
  const denied = await ended(uid);
  assert.deepEqual([denied.state, denied.way], ["SYNC_STATE_SUCCEEDED", "FOLLOW_WAY_CATALOG"], denied.message);
  assert.equal(denied.apiProblem, "the credential has no right to its API (403)");
  assert.match(denied.message, /it is a Moorage, and was not read by its API alone: the credential has no right/);
  assert.deepEqual(await tags("app"), ["1"]);
  assert.equal((await pull("app", "1")).status, 200);
  await eventually(async () => (await again(uid)).pendingReports === "1");

  // The tags alone are hidden: that is no repo without tags.
  front.intercept = (req, res) =>
    (req.url ?? "").startsWith("/registry/v2/tags") && sendJson(res, { tags: [], totalCount: "0" });
  const hidden = await again(uid);
  assert.match(hidden.apiProblem, /1 repo with tags that it does not list to us \(CAP_TAG_LIST\): acme\/app/);
  assert.deepEqual([hidden.state, await tags("app")], ["SYNC_STATE_SUCCEEDED", ["1"]], hidden.message);
  front.intercept = () => false;
  const whole = await again(uid);
  assert.deepEqual(
    [whole.way, whole.apiProblem, whole.reportProblem, whole.pendingReports],
    ["FOLLOW_WAY_API", "", "", "0"],
    whole.message,
  );
});

test("pulls at the edge are reported, kept while the center is away, and keep what they pulled there", async (t) => {
  const { center, edge, front, ended, again, pull, repoUid } = await startEdge(t);
  const { digest } = await center.pushImage("acme/app", "1", "one");
  const uid = await edge();
  await ended(uid);
  assert.equal((await pull("app", "1")).status, 200);
  front.intercept = (_req, res) => sendStatus(res, 503);
  const away = await eventually(async () => {
    const state = await again(uid);
    return state.pendingReports === "1" && state;
  });
  assert.deepEqual([away.state, away.reportProblem], ["SYNC_STATE_FAILED", "the registry does not answer"]);
  front.intercept = (req, res) => (req.url ?? "").startsWith("/registry/v2/usage:report") && sendStatus(res, 403);
  const denied = await again(uid);
  assert.deepEqual([denied.state, denied.pendingReports], ["SYNC_STATE_SUCCEEDED", "1"], denied.message);
  assert.match(
    denied.message,
    /pulls were not reported: the credential may not report usage there \(CAP_USAGE_REPORT\)/,
  );
  front.intercept = () => false;
  const reported = await again(uid);
  assert.deepEqual(
    [reported.reportProblem, reported.pendingReports, reported.unnotedReports],
    ["", "0", "0"],
    reported.message,
  );
  assert.ok(reported.reportedTime !== undefined);
  const repo = await repoUid(center, "app");
  const found = await center.api<{ tags: { uid: string }[] }>("GET", `/registry/v2/tags?uidp.childrenOf=${repo}`);
  const kept = await center.ask("DELETE", `/registry/v2/tags/${found.tags[0]?.uid}?unlessPulledWithin=86400s`, {
    token: center.platform,
  });
  assert.deepEqual([kept.status, kept.text.includes("edge:")], [400, true], kept.text);
  assert.ok(digest.startsWith("sha256:"));
});

test("a center that lies, goes on for ever or names what is not its own harms nothing", async (t) => {
  const { center, edge, front, ended, again, tags, moves, here } = await startEdge(t, { exact: true });
  const { digest } = await center.pushImage("acme/app", "1", "one");
  const uid = await edge();
  assert.equal((await ended(uid)).state, "SYNC_STATE_SUCCEEDED");
  const lying = (path: string, body: (url: URL) => object) => {
    front.intercept = (req, res) => {
      const url = new URL(req.url ?? "", front.url);
      return url.pathname.startsWith(path) && sendJson(res, body(url));
    };
  };
  let page = 0;
  const cases: [path: string, body: (url: URL) => object, problem: RegExp][] = [
    ["/registry/v2/repos", () => ({ repos: [], nextPageToken: `t${(page += 1)}` }), /leads on, and brings nothing new/],
    ["/registry/v2/repos", () => ({ repos: "all" }), /answers without a list of repos/],
    ["/registry/v2/repos", () => ({ repos: [{ uid: "../..", name: "app" }] }), /have no uid, or no name/],
    ["/registry/v2/repos", () => ({ repos: [{ uid: "a".repeat(40), name: "../x" }] }), /have no uid, or no name/],
    [
      "/registry/v2/repos",
      () => ({ repos: [{ uid: `${"a".repeat(40)}/${"b".repeat(16)}`, name: "x" }] }),
      /1 of its repos are in groups that we may not list/,
    ],
  ];
  for (const [path, body, problem] of cases) {
    lying(path, body);
    const state = await again(uid);
    assert.deepEqual([state.state, state.way], ["SYNC_STATE_SUCCEEDED", "FOLLOW_WAY_CATALOG"], state.message);
    assert.match(state.apiProblem, problem);
    assert.deepEqual(await tags("app"), ["1"]);
  }
  // A list that hides a tag which the registry has, and one of another digest than the registry's.
  lying("/registry/v2/tags", () => ({ tags: [{ uid: "x", name: "2", digest: `sha256:${"0".repeat(64)}` }] }));
  const hidden = await again(uid, true);
  assert.equal(hidden.state, "SYNC_STATE_FAILED");
  assert.deepEqual(await tags("app"), ["1"], hidden.message);
  lying("/registry/v2/tags", () => ({
    tags: [{ name: "1", digest: `sha256:${"0".repeat(64)}`, updateTime: "2026-01-01T00:00:00Z" }],
  }));
  const other = await again(uid, true);
  assert.deepEqual([other.state, await tags("app")], ["SYNC_STATE_SUCCEEDED", ["1"]], other.message);
  // Moves in the future, and some that are none.
  const moved = await center.pushImage("acme/app", "1", "moved");
  front.intercept = (req, res) =>
    (req.url ?? "").includes("/moves?") &&
    sendJson(res, {
      moves: [
        { time: "2999-01-01T00:00:00Z", digest: moved.digest },
        { time: "never", digest },
        { time: "2026-01-01T00:00:00Z", digest: "sha256:short" },
      ],
    });
  const future = await again(uid);
  assert.equal(future.state, "SYNC_STATE_FAILED");
  assert.match(
    future.message,
    /1 tag with moves that were left out, since they are in the future or lead to no digest: acme\/app:1 \(3\)/,
  );
  const last = (await moves(here, "app", "1")).at(-1);
  assert.equal(last?.digest, moved.digest);
  assert.ok(Date.parse(last?.time ?? "") <= Date.now());
});

test("who only pulls at the center reads its API and its history, and may not report", async (t) => {
  const { center, edge, here, ended, again, moves, pull } = await startEdge(t);
  for (const content of ["one", "two"]) await center.pushImage("acme/app", "1", content);
  const { identity } = await center.addIdentity(center.bootstrap.organization.uid, "edge", "registry.pull");
  const uid = await edge(await center.tokenFor("platform", identity));
  const first = await ended(uid);
  assert.deepEqual([first.state, first.way], ["SYNC_STATE_SUCCEEDED", "FOLLOW_WAY_API"], first.message);
  assert.equal((await moves(here, "app", "1")).length, 2);
  const [oldest] = await moves(here, "app", "1");
  assert.equal((await pull("app", oldest?.digest ?? "")).status, 200, "what is not here comes when it is pulled");
  const reported = await eventually(async () => {
    const state = await again(uid);
    return state.pendingReports !== "0" && state;
  });
  assert.match(reported.reportProblem, /^the credential may not report usage there \(CAP_USAGE_REPORT\)$/);
});

test("where pulls are not counted, an edge says that it does not know them", async (t) => {
  const center = await startInstallation(t);
  await center.pushImage("acme/app", "1", "one");
  const { follow, ended } = await startFollower(t, { MOORAGE_PULLS_RETENTION: "0" });
  const uid = await follow({
    registry: center.url,
    prefix: "acme",
    username: "robot",
    password: center.platform,
    follow: {},
  });
  const { state, message } = await ended(uid);
  assert.equal(state, "SYNC_STATE_SUCCEEDED", message);
  assert.match(message, /pulls were not reported: pulls are not counted here \(MOORAGE_PULLS_RETENTION\)/);
});

test("what the center says has not changed is not asked for, until rules or clocks change, or all is compared", async (t) => {
  const { center, front, here, edge, ended, again, tags, asked } = await startEdge(t);
  for (const name of ["app", "other"]) await center.pushImage(`acme/${name}`, "1", name);
  const uid = await edge();
  const first = await ended(uid);
  await here.api("PATCH", `/registry/v2/upstreams/${uid}?updateMask=denied`, { denied: ["acme/other"] });
  const denied = await again(uid);
  assert.deepEqual([denied.state, denied.tags], ["SYNC_STATE_SUCCEEDED", "2"], denied.message);
  assert.notEqual(denied.lastComparisonTime, first.lastComparisonTime, "after a change of rules all is compared");
  await center.pushImage("acme/app", "2", "two");
  front.intercept = (req, res) => (req.url ?? "").includes("updatedSince=") && sendJson(res, { tags: [] });
  asked();
  const quiet = await again(uid);
  assert.deepEqual([quiet.state, quiet.lastComparisonTime], ["SYNC_STATE_SUCCEEDED", denied.lastComparisonTime]);
  const paths = [...new Set(asked())].toSorted();
  assert.deepEqual(paths, [
    "GET /iam/v2/groups",
    "GET /ping/v2/ping",
    "GET /registry/v2/repos",
    "GET /registry/v2/tags",
  ]);
  assert.deepEqual(await tags("app"), ["1"]);

  // A clock that is far off says nothing of what moved since.
  front.replace = (_req, answer, res) => {
    res.writeHead(answer.statusCode ?? 0, { ...answer.headers, date: "Thu, 01 Jan 2026 00:00:00 GMT" });
    answer.pipe(res);
    return true;
  };
  assert.equal((await again(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.deepEqual(await tags("app"), ["1", "2"]);
  front.replace = () => false;
  await center.pushImage("acme/other", "2", "two");
  await here.api("PATCH", `/registry/v2/upstreams/${uid}?updateMask=denied`, { denied: [] });
  assert.equal((await again(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.deepEqual(await tags("other"), ["1", "2"], "what was denied comes with the next turn");
});

test("a signature that comes after its image comes, too", async (t) => {
  const { center, here, edge, ended, again } = await startEdge(t);
  const image = await center.pushImage("acme/app", "1", "one");
  const uid = await edge();
  assert.equal((await ended(uid)).state, "SYNC_STATE_SUCCEEDED");
  const content = "{}";
  const blob = {
    mediaType: "application/vnd.oci.empty.v1+json",
    digest: await center.pushBlob("acme/app", content),
    size: 2,
  };
  const signature = JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_IMAGE,
    artifactType: "application/vnd.example.signature",
    config: blob,
    layers: [blob],
    subject: { mediaType: OCI_IMAGE, digest: image.digest, size: image.size },
  });
  await center.pushManifest("acme/app", digestOf(signature), JSON.parse(signature));
  const { state, message, lastComparisonTime } = await again(uid);
  assert.deepEqual([state, lastComparisonTime !== undefined], ["SYNC_STATE_SUCCEEDED", true], message);
  const found = await here.ask("GET", `/v2/acme/edge/app/referrers/${image.digest}`, { token: here.registry });
  const { manifests } = JSON.parse(found.text) as { manifests: { digest: string }[] };
  assert.deepEqual(
    manifests.map(({ digest }) => digest),
    [digestOf(signature)],
  );
});

test("what a tag was at a second is the same at the edge, and a move said to be earlier waits for a comparison", async (t) => {
  const { center, edge, ended, again, pull, repoUid } = await startEdge(t);
  const first = await center.pushImage("acme/app", "a", "first");
  const second = await center.pushImage("acme/app", "b", "second");
  const repo = await repoUid(center, "app");
  const imports = async (...moves: { time: string; digest: string }[]) =>
    await center.api("POST", `/registry/v2/tags/${repo}:importMoves`, {
      source: "old.example.com",
      moves: moves.map((each) => ({ tag: "1", ...each })),
    });
  await imports(
    { time: "2026-01-01T00:00:00Z", digest: first.digest },
    { time: "2026-02-01T00:00:00Z", digest: "" },
    { time: "2026-03-01T00:00:00Z", digest: second.digest },
  );
  const uid = await edge();
  assert.equal((await ended(uid)).state, "SYNC_STATE_SUCCEEDED");
  const then = async (day: string) => {
    const { status, headers } = await pull("app", `1--at--${day}T000000Z`);
    return status === 200 ? headers.get("docker-content-digest") : status;
  };
  const days = ["20251231", "20260115", "20260215", "20260315"];
  const expected = [404, first.digest, 404, second.digest];
  assert.deepEqual(await Promise.all(days.map(then)), expected);

  await imports({ time: "2026-04-01T00:00:00Z", digest: first.digest });
  assert.equal((await again(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.equal((await again(uid, true)).state, "SYNC_STATE_SUCCEEDED");
  assert.deepEqual(await Promise.all([...days, "20260415"].map(then)), [...expected, first.digest]);
});

test("pushes, moves and imports at the edge are rejected, naming the center", async (t) => {
  const { center, edge, here, ended, front, repoUid } = await startEdge(t);
  const { digest } = await center.pushImage("acme/app", "1", "one");
  await ended(await edge());
  const push = await here.ask("POST", "/v2/acme/edge/app/blobs/uploads/", { token: here.registry });
  assert.deepEqual([push.status, push.text.includes(`acme/edge stands for ${front.host}`)], [403, true], push.text);
  const repo = await repoUid(here, "app");
  const moves = [{ tag: "2", digest, time: "2026-01-01T00:00:00Z" }];
  for (const [path, json] of [
    [`/registry/v2/tags/${repo}`, { name: "2", digest }],
    [`/registry/v2/tags/${repo}:importMoves`, { source: "old.example.com", moves }],
  ] as const) {
    const { status, text } = await here.ask("POST", path, { token: here.platform, json });
    assert.deepEqual([status, text.includes(`are those of ${front.host}`)], [400, true], text);
  }
});

test("a tag that is deleted at the edge is the center's still: the next turn or pull brings it back", async (t) => {
  const { center, edge, here, ended, again, repoUid, tags, pull } = await startEdge(t);
  for (const tag of ["1", "2"]) await center.pushImage("acme/app", tag, tag);
  const uid = await edge();
  assert.equal((await ended(uid)).state, "SYNC_STATE_SUCCEEDED");
  const repo = await repoUid(here, "app");
  const remove = async (tag: string): Promise<void> => {
    const path = `/v2/acme/edge/app/manifests/${tag}`;
    assert.equal((await here.ask("DELETE", path, { token: here.registry })).status, 202);
  };
  await remove("1");
  assert.deepEqual(await tags("app"), ["2"]);
  const turn = await again(uid);
  assert.deepEqual([turn.state, await tags("app")], ["SYNC_STATE_SUCCEEDED", ["1", "2"]], turn.message);
  await remove("2");
  assert.equal((await pull("app", "2")).status, 200);
  await here.api("DELETE", `/registry/v2/repos/${repo}`);
  const anew = await again(uid);
  assert.deepEqual([anew.state, await tags("app")], ["SYNC_STATE_SUCCEEDED", ["1", "2"]], anew.message);
});
