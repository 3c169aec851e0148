import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openTaggedRepo, type TaggedRepo } from "../../../server/test/support/tagged-repo.ts";

interface Move {
  time: string;
  digest: string;
  previousDigest: string;
  reason: string;
  actor: string;
}
interface Page extends Json {
  moves: Move[];
  nextPageToken: string;
}

describe("the moves of a tag", () => {
  let platform: Platform;
  let repo: TaggedRepo;
  before(async () => {
    platform = await startPlatform();
    repo = await openTaggedRepo(platform, "moved");
    const [one, , three] = repo.digests;
    await repo.push("1.0", 0);
    await repo.push("1.0", 1);
    await repo.promote([{ name: "1.0", digest: three }]);
    await repo.rollback([{ name: "1.0", digest: one }]);
    await repo.drop("1.0");
    await repo.set("1.0", three);
  });
  after(() => platform.close());

  const pathOf = (tag: string, query = ""): string => `/registry/v2/repos/${repo.uid}/tags/${tag}/moves${query}`;
  const list = (query = ""): Promise<Page> => platform.ok<Page>("GET", pathOf("1.0", query));

  test("are listed newest first, with what the tag pointed to before, why and by whom", async () => {
    const [one, two, three] = repo.digests;
    const { moves, nextPageToken } = await list();
    assert.deepEqual(
      moves.map(({ reason, digest, previousDigest }) => [reason, digest, previousDigest]),
      [
        ["api", three, ""],
        ["delete", "", one],
        ["rollback", one, three],
        ["promote", three, two],
        ["push", two, one],
        ["push", one, ""],
      ],
    );
    assert.deepEqual([...new Set(moves.map(({ actor }) => actor))], [platform.owner]);
    assert.equal(nextPageToken, "");
    const times = moves.map(({ time }) => Date.parse(time));
    assert.deepEqual(
      times.toSorted((left, right) => right - left),
      times,
    );
  });

  test("are paged: no move is left out or repeated, and each page knows what was before its last move", async () => {
    const whole = (await list()).moves;
    const found: Move[] = [];
    for (let token = "", more = true; more; more = token !== "") {
      const page = await list(`?page_size=2&page_token=${token}`);
      assert.ok(page.moves.length <= 2);
      found.push(...page.moves);
      token = page.nextPageToken;
    }
    assert.deepEqual(found, whole);
  });

  test("are limited to a window: since belongs to it, before does not", async () => {
    const { moves } = await list();
    const [newest, , third, , fifth] = moves;
    const query = `?since=${fifth?.time}&before=${newest?.time}&page_size=3`;
    const first = await list(query);
    const second = await list(`${query}&page_token=${first.nextPageToken}`);
    assert.deepEqual([...first.moves, ...second.moves], moves.slice(1, 5));
    assert.equal(second.nextPageToken, "");
    assert.deepEqual((await list(`?since=${third?.time}&before=${third?.time}`)).moves, []);
  });

  test("of a tag that never was there are none; of an unknown repo NOT_FOUND", async () => {
    assert.deepEqual((await platform.ok<Page>("GET", pathOf("2.0"))).moves, []);
    const other = repo.uid.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const unknown = await platform.call("GET", `/registry/v2/repos/${other}/tags/1.0/moves`, {
      token: await platform.token(),
    });
    assert.equal(unknown.status, 404);
  });

  test("name the actor to those alone who may list events there", async () => {
    const token = await platform.token(await platform.identity(platform.organization, "viewer"));
    const { body, status } = await platform.call("GET", pathOf("1.0"), { token });
    assert.equal(status, 200);
    const seen = (body as unknown as Page).moves;
    assert.deepEqual([seen.length, ...new Set(seen.map(({ actor }) => actor))], [6, ""]);
  });

  test("that the server makes by itself have no actor", async () => {
    await platform.transact(async (tx) => {
      await tx
        .insertInto("tag_history")
        .values({
          repo: repo.uid,
          tag: "old",
          time: 1_000,
          digest: repo.digests[0],
          actor: platform.owner,
          reason: "mirror",
        })
        .execute();
      await tx
        .insertInto("tag_history")
        .values({ repo: repo.uid, tag: "old", time: 2_000, digest: "", actor: platform.owner, reason: "retention" })
        .execute();
    });
    const { moves } = await platform.ok<Page>("GET", pathOf("old"));
    assert.deepEqual(
      moves.map(({ reason, actor }) => [reason, actor]),
      [
        ["retention", ""],
        ["mirror", ""],
      ],
    );
  });

  test("are refused with the field that is wrong", async () => {
    const token = await platform.token();
    const fieldsOf = async (path: string): Promise<unknown[]> => {
      const answer: Answer = await platform.call("GET", path, { token });
      assert.equal(answer.status, 400);
      return answer.body.details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
    };
    const { nextPageToken } = await list("?page_size=2");
    assert.deepEqual(await fieldsOf(pathOf("1.0", "?page_size=-1")), ["page_size"]);
    assert.deepEqual(await fieldsOf(pathOf("1.0", "?page_token=x")), ["page_token"]);
    assert.deepEqual(await fieldsOf(pathOf("2.0", `?page_token=${nextPageToken}`)), ["page_token"]);
    assert.deepEqual(await fieldsOf(pathOf("-no")), ["tag"]);
    assert.deepEqual(await fieldsOf(pathOf("1.0", "?since=yesterday")), ["since"]);
  });
});
