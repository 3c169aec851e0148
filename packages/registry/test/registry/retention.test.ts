import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { create } from "@bufbuild/protobuf";
import { TagPolicySchema } from "@moorage/api";
import { newUid, parentOf } from "../../../kernel/src/lib/uid.ts";
import { expireRepoTags, expireTags } from "../../src/registry/index.ts";
import { compilePolicy, policyViolations } from "../../src/registry/policies.ts";
import { expiringTags, planRetention } from "../../src/registry/retention.ts";
import { openComposition } from "../../../server/test/support/composition.ts";
import { dropDatabase } from "../../../server/test/support/database.ts";
import { blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openTaggedRepo } from "../../../server/test/support/tagged-repo.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";

const DAY_MS = 86_400_000;
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
});
after(() => platform.close());

interface Expiring {
  name: string;
  digest: string;
  updateTime: string;
  rule: number;
}

test("a preview lists what each rule would delete, by the first rule that matches, and deletes nothing", async () => {
  const retention = [
    { tagPattern: "pr-.*", keepFor: "86400s" },
    { tagPattern: "v.*", keepLast: 2 },
  ];
  const repo = await openTaggedRepo(platform, "preview", { protectedTags: ["v1"], retention });
  const [one] = repo.digests;
  const make = async (daysAgo: number, ...names: string[]): Promise<void> => {
    platform.clock.offsetMs = -daysAgo * DAY_MS;
    for (const name of names) assert.equal((await repo.set(name, one)).status, 200);
  };
  await make(4, "pr-1", "v1", "latest", "v2");
  await make(3, "v3", "pr-2");
  await make(2, "v4", "pr-3");
  await make(0, "pr-4", "v5");
  const preview = async (tagPolicy?: object): Promise<Expiring[]> => {
    const answer = await platform.ok(
      "POST",
      `/registry/v2/repos/${repo.uid.replaceAll("/", "%2F")}:previewTagRetention`,
      { tagPolicy },
    );
    assert.deepEqual(
      [answer.totalCount, answer.nextPageToken],
      [String((answer["expiringTags"] as Expiring[]).length), ""],
    );
    return answer["expiringTags"] as Expiring[];
  };
  const names = async (tagPolicy?: object): Promise<string[]> =>
    (await preview(tagPolicy)).map(({ name, rule }) => `${name} ${rule}`);
  assert.deepEqual(await names(), ["pr-1 0", "pr-2 0", "pr-3 0", "v2 1", "v3 1"]);
  const [first] = await preview();
  assert.deepEqual(Object.keys(first ?? {}), ["name", "digest", "updateTime", "rule"]);
  const [tag] = (await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo.uid}&name=pr-1`))[
    "tags"
  ] as Json[];
  assert.deepEqual([first?.digest, first?.updateTime], [one, tag?.updateTime]);
  // With both conditions, a tag is retained that meets either of them. Tags that a rule retains are not subject to the
  // rules after it.
  assert.deepEqual(await names({ retention: [{ keepLast: 1, keepFor: "216000s" }] }), [
    "latest 0",
    "pr-1 0",
    "pr-2 0",
    "v1 0",
    "v2 0",
    "v3 0",
  ]);
  assert.deepEqual(await names({ retention: [{ tagPattern: "v.*|latest", keepLast: 100 }, { keepLast: 3 }] }), [
    "pr-1 1",
  ]);
  assert.deepEqual(await names({ retention: [{ tagPattern: "none", keepLast: 1 }] }), []);
  assert.deepEqual(await names({}), [], "a policy without rules replaces the repo's own");
  // A move to another digest makes a tag young again, a push of the same digest does not.
  await make(0, "pr-1");
  assert.equal((await names())[0], "pr-1 0");
  assert.equal((await repo.set("pr-1", repo.digests[1])).status, 200);
  assert.equal((await names())[0], "pr-2 0");
  assert.equal(Object.keys(await repo.tags()).length, 10);
});

test("a tag of exactly the retained age stays, and is deleted a millisecond later", async (t) => {
  const { expired, seed } = await openRepo(t, { retention: [{ keepFor: "3600s" }] });
  await seed([
    { name: "old", update_time: NOW_MS - 3_600_001 },
    { name: "just", update_time: NOW_MS - 3_600_000 },
    { name: "new", update_time: NOW_MS },
  ]);
  assert.deepEqual(await expired(), ["old"]);
});

test("a preview has pages like any list", async () => {
  const {
    uid,
    set,
    digests: [one],
  } = await openTaggedRepo(platform, "pages", { retention: [{ keepLast: 1 }] });
  for (let at = 0; at < 8; at += 1) await set(`t${at}`, one);
  const token = await platform.token();
  const ask = (body: object) => platform.call("POST", `/registry/v2/repos/${uid}:previewTagRetention`, { token, body });
  const found: string[] = [];
  let pageToken = "";
  do {
    const { body } = await ask({ pageSize: 3, pageToken });
    assert.equal(body.totalCount, "7");
    found.push(...(body["expiringTags"] as Expiring[]).map(({ name }) => name));
    pageToken = body.nextPageToken;
  } while (pageToken !== "");
  assert.deepEqual(found, ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
  const {
    body: { nextPageToken },
  } = await ask({ pageSize: 3 });
  assert.deepEqual(blamed(await ask({ pageToken: nextPageToken, tagPolicy: { retention: [{ keepLast: 2 }] } })), [
    "page_token",
  ]);
  assert.deepEqual(blamed(await ask({ pageToken: `${nextPageToken.slice(0, -1)}!` })), ["page_token"]);
  const { nextPageToken: listed } = await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${uid}&page_size=1`);
  assert.deepEqual(blamed(await ask({ pageToken: listed })), ["page_token"]);
  const wrong = await ask({ pageSize: -1, tagPolicy: { retention: [{ tagPattern: "(", keepLast: 1 }] } });
  assert.deepEqual(blamed(wrong).sort(), ["page_size", "tagPolicy.retention[0].tagPattern"]);
  assert.deepEqual(blamed(await ask({ tagPolicy: { retention: Array(65).fill({ keepLast: 1 }) } })), [
    "tagPolicy.retention",
  ]);
  assert.equal(((await ask({ pageSize: 1000 })).body["expiringTags"] as Expiring[]).length, 7);
  platform.clock.offsetMs = 3 * DAY_MS + 60_000;
  const late = await platform.ok("POST", `/registry/v2/repos/${uid}:previewTagRetention`, {
    pageToken: nextPageToken,
    pageSize: 1,
  });
  platform.clock.offsetMs = 0;
  assert.equal((late["expiringTags"] as Expiring[])[0]?.name, "t0", "an expired page token starts from the first page");
});

// The tests below use rows of their own: more than one slice of them, with equal times among them.
const NOW_MS = Date.UTC(2026, 6, 4);
const DIGEST = `sha256:${"a".repeat(64)}`;
interface Seeded {
  uid: string;
  name: string;
  update_time: number;
}

async function openRepo(t: TestContext, tagPolicy: object) {
  const dir = await mkdtemp(join(tmpdir(), "moorage-retention-"));
  const composition = await openComposition(dir);
  const { db, transactor } = composition;
  t.after(async () => {
    await composition[Symbol.asyncDispose]();
    await dropDatabase(dir);
    await rm(dir, { recursive: true });
  });
  const uid = newUid(newUid(""));
  await db
    .insertInto("repos")
    .values({
      uid,
      parent: "",
      name: "seeded",
      description: "",
      catalog_tier: 0,
      bundles: "[]",
      readme: "",
      aliases: "[]",
      active_tags: "[]",
      sync_config: null,
      tag_policy: JSON.stringify(tagPolicy),
      create_time: 0,
      update_time: 0,
    })
    .execute();
  const data = systemCall(NOW_MS);
  const names = async (): Promise<string[]> => {
    return (await db.selectFrom("tags").select("name").where("parent", "=", uid).orderBy("name").execute()).map(
      ({ name }) => name,
    );
  };
  return {
    db,
    uid,
    names,
    async seed(tags: { name: string; update_time: number }[]): Promise<Seeded[]> {
      const rows = tags.map((tag) => ({
        uid: newUid(uid),
        parent: uid,
        digest: DIGEST,
        deprecated: 0,
        bundles: "[]",
        create_time: 0,
        ...tag,
      }));
      for (let at = 0; at < rows.length; at += 100)
        await db
          .insertInto("tags")
          .values(rows.slice(at, at + 100))
          .execute();
      return rows;
    },
    /** Expires tags, and answers the names of those removed. `meanwhile` runs before each transaction. */
    async expired(meanwhile: (() => Promise<unknown>) | undefined = undefined): Promise<string[]> {
      const before = await names();
      const count = await expireRepoTags(
        {
          read: (work) => transactor.read(data, work),
          async expire(input) {
            await meanwhile?.();
            return await transactor.write(expireTags, data, input);
          },
        },
        uid,
      );
      const left = new Set(await names());
      const gone = before.filter((name) => !left.has(name));
      assert.equal(count, gone.length);
      return gone;
    },
  };
}

test(
  "over many slices of tags, exactly the tags that the rules select are deleted, once, each with a record",
  { timeout: 300_000 },
  async (t) => {
    const retention = [
      { tagPattern: "a.*", keepLast: 300 },
      { tagPattern: "b.*", keepLast: 40, keepFor: "500s" },
      { tagPattern: "c.*", keepFor: "900s" },
      { keepLast: 1 },
    ];
    const { db, uid, seed, names, expired } = await openRepo(t, { protectedTags: [".*7"], retention });
    // Many tags moved in the same millisecond, so that the limit of keepLast may fall between any two of them.
    const tags = await seed(
      Array.from({ length: 1800 }, (_, at) => {
        return {
          name: `${"abcd"[(at * 7919) % 4]}${(at * 7919) % 10_007}`,
          update_time: NOW_MS - ((at * 31) % 97) * 10_000,
        };
      }),
    );
    const groupOf = (letter: string): Seeded[] =>
      tags
        .filter(({ name }) => name.startsWith(letter) && !name.endsWith("7"))
        .sort((one, other) => other.update_time - one.update_time || (other.uid < one.uid ? -1 : 1));
    const removable = [
      ...groupOf("a").slice(300),
      ...groupOf("b")
        .slice(40)
        .filter(({ update_time }) => update_time < NOW_MS - 500_000),
      ...groupOf("c").filter(({ update_time }) => update_time < NOW_MS - 900_000),
      ...groupOf("d").slice(1),
    ]
      .map(({ name }) => name)
      .sort();
    assert.ok(removable.length > 600 && removable.length < 1500);
    assert.deepEqual(await expired(), removable);
    assert.deepEqual(await expired(), []);
    assert.equal((await names()).length, 1800 - removable.length);
    const records = await db.selectFrom("tag_history").selectAll().where("repo", "=", uid).orderBy("tag").execute();
    const counted = await db
      .selectFrom("counters")
      .select(["ancestor", "n"])
      .where("kind", "=", "tags")
      .orderBy("ancestor")
      .execute();
    assert.deepEqual(
      counted.map(({ ancestor, n }) => [ancestor, n]),
      [
        [parentOf(uid), -removable.length],
        [uid, -removable.length],
      ],
    );
    assert.deepEqual(
      records.map(({ tag, digest, reason, actor }) => [tag, digest, reason, actor]),
      removable.map((name) => [name, "", "retention", ""]),
    );
  },
);

test("a tag that moves meanwhile stays, and a policy that was replaced meanwhile deletes nothing", async (t) => {
  const { db, uid, seed, names, expired } = await openRepo(t, { retention: [{ keepFor: "10s" }] });
  const old = Array.from({ length: 120 }, (_, at) => ({
    name: `t${String(at).padStart(3, "0")}`,
    update_time: NOW_MS - 60_000,
  }));
  await seed(old);
  const moved = await expired(() =>
    db.updateTable("tags").set({ update_time: NOW_MS }).where("name", "in", ["t007", "t110"]).execute(),
  );
  assert.deepEqual(
    moved,
    old.map(({ name }) => name).filter((name) => name !== "t007" && name !== "t110"),
  );
  await seed(old.slice(20, 30));
  let changes = 0;
  const changed = await expired(async () => {
    changes += 1;
    await db
      .updateTable("repos")
      .set({ tag_policy: JSON.stringify({ retention: [{ keepFor: "11s" }] }) })
      .where("uid", "=", uid)
      .execute();
  });
  assert.deepEqual([changed, changes, (await names()).length], [[], 1, 12]);
});

test("retention with slow patterns lets other work through between two tags, not only between two slices", async (t) => {
  const { db, uid, seed } = await openRepo(t, {});
  // Names of random letters a and b, with which no state of the pattern's automaton occurs twice: each tag takes some
  // milliseconds of processor time.
  const nameOf = (at: number): string =>
    Array.from(createHash("sha512").update(`${at}`).digest().subarray(0, 15), (byte) =>
      byte.toString(2).padStart(8, "0").replaceAll("0", "a").replaceAll("1", "b"),
    ).join("");
  await seed(Array.from({ length: 240 }, (_, at) => ({ name: nameOf(at), update_time: at })));
  const policy = create(TagPolicySchema, {
    retention: [{ tagPattern: "(?:[ab]*a[ab]{60}){13}" }, { tagPattern: ".*" }].map((rule) => ({
      ...rule,
      keepFor: { seconds: 1n, nanos: 0 },
    })),
  });
  assert.deepEqual(policyViolations(policy, "tagPolicy"), []);
  const plan = await planRetention(db, uid, compilePolicy(policy), NOW_MS);
  // The turns of the event loop in which tags were matched: one for each slice, if a slice took a whole turn.
  let turn = 0;
  const countTurns = (): void => {
    turn += 1;
    counting = setImmediate(countTurns);
  };
  let counting = setImmediate(countTurns);
  t.after(() => clearImmediate(counting));
  const matchedIn = new Set<number>();
  const expiredBy: typeof plan.expiredBy = (tag, usedMs) => {
    matchedIn.add(turn);
    return plan.expiredBy(tag, usedMs);
  };
  let count = 0;
  let slices = 0;
  for await (const found of expiringTags(db, uid, { ...plan, expiredBy }, NOW_MS)) {
    count += found.length;
    slices += 1;
  }
  assert.equal(count, 240);
  assert.ok(matchedIn.size > slices, `${slices} slices were matched in ${matchedIn.size} turns`);
});
