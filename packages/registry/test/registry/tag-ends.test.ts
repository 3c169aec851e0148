// Tags with an end: who sets it, and what becomes of them (Tag.expire_time).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const [ONE, TWO] = [`sha256:${"1".repeat(64)}`, `sha256:${"2".repeat(64)}`];
const HOUR_MS = 3_600_000;
let platform: Platform;
let repo = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_WORK_POLL: "20ms" });
  repo = (await platform.repo(platform.organization, { name: "app", tagPolicy: { protectedTags: ["kept.*"] } })).uid;
});
after(() => platform.close());

const inMs = (ms: number): string => new Date(platform.clock.nowMs() + ms).toISOString();
const put = async (tag: object, token?: string): Promise<Answer> =>
  platform.call("POST", `/registry/v2/tags/${repo}`, { token: token ?? (await platform.token()), body: tag });
const named = async (name: string): Promise<Json | undefined> =>
  (await platform.ok<Json & { tags: Json[] }>("GET", `/registry/v2/tags?uidp.children_of=${repo}&name=${name}`))
    .tags[0];
const violation = ({ body }: Answer): string =>
  body.details.flatMap(({ fieldViolations = [], violations = [] }) => [...fieldViolations, ...violations])[0]
    ?.description ?? body.message;

test("an end is set and taken away by who may delete tags, and ends when the tag moves", async () => {
  const end = inMs(HOUR_MS);
  const set = await put({ name: "a", digest: ONE, expireTime: end });
  assert.equal(set.status, 200, set.text);
  assert.equal(set.body["expireTime"], end);
  assert.equal((await named("a"))?.["expireTime"], end);
  const pusher = await platform.token(await platform.identity(platform.organization, "registry.push"));
  for (const tag of [
    { name: "a", digest: ONE, expireTime: inMs(2 * HOUR_MS) },
    { name: "a", digest: ONE },
    { name: "b", digest: ONE, expireTime: end },
  ])
    assert.equal((await put(tag, pusher)).status, 403, JSON.stringify(tag));
  assert.equal((await put({ name: "a", digest: ONE, expireTime: end }, pusher)).status, 200);
  // What somebody pushes anew does not go with what was there before.
  assert.equal((await put({ name: "a", digest: TWO }, pusher)).status, 200);
  assert.equal((await named("a"))?.["expireTime"], undefined);
  assert.equal((await put({ name: "a", digest: TWO, expireTime: end })).status, 200);
  assert.equal((await put({ name: "a", digest: TWO })).status, 200);
  assert.equal((await named("a"))?.["expireTime"], undefined);
});

test("without a digest a tag that is there gets an end and stays where it is", async () => {
  assert.equal((await put({ name: "stays", digest: TWO, bundles: ["one"] })).status, 200);
  const end = inMs(HOUR_MS);
  assert.equal((await put({ name: "stays", bundles: ["one"], expireTime: end })).status, 200);
  const now = await named("stays");
  assert.deepEqual([now?.["digest"], now?.["expireTime"], now?.["bundles"]], [TWO, end, ["one"]]);
  assert.equal((await put({ name: "absent", expireTime: end })).status, 400);
});

test("an end that is past, or of a protected tag, is rejected", async () => {
  const past = await put({ name: "past", digest: ONE, expireTime: inMs(-1_000) });
  assert.deepEqual([past.status, violation(past)], [400, "must be in the future"]);
  const kept = await put({ name: "kept", digest: ONE, expireTime: inMs(HOUR_MS) });
  assert.equal(kept.status, 400, kept.text);
  assert.match(kept.text, /TAG_PROTECTED/);
});

test("a tag goes at its end with its own reason, and a protected one stays", async () => {
  assert.equal((await put({ name: "short", digest: ONE, expireTime: inMs(HOUR_MS) })).status, 200);
  assert.equal((await put({ name: "later", digest: ONE, expireTime: inMs(HOUR_MS) })).status, 200);
  assert.equal((await put({ name: "long", digest: ONE, expireTime: inMs(9 * HOUR_MS) })).status, 200);
  const policy = async (protectedTags: string[]): Promise<void> => {
    await platform.ok("PATCH", `/registry/v2/repos/${encodeURIComponent(repo)}?update_mask=tagPolicy`, {
      tagPolicy: { protectedTags },
    });
  };
  await policy(["later"]);
  platform.clock.offsetMs += 2 * HOUR_MS;
  await eventually(async () => (await named("short")) === undefined);
  assert.equal((await named("later"))?.name, "later");
  assert.equal((await named("long"))?.name, "long");
  const { moves } = await platform.ok<Json & { moves: Json[] }>(
    "GET",
    `/registry/v2/repos/${encodeURIComponent(repo)}/tags/short/moves`,
  );
  assert.deepEqual([moves[0]?.["reason"], moves[0]?.["digest"]], ["expire", ""]);
  await eventually(async () => {
    const { events } = await platform.ok<Json & { events: { type: string; body?: string }[] }>(
      "GET",
      `/events/v2/events?group=${platform.organization}`,
    );
    return events.some((event) => event.type.endsWith("tag.deleted.v1") && JSON.stringify(event).includes("expire"));
  });
  assert.equal((await named("later"))?.name, "later");
});
