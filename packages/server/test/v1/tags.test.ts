import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Registry } from "@moorage/api/v1/registry";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type Answer, blamed, DIGEST, type Json, type Platform, startPlatform } from "../support/platform.ts";
import { both } from "../support/rest-and-grpc.ts";

const { createTag, deleteTag, getRepoTagsSummary, listTagHistory, listTags, updateTag } = Registry.method;
const digestOf = (letter: string): string => `sha256:${letter.repeat(64)}`;
const MANY = 2_500;
const MOVES = 1_200;

describe("tags by v1", () => {
  let platform: Platform;
  let token = "";
  before(async () => {
    platform = await startPlatform();
    token = await platform.token();
  });
  after(() => platform.close());

  /** A new repo. */
  const repoOf = async (name: string): Promise<string> => (await platform.repo(platform.organization, { name })).uid;
  const items = async (query: string): Promise<Json[]> =>
    ((await platform.ok("GET", `/registry/v1/tags?${query}`))["items"] ?? []) as Json[];
  const names = async (query: string): Promise<string[]> => (await items(query)).map(({ name }) => name);
  const asked = <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<Answer> => both(platform, method, request, token);

  test("what v1 writes v2 reads, and the other way round, for every field", async () => {
    const repo = await repoOf("whole");
    const fields = { name: "1.0", digest: DIGEST, deprecated: true, bundles: ["base", "web"] };
    const made = await platform.ok("POST", `/registry/v1/tags/${repo}`, fields);
    const { id, lastUpdated } = made;
    assert.deepEqual(made, { id, ...fields, lastUpdated });
    assert.deepEqual(await platform.ok("GET", `/registry/v2/tags/${String(id)}`), {
      uid: id,
      ...fields,
      updateTime: lastUpdated,
    });
    const { uid, updateTime } = await platform.tag(repo, { ...fields, name: "2.0" });
    assert.deepEqual(await items(`id=${uid}`), [{ id: uid, ...fields, name: "2.0", lastUpdated: updateTime }]);
  });

  test("PUT replaces the whole tag, and does not rename it", async () => {
    const repo = await repoOf("replaced");
    const { uid } = await platform.tag(repo, { name: "1.0", deprecated: true, bundles: ["one"] });
    const put = (body: object): Promise<Answer> => platform.call("PUT", `/registry/v1/tags/${uid}`, { token, body });
    const cleared = await put({ name: "1.0", digest: DIGEST, lastUpdated: "2001-01-01T00:00:00Z" });
    const { lastUpdated } = cleared.body;
    assert.deepEqual(cleared.body, { id: uid, name: "1.0", digest: DIGEST, lastUpdated });
    assert.notEqual(lastUpdated, "2001-01-01T00:00:00Z");
    const moved = (await put({ name: "1.0", digest: digestOf("b") })).body;
    assert.deepEqual([moved["id"], moved["digest"]], [uid, digestOf("b")]);
    assert.deepEqual(blamed(await put({ name: "2.0", digest: DIGEST })), ["name"]);
    assert.deepEqual(blamed(await put({ digest: DIGEST })), ["name"]);
    // Without a digest it stays where it is, and nothing is in its history.
    const kept = await put({ name: "1.0", deprecated: true });
    assert.deepEqual([kept.body["digest"], kept.body["deprecated"]], [digestOf("b"), true]);
    const byGrpc = await asked(updateTag, { id: uid, name: "1.0", bundles: ["two"] });
    assert.deepEqual([byGrpc.body["digest"], byGrpc.body["deprecated"] ?? false], [digestOf("b"), false]);
    assert.equal(((await platform.ok("GET", `/registry/v1/tags/${uid}/history`))["items"] as Json[]).length, 2);
    assert.deepEqual(blamed(await put({ name: "1.0", digest: "wrong" })), ["digest"]);
    assert.equal((await platform.ok("GET", `/registry/v2/tags/${uid}`))["digest"], digestOf("b"));
  });

  test("a tag is deleted; one that is not there is not found", async () => {
    const repo = await repoOf("gone");
    const { uid: id } = await platform.tag(repo, { name: "gone" });
    assert.equal((await platform.call("DELETE", `/registry/v1/tags/${id}`, { token })).text, "");
    assert.equal((await asked(deleteTag, { id })).status, 404);
    assert.equal((await asked(updateTag, { id, name: "gone", digest: DIGEST })).status, 404);
    assert.equal((await asked(createTag, { repoId: id, tag: { name: "x", digest: DIGEST } })).status, 404);
    assert.deepEqual((await asked(listTags, { id })).text, "{}");
    const wrong = await asked(createTag, { repoId: repo, tag: { name: "not a tag" } });
    assert.deepEqual(blamed(wrong).toSorted(), ["digest", "name"]);
  });

  test("a tag that is deleted while it is replaced is not made again", async () => {
    const repo = await repoOf("raced");
    for (let round = 0; round < 20; round++) {
      const { uid } = await platform.tag(repo, { name: "raced" });
      const body = { name: "raced", digest: digestOf("c") };
      // Some of these find the tag, and would write it when it is gone.
      const replace = (): Promise<Answer> => platform.call("PUT", `/registry/v1/tags/${uid}`, { token, body });
      const [removed, ...replaced] = await Promise.all([
        platform.call("DELETE", `/registry/v1/tags/${uid}`, { token }),
        ...Array.from({ length: 8 }, replace),
      ]);
      assert.equal(removed?.status, 200, removed?.text);
      for (const { status, text } of replaced) assert.ok([200, 404].includes(status), text);
      assert.deepEqual(await items(`uidp.childrenOf=${repo}`), []);
    }
  });

  test("lists are filtered by place, name, digest, time and id", async () => {
    const repo = await repoOf("listed");
    const other = await repoOf("listed-too");
    const one = await platform.tag(repo, { name: "one" });
    const two = await platform.tag(repo, { name: "two", digest: digestOf("d") });
    const three = await platform.tag(other, { name: "one", digest: digestOf("d") });
    const times = [one, two, three].map(({ updateTime }) => updateTime);
    const ids = async (query: string): Promise<unknown[]> => (await items(query)).map((each) => each["id"]);
    const mine = `uidp.ids=${one.uid}&uidp.ids=${two.uid}&uidp.ids=${three.uid}`;
    assert.deepEqual((await ids(mine)).toSorted(), [one.uid, two.uid, three.uid].toSorted());
    assert.deepEqual(await ids(`uidp.childrenOf=${repo}`), [one.uid, two.uid]);
    assert.deepEqual(await ids(`uidp.descendantsOf=${other}`), [three.uid]);
    assert.deepEqual(await ids(`uidp.childrenOf=${repo}&name=one`), [one.uid]);
    assert.deepEqual(await ids(`uidp.childrenOf=${repo}&digest=${digestOf("d")}`), [two.uid]);
    assert.deepEqual(await ids(`${mine}&id=${two.uid}`), [two.uid]);
    assert.deepEqual(await ids(`uidp.ids=${one.uid}&id=${two.uid}`), []);
    assert.deepEqual(await ids("uidp.inRoot=true"), []);
    const since = times[2] ?? "";
    const expected = [one, two, three].filter(({ updateTime }) => Date.parse(updateTime) >= Date.parse(since));
    assert.deepEqual(
      (await ids(`${mine}&updatedSince=${since}`)).toSorted(),
      expected.map(({ uid }) => uid).toSorted(),
    );
    const later = new Date(Date.parse(since) + 1).toISOString();
    assert.deepEqual(await platform.ok("GET", `/registry/v1/tags?${mine}&updated_since=${later}`), {});
  });

  test("tags of referrers, dates and epochs are left out on request", async () => {
    const repo = await repoOf("excluded");
    const all = ["1.0", "1.0-20260131", "1.0-r3", "1.0-r3-20260131", `sha256-${"a".repeat(64)}.sig`];
    // Each looks like one that is left out.
    const near = ["1.0-19991231", "1.0-202601311", "1.0-rc3", "asha256-b", "r3"];
    for (const name of [...all, ...near]) await platform.tag(repo, { name });
    const left = async (query: string): Promise<string[]> => {
      const found = await names(`uidp.childrenOf=${repo}${query}`);
      return all.filter((name) => !found.includes(name));
    };
    const [, date = "", epoch = "", dated = "", referrer = ""] = all;
    assert.deepEqual(await left(""), []);
    assert.deepEqual(await left("&excludeReferrers=true"), [referrer]);
    assert.deepEqual(await left("&excludeDates=true"), [date, dated]);
    assert.deepEqual(await left("&exclude_epochs=true"), [epoch]);
    const none = "&excludeReferrers=true&excludeDates=true&excludeEpochs=true";
    assert.deepEqual((await names(`uidp.childrenOf=${repo}${none}`)).toSorted(), ["1.0", ...near].toSorted());
    const summary = (which: object): Promise<Answer> => asked(getRepoTagsSummary, { repoId: repo, ...which });
    assert.equal((await summary({})).body["tagCount"], "10");
    assert.equal((await summary({ excludeReferrers: true })).body["tagCount"], "9");
    assert.equal((await summary({ excludeDates: true })).body["tagCount"], "8");
    assert.equal((await summary({ excludeEpochs: true })).body["tagCount"], "9");
  });

  test("a list of v2 leaves them out as well where it is asked to, and counts what it has", async () => {
    const repo = await repoOf("left-out");
    const all = [
      "1.0",
      "1.0-20260131",
      "1.0-r3",
      "1.0-r3-20260131",
      "20260131",
      "a-19991231",
      "a-2026013",
      "a-202601311",
      "r3",
      "sha256-abc.sig",
      "v-R3",
      "x-r",
      "x-r12345678",
    ];
    for (const name of all) await platform.tag(repo, { name });
    const listing = async (query: string): Promise<[string[], string]> => {
      const { tags, totalCount } = await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo}${query}`);
      return [(tags as Json[]).map(({ name }) => name), totalCount];
    };
    const without = (pattern: RegExp): [string[], string] => {
      const left = all.filter((name) => !pattern.test(name));
      return [left, String(left.length)];
    };
    assert.deepEqual(await listing(""), without(/^$/));
    assert.deepEqual(await listing("&include_dates=true&includeEpochs=true&include_referrers=true"), without(/^$/));
    assert.deepEqual(await listing("&include_referrers=false"), without(/^sha256-/));
    assert.deepEqual(await listing("&includeDates=false"), without(/-20\d{6}$/));
    assert.deepEqual(await listing("&include_epochs=false"), without(/-r\d+$/));
    assert.deepEqual(await listing("&include_epochs=false&include_dates=false"), without(/-20\d{6}$|-r\d+$/));
    const page = await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo}&include_dates=false&page_size=1`);
    const more = `/registry/v2/tags?page_token=${page.nextPageToken}`;
    assert.equal((await platform.ok("GET", more)).totalCount, String(all.length - 2), "the filter of the token");
  });

  test("a summary has the number, the tag that moved last, and the highest version", async () => {
    const repo = await repoOf("summed");
    const summary = async (): Promise<Json> => (await asked(getRepoTagsSummary, { repoId: repo })).body;
    assert.deepEqual(await summary(), { id: repo });
    const inOrder = ["edge", "1.9", "v1.10.0-rc.1", "1.10", "1.10.0-r9", "1.10.0-r10", "1.10.0-r10-20260131"];
    for (const [at, name] of inOrder.entries()) {
      await platform.tag(repo, { name });
      const { tagCount, latestVersion } = await summary();
      assert.deepEqual([tagCount, latestVersion ?? ""], [String(at + 1), name === "edge" ? "" : name]);
    }
    for (const name of ["latest", "1.10.0", "v0.9", "1.9.9-r99"]) await platform.tag(repo, { name });
    // The clock goes on, so that this move is the last one.
    platform.clock.offsetMs += 1_000;
    token = await platform.token();
    const { uid: id, updateTime } = await platform.tag(repo, { name: "edge", digest: digestOf("e") });
    assert.deepEqual(await summary(), {
      id: repo,
      tagCount: "11",
      lastUpdated: updateTime,
      latestTag: { id, name: "edge", digest: digestOf("e"), lastUpdated: updateTime },
      latestVersion: "1.10.0-r10-20260131",
    });
    assert.equal(
      (await asked(getRepoTagsSummary, { repoId: `${platform.organization}/0123456789abcdef` })).status,
      404,
    );
  });

  test("the history of a tag has all moves in a window, oldest first", async () => {
    const repo = await repoOf("moved");
    const { uid: parentId } = await platform.tag(repo, { name: "moved" });
    for (const letter of ["b", "c", "c", "d"]) await platform.tag(repo, { name: "moved", digest: digestOf(letter) });
    const history = async (window: { start?: Date; end?: Date } = {}): Promise<[string, string][]> => {
      const { body } = await asked(listTagHistory, {
        parentId,
        ...(window.start && { start: timestampFromDate(window.start) }),
        ...(window.end && { end: timestampFromDate(window.end) }),
      });
      const found = (body["items"] ?? []) as { updateTimestamp: string; digest: string }[];
      return found.map(({ updateTimestamp, digest }) => [updateTimestamp, digest]);
    };
    const all = await history();
    assert.deepEqual(
      all.map(([, digest]) => digest),
      ["a", "b", "c", "d"].map(digestOf),
    );
    const times = all.map(([time]) => new Date(time));
    const [, second = new Date(), third = new Date(), fourth = new Date()] = times;
    assert.deepEqual(await history({ start: second, end: third }), all.slice(1, 3));
    assert.deepEqual(await history({ start: third }), all.slice(2));
    assert.deepEqual(await history({ end: second }), all.slice(0, 2));
    assert.deepEqual(await history({ start: new Date(fourth.getTime() + 1) }), []);
    const wrong = await asked(listTagHistory, {
      parentId,
      start: timestampFromDate(third),
      end: timestampFromDate(second),
    });
    assert.deepEqual(blamed(wrong), ["end"]);
    await platform.ok("DELETE", `/registry/v1/tags/${parentId}`);
    assert.equal((await asked(listTagHistory, { parentId })).status, 404);
    // The history of the name goes on with the next tag that has it.
    const again = await platform.tag(repo, { name: "moved" });
    const { body } = await asked(listTagHistory, { parentId: again.uid });
    assert.equal((body["items"] as unknown[]).length, 5);
  });

  test(`${MANY} tags and ${MOVES} moves come whole`, async () => {
    const repo = await repoOf("many");
    const rows = Array.from({ length: MANY }, (_, at) => ({
      uid: newUid(repo),
      parent: repo,
      name: `many-${at}`,
      digest: DIGEST,
      deprecated: 0,
      bundles: "[]",
      create_time: at,
      update_time: at,
    }));
    const moves = Array.from({ length: MOVES }, (_, at) => ({
      repo,
      tag: "many-0",
      time: at + 1,
      digest: digestOf(at % 2 === 0 ? "a" : "b"),
      actor: "",
      reason: "api",
    }));
    await platform.transact(async (tx) => {
      for (let at = 0; at < MANY; at += 250)
        await tx
          .insertInto("tags")
          .values(rows.slice(at, at + 250))
          .execute();
      for (let at = 0; at < MOVES; at += 250)
        await tx
          .insertInto("tag_history")
          .values(moves.slice(at, at + 250))
          .execute();
    });
    const sorted = rows.map(({ name }) => name).toSorted();
    const found = (await asked(listTags, { uidp: { childrenOf: repo } })).body["items"] as Json[];
    assert.deepEqual(found.map(({ name }) => name).toSorted(), sorted);
    const { tagCount, latestTag } = (await asked(getRepoTagsSummary, { repoId: repo })).body;
    assert.deepEqual([tagCount, (latestTag as Json).name], [String(MANY), `many-${MANY - 1}`]);
    const history = (await asked(listTagHistory, { parentId: rows[0]?.uid ?? "" })).body["items"] as Json[];
    assert.equal(history.length, MOVES);
    assert.equal(history.at(-1)?.["updateTimestamp"], new Date(MOVES).toISOString());
    // Most pages have none that is wanted.
    const last = await names(`uidp.childrenOf=${repo}&updatedSince=${new Date(MANY - 2).toISOString()}`);
    assert.deepEqual(last.toSorted(), [`many-${MANY - 2}`, `many-${MANY - 1}`]);
  });

  test("no token, a stranger, a viewer, one who may only update, and an owner", async () => {
    const { uid: group } = await platform.group(platform.organization, { name: "guarded" });
    const { uid: repo } = await platform.repo(group, { name: "guarded" });
    const { uid: id } = await platform.tag(repo, { name: "guarded" });
    const { uid: elsewhere } = await platform.group(platform.organization, { name: "other-team" });
    const updater = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
      name: "updater",
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_TAG_UPDATE"],
    });
    const other = await platform.identity(group);
    await platform.bind(group, other, updater.uid);
    const tokens = [
      undefined,
      await platform.token(await platform.identity(elsewhere, "owner")),
      await platform.token(await platform.identity(group, "viewer")),
      await platform.token(other),
    ];
    const statuses = async <I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      request: MessageInitShape<I>,
    ): Promise<number[]> => {
      const found: number[] = [];
      for (const each of tokens) found.push((await both(platform, method, request, each)).status);
      return found;
    };
    const tag = { name: "guarded", digest: digestOf("f") };
    assert.deepEqual(await statuses(createTag, { repoId: repo, tag: { ...tag, name: "new" } }), [401, 404, 403, 403]);
    assert.deepEqual(await statuses(updateTag, { id, ...tag }), [401, 404, 403, 200]);
    assert.deepEqual(await statuses(deleteTag, { id }), [401, 404, 403, 403]);
    assert.deepEqual(await statuses(listTags, { id }), [401, 200, 200, 200]);
    assert.deepEqual(await statuses(getRepoTagsSummary, { repoId: repo }), [401, 404, 200, 200]);
    assert.deepEqual(await statuses(listTagHistory, { parentId: id }), [401, 404, 200, 200]);
    assert.equal((await both(platform, listTags, { id }, tokens[1])).text, "{}");
    // To replace a tag takes the right to update tags, even where it does not move.
    const maker = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
      name: "maker",
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_TAG_CREATE"],
    });
    const identity = await platform.identity(group);
    await platform.bind(group, identity, maker.uid);
    assert.equal((await both(platform, updateTag, { id, ...tag }, await platform.token(identity))).status, 403);
  });
});
