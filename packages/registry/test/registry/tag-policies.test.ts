import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openTaggedRepo, unmet } from "../../../server/test/support/tagged-repo.ts";

// A tag policy holds for every operation on a tag: a push, the API, a promotion, a rollback, and a deletion by tag, by
// digest or of the repo.
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
});
after(() => platform.close());

const IMMUTABLE = { immutableTags: ["v[0-9.]+"] };
const assertUnmet = (answer: Answer, violation: string): void =>
  assert.deepEqual([answer.status, unmet(answer)], [400, [violation]], answer.text);

test("an invalid policy is rejected, with every field that is wrong", async () => {
  const token = await platform.token();
  const tagPolicy = {
    immutableTags: ["(", "v.*"],
    protectedTags: ["a", "a)|(b"],
    historyRetention: "0s",
    retention: [
      { tagPattern: "x" },
      { tagPattern: "*", keepLast: 1 },
      { keepLast: -1 },
      { keepFor: "-1s" },
      { keepFor: "3162240001s" },
      { keepFor: "3162240000s" },
      { keepLast: 3 },
    ],
  };
  const wrong = [
    "tagPolicy.immutableTags[0]",
    "tagPolicy.protectedTags[1]",
    "tagPolicy.retention[0]",
    "tagPolicy.retention[1].tagPattern",
    "tagPolicy.retention[2].keepLast",
    "tagPolicy.retention[3].keepFor",
    "tagPolicy.retention[4].keepFor",
    "tagPolicy.historyRetention",
  ];
  const created = await platform.call("POST", `/registry/v2/repos/${platform.organization}`, {
    token,
    body: { name: "rejected", tagPolicy },
  });
  assert.deepEqual(blamed(created), wrong);
  const { uid } = await openTaggedRepo(platform, "wrong");
  const update = (policy: object) =>
    platform.call("PATCH", `/registry/v2/repos/${uid}`, { token, body: { tagPolicy: policy } });
  assert.deepEqual(blamed(await update(tagPolicy)), wrong);
  const many = Array.from({ length: 65 }, (_, at) => `v${at}`);
  assert.deepEqual(
    blamed(await update({ immutableTags: many, protectedTags: many, retention: many.map(() => ({ keepLast: 1 })) })),
    ["tagPolicy.immutableTags", "tagPolicy.protectedTags", "tagPolicy.retention"],
  );
  const large = ["a", "b", "c"].map((letter) => `${letter}{900}`.repeat(4));
  assert.deepEqual(blamed(await update({ immutableTags: large })), ["tagPolicy"], "too large to match on every push");
  assert.equal((await platform.ok("GET", `/registry/v2/repos/${uid}`))["tagPolicy"], undefined);
});

test("an immutable tag takes only its own digest, by every operation, and after its deletion too", async () => {
  const repo = await openTaggedRepo(platform, "immutable", IMMUTABLE);
  const [one, two] = repo.digests;
  assert.equal((await repo.push("v1", 0)).status, 201);
  assert.equal((await repo.set("free", two)).status, 200);
  const other = async (): Promise<void> => {
    const pushed = await repo.push("v1", 1);
    assert.equal(pushed.status, 400);
    const [error] = pushed.body["errors"] as { code: string; message: string }[];
    assert.deepEqual(
      [error?.code, /v1 is immutable by the repo's tag policy/.test(error?.message ?? "")],
      ["DENIED", true],
      pushed.text,
    );
    assertUnmet(await repo.set("v1", two), "TAG_IMMUTABLE v1");
    assertUnmet(await repo.promote([{ name: "v1", fromTag: "free" }]), "TAG_IMMUTABLE v1");
  };
  const same = async (): Promise<void> => {
    assert.equal((await repo.push("v1", 0)).status, 201);
    assert.equal((await repo.set("v1", one)).status, 200);
    assert.equal((await repo.promote([{ name: "v1", digest: one }])).status, 200);
  };
  await same();
  await other();
  assert.equal((await repo.drop("v1")).status, 200);
  await other();
  assert.deepEqual(Object.keys(await repo.tags()), ["free"]);
  assert.equal((await repo.rollback([{ name: "v1" }])).status, 200);
  await same();
  assert.equal((await repo.remove("v1")).status, 202);
  await same();
  assert.equal((await repo.push("v10-rc", 0)).status, 201);
  assert.equal((await repo.push("v10-rc", 1)).status, 201, "a pattern matches the whole name");
});

test("a push of several tags of which one is immutable stores nothing", async () => {
  const repo = await openTaggedRepo(platform, "several", IMMUTABLE);
  const [one, two, three] = repo.digests;
  await repo.push("v1", 0);
  assert.equal((await repo.remove(three)).status, 202);
  assert.equal((await repo.push(three, 2, "?tag=a&tag=v1&tag=b")).status, 400);
  assert.deepEqual(await repo.tags(), { v1: one });
  assertUnmet(await repo.promote([{ name: "a", digest: three }]), `MANIFEST_MISSING ${three}`);
  assert.equal((await repo.push(one, 0, "?tag=a&tag=v1&tag=b")).status, 201);
  assert.equal((await repo.push(two, 1, "?tag=a&tag=v2&tag=b")).status, 201);
  assert.deepEqual(await repo.tags(), { a: two, b: two, v1: one, v2: two });
});

test("a policy holds immediately for existing tags, at their current digest, and until it is removed", async () => {
  const repo = await openTaggedRepo(platform, "later");
  const [one, two] = repo.digests;
  await repo.push("v1", 0);
  await repo.push("v1", 1);
  await repo.change({ ...IMMUTABLE, protectedTags: [".*"] });
  assertUnmet(await repo.set("v1", one), "TAG_IMMUTABLE v1");
  assertUnmet(await repo.rollback([{ name: "v1" }]), "TAG_IMMUTABLE v1");
  assertUnmet(await repo.drop("v1"), "TAG_PROTECTED v1");
  await repo.change(IMMUTABLE);
  assert.equal((await repo.drop("v1")).status, 200);
  assertUnmet(await repo.set("v1", one), "TAG_IMMUTABLE v1");
  await repo.change(undefined);
  assert.equal((await repo.set("v1", one)).status, 200);
  assert.deepEqual(await repo.tags(), { v1: one });
  assert.notEqual(one, two);
});

test("a protected tag cannot be deleted, but can be moved", async () => {
  const repo = await openTaggedRepo(platform, "protected", { protectedTags: ["latest|stable"] });
  const [one, two] = repo.digests;
  for (const tag of ["latest", "other"]) assert.equal((await repo.push(tag, 0)).status, 201);
  assertUnmet(await repo.drop("latest"), "TAG_PROTECTED latest");
  for (const reference of ["latest", one]) {
    const answer = await repo.remove(reference);
    const [error] = answer.body["errors"] as { code: string; message: string }[];
    const message = "Precondition failed: tag latest is protected from deletion by the repo's tag policy";
    assert.deepEqual([answer.status, error?.code, error?.message], [400, "DENIED", message]);
  }
  assert.deepEqual(await repo.tags(), { latest: one, other: one }, "a rejected deletion changes nothing");
  assert.equal((await repo.push("latest", 1)).status, 201);
  assert.equal((await repo.remove(one)).status, 202);
  assert.deepEqual(await repo.tags(), { latest: two });
});

test("a repo with protected tags cannot be deleted, and the error names them", async () => {
  const repo = await openTaggedRepo(platform, "kept", { protectedTags: ["p-.*"] });
  const remove = async (): Promise<Answer> =>
    platform.call("DELETE", `/registry/v2/repos/${repo.uid}`, { token: await platform.token() });
  for (const tag of ["free", "p-b", "p-a"]) await repo.set(tag, repo.digests[0]);
  const few = await remove();
  assert.deepEqual([few.status, unmet(few)], [400, ["TAG_PROTECTED p-a", "TAG_PROTECTED p-b"]]);
  for (let at = 0; at < 10; at += 1) await repo.set(`p-${at}`, repo.digests[0]);
  const many = await remove();
  assert.deepEqual(unmet(many), [
    ...Array.from({ length: 10 }, (_, at) => `TAG_PROTECTED p-${at}`),
    `TAG_PROTECTED ${repo.uid}`,
  ]);
  assert.match(many.text, /the repo has 12 protected tags/);
  await repo.change({ protectedTags: ["other"] });
  assert.equal((await remove()).status, 200);
});

test("no operation creates a tag with the name of a tag as of a time", async () => {
  const repo = await openTaggedRepo(platform, "timed");
  const [one] = repo.digests;
  const name = "v1--at--20260704T093015Z";
  assert.deepEqual(blamed(await repo.set(name, one)), ["name"]);
  assert.deepEqual(
    blamed(
      await repo.promote([
        { name: "v1", digest: one },
        { name, digest: one },
      ]),
    ),
    ["promotions[1].name"],
  );
  assert.deepEqual(blamed(await repo.rollback([{ name }])), ["rollbacks[0].name"]);
  for (const [reference, query] of [
    [name, ""],
    [one, `?tag=v1&tag=${name}`],
  ] as const) {
    const answer = await repo.push(reference, 0, query);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /--at--/);
  }
  assert.deepEqual(await repo.tags(), {});
});
