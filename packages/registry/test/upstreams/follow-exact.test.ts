// Registries that are followed exactly: tags that are gone there are deleted here, with care.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { sendJson, sendStatus } from "../../../server/test/support/fake-source.ts";
import { startFollower } from "../../../server/test/support/follower.ts";

const TAGS = Array.from({ length: 30 }, (_, at) => `v${at}`);

async function startExact(t: TestContext, fields: object = {}) {
  const hub = await startFakeHub(t);
  hub.hasCatalog = true;
  hub.push("team/app", TAGS, "content");
  const follower = await startFollower(t);
  const uid = await follower.follow({ registry: hub.registry, follow: { exact: true }, ...fields });
  assert.equal((await follower.ended(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.equal((await follower.tags("team/app")).length, TAGS.length);
  return { hub, uid, ...follower, left: async () => (await follower.tags("team/app")).length };
}

test("tags that are gone there go here, at most a tenth within an hour, and the rest by force", async (t) => {
  const { hub, uid, here, again, left } = await startExact(t);
  for (const tag of ["v1", "v2"]) hub.remove("team/app", tag);
  const few = await again(uid);
  assert.deepEqual([few.state, few.tags, few.heldDeletions], ["SYNC_STATE_SUCCEEDED", "28", "0"], few.message);
  assert.equal(await left(), 28);
  const [repo] = (await here.api("GET", "/registry/v2/repos")).repos;
  const { moves } = await here.api<{ moves: { digest: string; reason: string }[] }>(
    "GET",
    `/registry/v2/repos/${repo?.uid}/tags/v1/moves`,
  );
  assert.deepEqual([moves[0]?.digest, moves[0]?.reason], ["", "mirror"]);

  for (const tag of ["v3", "v4"]) hub.remove("team/app", tag);
  const many = await again(uid);
  assert.deepEqual([many.state, many.heldDeletions, await left()], ["SYNC_STATE_FAILED", "2", 28]);
  assert.match(many.message, /4 of 30 tags are gone there within an hour, more than a tenth: a forced turn/);
  const forced = await again(uid, true);
  assert.deepEqual([forced.state, forced.heldDeletions, await left()], ["SYNC_STATE_SUCCEEDED", "0", 26]);
});

test("a list that fails, is cut off, or lies deletes nothing", async (t) => {
  const { hub, uid, again, left } = await startExact(t);
  const all = TAGS.length;
  hub.misbehave = ({ path, res }) => path.endsWith("/tags/list") && sendStatus(res, 500);
  assert.deepEqual([(await again(uid, true)).state, await left()], ["SYNC_STATE_FAILED", all]);
  // Some tags, and then a page that is none.
  hub.misbehave = ({ path, req, res }) => {
    if (!path.endsWith("/tags/list")) return false;
    if (req.url?.includes("last=") === true) return sendStatus(res, 400);
    return sendJson(res, { tags: ["v0"] }, { link: '</v2/team/app/tags/list?n=1000&last=v0>; rel="next"' });
  };
  assert.deepEqual([(await again(uid, true)).state, await left()], ["SYNC_STATE_FAILED", all]);
  // A list without tags that the registry still has.
  hub.misbehave = ({ path, res }) => path.endsWith("/tags/list") && sendJson(res, { tags: ["v0"] });
  const lying = await again(uid, true);
  assert.deepEqual([lying.state, lying.heldDeletions, await left()], ["SYNC_STATE_FAILED", String(all - 1), all]);
  assert.match(lying.message, /29 tags not listed there, and answered all the same: team\/app:v1/);
  // A catalog that cannot be read.
  hub.misbehave = ({ path, res }) => path === "_catalog" && sendStatus(res, 404);
  hub.remove("team/app", "v1");
  const blind = await again(uid, true);
  assert.deepEqual([blind.state, blind.heldDeletions, await left()], ["SYNC_STATE_FAILED", "1", all]);
  hub.misbehave = () => false;
  assert.deepEqual([(await again(uid)).state, await left()], ["SYNC_STATE_SUCCEEDED", all - 1]);
});

test("only what was copied and matches goes, and a protected tag stays", async (t) => {
  const { hub, uid, again, here, left } = await startExact(t, {
    follow: { exact: true, tagPattern: "v.*" },
    tagPolicy: { protectedTags: ["v2"] },
  });
  hub.push("team/app", "other", "content");
  assert.equal((await here.ask("GET", "/v2/acme/edge/team/app/manifests/other", { token: here.registry })).status, 200);
  for (const tag of ["v1", "v2", "other"]) hub.remove("team/app", tag);
  const { state, message, heldDeletions } = await again(uid);
  assert.deepEqual([state, heldDeletions], ["SYNC_STATE_SUCCEEDED", "1"], message);
  assert.match(message, /1 tag gone there and kept by a policy here: team\/app:v2/);
  assert.ok((await left()) >= TAGS.length - 1);
  const kept = await here.ask("GET", "/v2/acme/edge/team/app/manifests/other", { token: here.registry });
  assert.equal(kept.status, 200);
});
