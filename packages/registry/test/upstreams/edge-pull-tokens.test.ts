// Pull tokens of a center at an edge: as the center says while it answers, and as it said last while it does not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sendJson, sendStatus } from "../../../server/test/support/fake-source.ts";
import { startFollower } from "../../../server/test/support/follower.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { startProcess } from "../../../server/test/support/processes.ts";
import { clientOf, startPullEdge, untilAsked } from "../../../server/test/support/pull-edge.ts";
import { makePullToken } from "../../../server/test/support/pull-token.ts";
import { databaseEnv, openTestStore } from "../../../server/test/support/database.ts";
import { SOON } from "../../../server/test/support/replication.ts";
import { freePort } from "../../../server/test/support/unused-port.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

const [APP, X] = ["acme/edge/app", "acme/edge/team/x"];

test("a pull token of the center pulls at the edge, and goes on when the center is killed", async (t) => {
  const port = await freePort();
  const dataDir = temporaryFolder(t);
  const env = { MOORAGE_PORT: String(port) };
  const first = await startInstallation(t, env, dataDir);
  const organization = first.bootstrap.organization.uid;
  const host = `127.0.0.1:${port}`;
  const robot = await makePullToken(first, { group: organization, host });
  const unseen = await makePullToken(first, { group: organization, host });
  const { layer } = await first.pushImage("acme/app", "1", "app");
  await first.pushImage("acme/tool", "1", "tool");
  await first.close();
  const center = await startProcess(t, { MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)), ...env });
  const { here, follow, ended } = await startFollower(t);
  const source = { registry: `http://${host}`, prefix: "acme", username: "robot", password: first.platform };
  const uid = await follow({ ...source, follow: {} });
  const { state, message } = await ended(uid);
  assert.equal(state, "SYNC_STATE_SUCCEEDED", message);
  const { login, pull } = clientOf(here);
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  assert.deepEqual((await login(robot.basic, APP)).granted, [`${APP}:pull`], "it does not push");
  assert.equal((await login(robot.basic)).status, 200, "docker login");

  process.kill(center.pid, "SIGKILL");
  await center.exited;
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  const { token } = await login(robot.basic, APP);
  assert.equal((await here.ask("GET", `/v2/${APP}/blobs/${layer}`, { token })).status, 200);
  const other = await login(unseen.basic, APP);
  assert.deepEqual([other.status, other.text.includes("does not answer")], [503, true], other.text);
  const tool = await login(robot.basic, "acme/edge/tool");
  assert.deepEqual(
    [tool.status, tool.text.includes("is not known here")],
    [503, true],
    "never asked for while it was up",
  );
});

test("it pulls what it may pull at the center, and nothing else", async (t) => {
  const { make, login, pull, team, organization, here, front, away } = await startPullEdge(t);
  const robot = await make(team);
  assert.deepEqual(await pull(robot.basic, X), [200, 200]);
  const { granted, token } = await login(robot.basic, APP, X, "acme/own");
  assert.deepEqual(granted, [`${X}:pull`]);
  assert.equal((await here.ask("GET", `/v2/${APP}/manifests/1`, { token })).status, 403);
  assert.equal((await here.ask("GET", "/iam/v2/groups", { token })).status, 401, "it is nobody to the API");
  const push = await here.ask("POST", `/v2/${X}/blobs/uploads/`, { token });
  assert.ok([401, 403].includes(push.status), push.text);

  // The center does not decide about repos of the group's own, even where it has one of the same name.
  await here.pushImage("acme/own", "1", "own");
  const all = await make(organization);
  assert.deepEqual((await login(all.basic, "acme/own", APP)).granted, [`${APP}:pull`]);

  away();
  assert.deepEqual(await pull(robot.basic, X), [200, 200]);
  assert.deepEqual((await login(robot.basic, APP)).status, 503);
  assert.ok(front.seen.some(({ path }) => path.startsWith("/token?")));
});

test("one that is revoked ends with the next answer of the center, and not before", async (t) => {
  const { make, login, pull, organization, revoke, away, back } = await startPullEdge(t);
  const robot = await make(organization);
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  away();
  await revoke(robot);
  assert.deepEqual(await pull(robot.basic, APP), [200, 200], "the center cannot say it");
  back();
  assert.equal((await untilAsked(() => login(robot.basic, APP), 401)).status, 401);
  away();
  assert.equal((await login(robot.basic, APP)).status, 503, "nothing of it is known any more");
});

test("one that has ended, of another registry, or changed by a letter is not accepted, nor sent on", async (t) => {
  const { make, center, login, organization, asked, here } = await startPullEdge(t);
  asked();
  const ended = await make(organization, { endS: Math.floor(Date.now() / 1000) - 10 });
  assert.equal((await login(ended.basic, APP)).status, 401);
  const other = await makePullToken(center, { group: organization, host: "registry.example.com" });
  assert.equal((await login(other.basic, APP)).status, 401);
  assert.equal(asked(), 0, "neither goes anywhere");
  const robot = await make(organization);
  assert.equal((await login(robot.basic, APP)).status, 200);
  const [head = "", claims = "", signature = ""] = robot.basic.split(".");
  const forged = [head, claims, `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`].join(".");
  assert.equal((await login(forged, APP)).status, 401);
  assert.equal((await login(robot.basic, APP)).status, 200, "the real one is still known");
  assert.ok(!here.lines.join("").includes(robot.password), "it is in no log");
});

test("a center that lies, redirects or goes on for ever gets nobody in, and takes nothing away", async (t) => {
  const { make, login, pull, organization, front } = await startPullEdge(t);
  const [known, unseen] = [await make(organization), await make(organization)];
  assert.deepEqual(await pull(known.basic, APP), [200, 200]);
  const tokenOf = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.x`;
  const elsewhere = await startFront(t, front.url);
  const access = (name: string) => [{ type: "repository", name, actions: ["pull"] }];
  const answers: Record<string, (typeof front)["intercept"]> = {
    redirect: (_req, res) => sendStatus(res, 302, { location: `${elsewhere.url}/token` }),
    "no JSON": (_req, res) => (res.end("token"), true),
    "another's token": (_req, res) =>
      sendJson(res, { token: tokenOf({ sub: "0".repeat(40), access: access("acme/app") }) }),
    "not a token": (_req, res) => sendJson(res, { token: "a.b.c" }),
    endless: (_req, res) => {
      const write = (): void =>
        void (res.destroyed || (res.write("x".repeat(65_536)) ? setImmediate(write) : res.once("drain", write)));
      write();
      return true;
    },
  };
  for (const [name, answer] of Object.entries(answers)) {
    front.intercept = (req, res) => (req.url ?? "").startsWith("/token") && answer(req, res);
    assert.deepEqual(await pull(known.basic, APP), [200, 200], name);
    assert.equal((await login(unseen.basic, APP)).status, 503, name);
  }
  assert.deepEqual(elsewhere.seen, []);
  // Names that were not asked for are nothing to it.
  front.intercept = (req, res) =>
    (req.url ?? "").startsWith("/token") &&
    sendJson(res, { token: tokenOf({ sub: unseen.identity, access: access("acme/team/x") }) });
  assert.deepEqual((await login(unseen.basic, APP)).granted, []);
});

test("what stands for a registry no more knows no token of it", async (t) => {
  const { make, login, pull, organization, here, uid, away } = await startPullEdge(t);
  const robot = await make(organization);
  const { token } = await login(robot.basic, APP);
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  await here.api("POST", `/registry/v2/upstreams/${uid}:detach`, {});
  assert.equal((await login(robot.basic, APP)).status, 401);
  assert.equal((await here.ask("GET", `/v2/${APP}/manifests/1`, { token })).status, 403);
  away();
  assert.equal((await login(robot.basic, APP)).status, 401);
});

test("what the center said counts for a day at most, also for a server that starts while it is away", async (t) => {
  const { make, pull, organization, here, away } = await startPullEdge(t);
  // The token itself lasts longer.
  const robot = await make(organization, { endS: Math.floor(Date.now() / 1000) + 3 * 86_400 });
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  away();
  await here.close();
  const started = await startInstallation(t, SOON, here.dataDir);
  assert.deepEqual(await clientOf(started).pull(robot.basic, APP), [200, 200]);
  const { db, close } = await openTestStore(here.dataDir);
  t.after(close);
  const rows = await db.selectFrom("center_pulls").selectAll().execute();
  assert.deepEqual(rows.map(({ name }) => name).sort(), ["", "acme/app"]);
  const longest = Math.max(...rows.map(({ seen_time: seen, until_time: until }) => Number(until) - Number(seen)));
  assert.ok(longest <= 86_400_000, String(longest));
  assert.ok(rows.every(({ secret }) => /^[0-9a-f]{64}$/.test(secret) && !robot.password.includes(secret)));
  await db
    .updateTable("center_pulls")
    .set({ until_time: Date.now() - 1 })
    .execute();
  assert.equal((await clientOf(started).login(robot.basic, APP)).status, 503);
});

test("a registry that is turned off is not asked, and what it said last counts", async (t) => {
  const { make, pull, login, organization, here, uid, front } = await startPullEdge(t);
  const [robot, unseen] = [await make(organization), await make(organization)];
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  await here.api("PATCH", `/registry/v2/upstreams/${uid}?updateMask=disabled`, { disabled: true });
  front.seen.length = 0;
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  assert.equal((await login(unseen.basic, APP)).status, 503);
  assert.deepEqual(
    front.seen.filter(({ path }) => path.startsWith("/token")),
    [],
  );
});
