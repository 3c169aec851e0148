// Registries that are followed: what is copied without being pulled, and what is said where that does not succeed.
import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { sendJson, sendStatus } from "../../../server/test/support/fake-source.ts";
import { startFollower } from "../../../server/test/support/follower.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

const PATH = "/registry/v2/upstreams";

test("what matches comes without being pulled, follows each move, and says how far it is", async (t) => {
  const there = await startInstallation(t);
  const front = await startFront(t, there.url);
  for (const [name, tag] of [
    ["acme/app", "1"],
    ["acme/app", "2"],
    ["acme/app", "dev"],
    ["acme/tools/deep/x", "1"],
    ["acme/other", "1"],
  ] as const)
    await there.pushImage(name, tag, `${name}:${tag}`);
  const { here, follow, ended, again, tags, group } = await startFollower(t);
  const uid = await follow({
    registry: front.url,
    prefix: "acme",
    username: "robot",
    password: there.platform,
    denied: ["acme/other"],
    follow: { repoPattern: "acme/(app|other|tools/.*)", tagPattern: "[0-9]+" },
  });
  const first = await ended(uid);
  assert.deepEqual(
    [first.state, first.repositories, first.missingRepositories, first.tags, first.missingTags],
    ["SYNC_STATE_SUCCEEDED", "2", "0", "3", "0"],
    first.message,
  );
  assert.equal(first.message, "1 repos that match are not allowed");
  assert.ok(first.lastSuccessTime !== undefined && Date.parse(first.nextTime) > Date.parse(first.lastSuccessTime));
  assert.deepEqual([await tags("app"), await tags("tools/deep/x"), await tags("other")], [["1", "2"], ["1"], []]);

  const moved = await there.pushImage("acme/app", "1", "moved");
  await there.pushImage("acme/app", "3", "new");
  assert.equal((await again(uid)).tags, "4");
  front.intercept = (_req, res) => sendStatus(res, 503);
  const pulled = await here.ask("HEAD", "/v2/acme/edge/app/manifests/1", { token: here.registry });
  assert.deepEqual([pulled.status, pulled.headers.get("docker-content-digest")], [200, moved.digest]);
  assert.deepEqual(await tags("app"), ["1", "2", "3"]);
  const push = await here.ask("POST", "/v2/acme/edge/app/blobs/uploads/", { token: here.registry });
  assert.deepEqual([push.status, push.text.includes(`acme/edge stands for ${front.host}`)], [403, true], push.text);

  const away = await again(uid);
  assert.deepEqual([away.state, away.missingRepositories, away.consecutiveFailures], ["SYNC_STATE_FAILED", "2", 1]);
  assert.match(away.message, /^its catalog could not be read: the source answered 503/);
  const lost = await here.api<Record<string, string>>("POST", `${PATH}/${uid}:detach?validateOnly=true`, {});
  assert.deepEqual([lost["tags"], lost["missingTags"], lost["missingRepositories"]], ["4", "0", "2"]);
  assert.match(lost["late"] ?? "", /^\d+s$/);

  await here.api("PATCH", `${PATH}/${uid}?updateMask=follow`, {});
  const ended2 = await here.api<{ followState?: object }>("GET", `${PATH}/${uid}`);
  assert.equal(ended2.followState, undefined);
  const none = await here.ask("POST", `${PATH}/${uid}:follow`, { token: here.platform, json: {} });
  assert.deepEqual([none.status, none.text.includes("follows nothing")], [400, true]);
  await here.api("POST", `${PATH}/${uid}:detach`, {});
  const kept = await here.ask("DELETE", `/iam/v2/groups/${group}`, { token: here.platform });
  assert.deepEqual([kept.status, kept.text.includes("upstream")], [400, false], kept.text);
});

test("what cannot be read, is cut off, cannot be here or matches nothing is no success", async (t) => {
  const hub = await startFakeHub(t);
  hub.hasCatalog = true;
  hub.push("team/app", "1", "content");
  const { here, follow, ended, again, tags } = await startFollower(t);
  let answer: (req: IncomingMessage, res: ServerResponse) => boolean = (_req, res) => sendStatus(res, 404);
  hub.misbehave = ({ path, req, res }) => path === "_catalog" && answer(req, res);
  const uid = await follow({ registry: hub.registry, follow: { repoPattern: "team/.*" } });
  const none = await ended(uid);
  assert.deepEqual([none.state, none.repositories], ["SYNC_STATE_FAILED", "0"]);
  assert.equal(none.message, "its catalog could not be read: the source has no catalog");
  assert.equal(none.lastSuccessTime, undefined);

  let pages = 0;
  const cases: [message: RegExp, answer: typeof answer][] = [
    [/could not be read: the source does not let us pull \(401\)$/, (_req, res) => sendStatus(res, 401)],
    [/could not be read: the source answered 405$/, (_req, res) => sendStatus(res, 405)],
    [/could not be read: the source answers without a list/, (_req, res) => sendJson(res, { repositories: "all" })],
    [/^its catalog names no repos$/, (_req, res) => sendJson(res, { repositories: null })],
    [/^none of its 1 repos is followed$/, (_req, res) => sendJson(res, { repositories: ["else/where"] })],
    [
      /could not be read: the source's next page is somewhere else$/,
      (_req, res) =>
        sendJson(res, { repositories: [] }, { link: '<http://127.0.0.2:1/v2/_catalog?last=a>; rel="next"' }),
    ],
    [
      /could not be read: the source's list of repositories leads on, and brings nothing new$/,
      (_req, res) => {
        pages += 1;
        return sendJson(
          res,
          { repositories: ["else/where"] },
          { link: `</v2/_catalog?n=1000&last=${pages}>; rel="next"` },
        );
      },
    ],
  ];
  for (const [message, change] of cases) {
    answer = change;
    const { state, message: said } = await again(uid);
    assert.equal(state, "SYNC_STATE_FAILED", said);
    assert.match(said, message);
  }
  assert.deepEqual(await tags("team/app"), []);

  answer = (_req, res) =>
    sendJson(res, { repositories: ["team/app", "team/../app", "team/.", "team/a..b", "TEAM/x", "team/none", 7] });
  const partly = await again(uid);
  assert.deepEqual([partly.state, partly.repositories, partly.tags], ["SYNC_STATE_FAILED", "2", "1"], partly.message);
  assert.match(partly.message, /5 names that no repo may have: team\/\.\.\/app, team\/\., team\/a\.\.b, TEAM\/x, /);
  assert.match(partly.message, /1 repo did not come whole: team\/none \(the source does not let us pull \(401\)\)/);
  assert.deepEqual(await tags("team/app"), ["1"]);
  assert.equal((await here.api("GET", "/registry/v2/repos")).repos.length, 1, "names alone make nothing");
  answer = () => false;
  const whole = await again(uid);
  assert.deepEqual([whole.state, whole.consecutiveFailures], ["SYNC_STATE_SUCCEEDED", 0], whole.message);

  hub.push("team/bad", "1", "bad");
  hub.push("team/bad", "2", "good");
  hub.misbehave = ({ path, res }) => path.startsWith("team/bad/manifests/1") && sendStatus(res, 404);
  const bad = await again(uid);
  assert.deepEqual(
    [bad.state, bad.repositories, bad.missingRepositories, bad.tags, bad.missingTags],
    ["SYNC_STATE_FAILED", "2", "1", "3", "1"],
  );
  assert.match(bad.message, /1 repo did not come whole: team\/bad \(1 tag could not be copied: 1 /);
  assert.deepEqual(await tags("team/bad"), ["2"]);
});

test("a repo of the group's own stays, and a registry that limits is waited for", async (t) => {
  const hub = await startFakeHub(t);
  hub.hasCatalog = true;
  hub.push("team/own", "1", "there");
  const { here, follow, ended, again, tags } = await startFollower(t);
  await here.pushImage("acme/edge/team/own", "mine", "here");
  hub.limit = 100;
  const uid = await follow({ registry: hub.registry, follow: {} });
  const own = await ended(uid);
  assert.deepEqual([own.state, own.missingRepositories], ["SYNC_STATE_FAILED", "1"]);
  assert.match(own.message, /1 repo cannot come, since the group has its own there: team\/own/);
  assert.deepEqual(await tags("team/own"), ["mine"]);
  hub.push("team/app", "1", "there");
  const limited = await again(uid);
  assert.equal(limited.state, "SYNC_STATE_RATE_LIMITED", limited.message);
  assert.ok(Date.parse(limited.nextTime) - Date.now() > 1_000_000, limited.nextTime);
});
