import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { dayOf } from "../../../kernel/src/lib/days.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What is deleted, and what is not, because somebody pulls it, or because that is not known.

const DAY_MS = 86_400_000;
const DAY_S = 86_400;
const digestOf = (digit: number): string => `sha256:${String(digit).repeat(64)}`;
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
});
after(() => platform.close());

const ago = (days: number): number => platform.clock.nowMs() - days * DAY_MS;
const covered = (days: number): Promise<void> =>
  platform.transact(async (tx) => {
    await tx.deleteFrom("pull_coverage").execute();
    await tx.deleteFrom("pull_gaps").execute();
    await tx
      .insertInto("pull_coverage")
      .values({ id: 1, since: ago(days) })
      .execute();
  });
const lossy = (days: number): Promise<void> =>
  platform.transact(async (tx) => {
    await tx
      .insertInto("pull_gaps")
      .values({ day: dayOf(ago(days)), pulls: 3 })
      .execute();
  });

/** A repo with a tag a digest, moved so many days ago; the digests are 1, 2, …. */
async function repoOf(movedDaysAgo: number, ...names: string[]): Promise<string> {
  const { uid } = await platform.repo(platform.organization);
  platform.clock.offsetMs = -movedDaysAgo * DAY_MS;
  for (const [at, name] of names.entries()) await platform.tag(uid, { name, digest: digestOf(at + 1) });
  platform.clock.offsetMs = 0;
  return uid;
}
const pulled = (repo: string, digit: number, days: number, identity = platform.owner): Promise<void> =>
  platform.transact(async (tx) => {
    const [digest, time] = [digestOf(digit), ago(days)];
    await tx.insertInto("last_pulls").values({ repo, digest, time, identity }).execute();
  });

interface Preview extends Json {
  expiringTags: { name: string }[];
  pullsUnknownCount: string;
  coverage?: { since?: string };
}
async function preview(repo: string, ...retention: object[]): Promise<[string, string]> {
  const answer = await platform.ok<Preview>("POST", `/registry/v2/repos/${repo}:previewTagRetention`, {
    tagPolicy: { retention },
  });
  assert.ok(answer.coverage !== undefined);
  return [answer.expiringTags.map(({ name }) => name).join(" "), answer.pullsUnknownCount];
}

test("tags that are pulled are kept for so long, and nothing goes before that is known", async () => {
  const repo = await repoOf(60, "pulled", "old", "never", "running");
  await platform.tag(repo, { name: "new", digest: digestOf(9) });
  await pulled(repo, 1, 5);
  await pulled(repo, 2, 40);
  await platform.transact(async (tx) => {
    const running = { repo, digest: digestOf(4), source: "prod", identity: platform.owner, time: ago(30) };
    await tx.insertInto("running_images").values(running).execute();
  });
  const rule = { keepPulledFor: `${28 * DAY_S}s` };
  await covered(10);
  assert.deepEqual(await preview(repo, rule), ["", "2"], "pulls are not counted for long enough");
  await covered(50);
  assert.deepEqual(await preview(repo, rule), ["never old", "0"], "what ran 30 days ago counts as pulled 23 days ago");
  await lossy(20);
  assert.deepEqual(await preview(repo, rule), ["", "2"], "pulls of a day are missing");
  await covered(50);
  await lossy(40);
  assert.deepEqual(await preview(repo, rule), ["never old", "0"], "those of a day before do not matter");
  assert.deepEqual(await preview(repo, { ...rule, keepLast: 3 }), ["old", "0"], "what either keeps is kept");
  await platform.transact(async (tx) => void (await tx.deleteFrom("pull_coverage").execute()));
  assert.deepEqual(await preview(repo, rule), ["", "2"], "pulls are not counted");
});

test("a child that is pulled keeps the tag of its index, and the tag's name keeps it", async () => {
  const repo = await repoOf(60, "index", "named", "other");
  await pulled(repo, 7, 1);
  await platform.transact(async (tx) => {
    await tx
      .insertInto("manifest_references")
      .values({ repo, digest: digestOf(1), target: digestOf(7), kind: "manifest" })
      .execute();
    await tx
      .updateTable("tags")
      .set({ last_pull_time: ago(2) })
      .where("parent", "=", repo)
      .where("name", "=", "named")
      .execute();
  });
  await covered(50);
  assert.deepEqual(await preview(repo, { keepPulledFor: `${28 * DAY_S}s` }), ["other", "0"]);
});

test("the tags that were pulled last are kept, and none goes while others may have been pulled after them", async () => {
  const repo = await repoOf(60, "a", "b", "c", "d");
  await pulled(repo, 1, 3);
  await pulled(repo, 2, 6);
  await pulled(repo, 3, 9);
  const rule = { keepLastPulled: 2 };
  await covered(7);
  assert.deepEqual(await preview(repo, rule), ["c d", "0"]);
  assert.deepEqual(await preview(repo, { keepLastPulled: 3 }), ["", "1"], "d may have been pulled 8 days ago");
  await lossy(5);
  assert.deepEqual(await preview(repo, rule), ["", "2"], "c may have been pulled on that day");
  await covered(70);
  assert.deepEqual(await preview(repo, { keepLastPulled: 5 }), ["", "0"], "there are only four");
});

test("what a rule about pulls may say is checked", async () => {
  const { uid } = await platform.repo(platform.organization);
  for (const rule of [{ keepPulledFor: "3600s" }, { keepLastPulled: -1 }, { keepLastPulled: 20_000 }, {}]) {
    const token = await platform.token();
    const body = { tagPolicy: { retention: [rule] } };
    const answer = await platform.call("POST", `/registry/v2/repos/${uid}:previewTagRetention`, { token, body });
    assert.equal(answer.status, 400, JSON.stringify(rule));
  }
});

test("a delete that asks for it spares what is pulled or runs, says by whom, and what is not known", async () => {
  const repo = await repoOf(60, "v1", "v2", "v3");
  const { uid: ann, name } = await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, { name: "ann" });
  await pulled(repo, 1, 5, ann);
  await platform.transact(async (tx) => {
    const running = { repo, digest: digestOf(2), source: "prod", identity: ann, time: ago(2) };
    await tx.insertInto("running_images").values(running).execute();
  });
  const { tags } = await platform.ok<Json & { tags: Json[] }>("GET", `/registry/v2/tags?uidp.children_of=${repo}`);
  const uid = (wanted: string): string => tags.find((tag) => tag.name === wanted)?.uid ?? "";
  const remove = async (path: string, within = `${7 * DAY_S}s`, token?: string) => {
    const answer = await platform.call("DELETE", `/registry/v2/${path}?unless_pulled_within=${within}`, {
      token: token ?? (await platform.token()),
    });
    return [answer.status, ...(answer.body.details ?? []).flatMap(({ violations = [] }) => violations)];
  };
  const violation = async (path: string, token?: string) => {
    const [status, found] = await remove(path, undefined, token);
    assert.equal(status, 400);
    return found as { type: string; description: string };
  };
  await covered(3);
  for (const path of [`tags/${uid("v1")}`, `repos/${repo}`]) {
    const { type, description } = await violation(path);
    assert.equal(type, "STILL_PULLED");
    assert.ok(description.includes(`${name} (${ann})`), description);
  }
  const running = await violation(`tags/${uid("v2")}`);
  assert.deepEqual([running.type, running.description.includes("at prod")], ["STILL_PULLED", true]);
  const { type, description } = await violation(`tags/${uid("v3")}`);
  assert.equal(type, "PULLS_UNKNOWN");
  assert.match(description, /pulls are counted only since/);
  await covered(30);
  const pusher = await platform.token(await platform.identity(platform.organization, "limited_owner"));
  assert.equal((await remove(`tags/${uid("v1")}`, undefined, pusher))[0], 403);
  assert.equal((await remove(`tags/${uid("v3")}`))[0], 200);
  assert.equal((await remove(`tags/${uid("v1")}`, `${2 * DAY_S}s`))[0], 200, "it was pulled before that");
  assert.equal((await remove(`tags/${uid("v2")}`, "0s"))[0], 400);
});
