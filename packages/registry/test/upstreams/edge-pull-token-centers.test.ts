// Pull tokens at an edge that follows several centers, or one center by several groups: which of them is asked, and for
// which repos its answer counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { askedOf, startPullEdge, untilAsked } from "../../../server/test/support/pull-edge.ts";
import { makePullToken } from "../../../server/test/support/pull-token.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

const [APP, OTHER] = ["acme/edge/app", "acme/other/app"];

test("of two centers at one address, the token goes to the one that it names, and counts below its group", async (t) => {
  const { make, login, pull, asked, followAs, organization, away } = await startPullEdge(t);
  // The same names are there, so that only the registry is another one.
  const second = await startInstallation(t);
  await second.pushImage("acme/app", "1", "other");
  const front = await startFront(t, second.url);
  await followAs("other", { registry: front.url, password: second.platform });
  const first = await make(organization);
  const other = await makePullToken(second, { group: second.bootstrap.organization.uid, host: front.host });
  assert.deepEqual((await login(first.basic, APP, OTHER)).granted, [`${APP}:pull`]);
  assert.deepEqual([asked(), askedOf(front)], [1, 0]);
  assert.deepEqual((await login(other.basic, APP, OTHER)).granted, [`${OTHER}:pull`]);
  assert.deepEqual([asked(), askedOf(front)], [0, 1]);
  assert.deepEqual(await pull(first.basic, APP), [200, 200]);
  assert.deepEqual(await pull(first.basic, OTHER), [200, 403]);
  assert.deepEqual(await pull(other.basic, OTHER), [200, 200]);
  assert.deepEqual(await pull(other.basic, APP), [200, 403]);

  away();
  assert.deepEqual(await pull(other.basic, OTHER), [200, 200], "the other one is not away");
  assert.deepEqual(await pull(first.basic, APP), [200, 200]);
  assert.deepEqual(await pull(first.basic, OTHER), [200, 403], "what it may at the one is nothing at the other");
});

test("of two groups that follow one center, each has what the center says of its own names", async (t) => {
  const { make, login, pull, followAs, center, organization, away } = await startPullEdge(t);
  const { uid: elsewhere } = await center.api("POST", "/iam/v2/groups", { name: "elsewhere" });
  await center.pushImage("elsewhere/app", "1", "elsewhere");
  await followAs("other", { prefix: "elsewhere" });
  const acme = await make(organization);
  const both = await make(elsewhere);
  assert.deepEqual((await login(acme.basic, APP, OTHER)).granted, [`${APP}:pull`]);
  assert.deepEqual((await login(both.basic, APP, OTHER)).granted, [`${OTHER}:pull`]);
  assert.deepEqual(await pull(both.basic, OTHER), [200, 200]);
  away();
  assert.deepEqual(await pull(acme.basic, APP), [200, 200]);
  assert.equal((await login(acme.basic, OTHER)).status, 503);
  assert.deepEqual(await pull(both.basic, OTHER), [200, 200]);
  assert.equal((await login(both.basic, APP)).status, 503);
});

test("below each of many groups that follow one center, its pull tokens pull", async (t) => {
  const { make, login, followAs, organization } = await startPullEdge(t);
  const paths = [APP];
  for (let at = 1; at <= 7; at += 1) {
    await followAs(`edge-${at}`);
    paths.push(`acme/edge-${at}/app`);
  }
  const robot = await make(organization);
  for (const path of paths) assert.deepEqual((await login(robot.basic, path)).granted, [`${path}:pull`], path);
});

test("one that the center refuses is forgotten by all groups that follow it", async (t) => {
  const { make, login, pull, followAs, organization, revoke, away, back } = await startPullEdge(t);
  await followAs("other");
  const robot = await make(organization);
  assert.deepEqual(await pull(robot.basic, APP), [200, 200]);
  assert.deepEqual(await pull(robot.basic, OTHER), [200, 200]);
  away();
  assert.deepEqual(await pull(robot.basic, OTHER), [200, 200]);
  await revoke(robot);
  back();
  // The center says so when somebody pulls below one group.
  assert.equal((await untilAsked(() => login(robot.basic, APP), 401)).status, 401);
  away();
  for (const name of [APP, OTHER]) assert.equal((await login(robot.basic, name)).status, 503, name);
});

test("a log-in without a name asks by a group that is not turned off, and counts for all of them", async (t) => {
  const { make, login, pull, followAs, here, organization, uid, asked, away } = await startPullEdge(t);
  const uids = [uid, await followAs("other")];
  const disable = (each: string, disabled: boolean) =>
    here.api("PATCH", `/registry/v2/upstreams/${each}?updateMask=disabled`, { disabled });
  const robot = await make(organization);
  for (const each of uids) {
    await disable(each, true);
    assert.equal((await login(robot.basic)).status, 200);
    assert.equal(asked(), 1);
    await disable(each, false);
  }
  const unnamed = [await make(organization), await make(organization)];
  for (const [at, name] of [APP, OTHER].entries())
    assert.deepEqual(await pull(unnamed[at]?.basic ?? "", name), [200, 200]);
  away();
  for (const { basic } of unnamed) assert.equal((await login(basic)).status, 200, "it is known of either");
});
