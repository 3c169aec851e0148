import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openTaggedRepo, type TaggedRepo, unmet } from "../../../server/test/support/tagged-repo.ts";

const ABSENT = `sha256:${"ab".repeat(32)}`;
const at = (text: string): string => `2024-${text}.000Z`;

interface Given {
  tag: string;
  digest?: string;
  time: string;
}

describe("moves of tags that are imported", () => {
  let platform: Platform;
  let repo: TaggedRepo;
  let one: string, two: string, three: string;
  before(async () => {
    platform = await startPlatform();
    repo = await openTaggedRepo(platform, "imported");
    [one, two, three] = repo.digests;
  });
  after(() => platform.close());

  const send = async (moves: Given[], fields: object = {}, token?: string): Promise<Answer> =>
    platform.call("POST", `/registry/v2/tags/${repo.uid}:importMoves`, {
      token: token ?? (await platform.token()),
      body: { moves, ...fields },
    });
  const imported = async (moves: Given[], fields: object = {}): Promise<[number, number]> => {
    const { status, body } = await send(moves, fields);
    assert.equal(status, 200, JSON.stringify(body));
    return [Number(body["imported"] ?? 0), Number(body["kept"] ?? 0)];
  };
  const historyOf = async (tag: string, token?: string): Promise<Json[]> => {
    const { body } = await platform.call("GET", `/registry/v2/repos/${repo.uid}/tags/${tag}/moves`, {
      token: token ?? (await platform.token()),
    });
    return body["moves"] as Json[];
  };
  const times = async (tag: string): Promise<unknown[]> =>
    (await historyOf(tag)).map(({ time, digest }) => [time, digest]).toReversed();
  const wrong = ({ body }: Answer): unknown[] =>
    body.details.flatMap(({ fieldViolations = [] }) =>
      fieldViolations.map(({ field, description }) => [field, description]),
    );

  test("have the source's times, the reason import, who imported them and from where", async () => {
    const moves = [
      { tag: "1.0", digest: one, time: at("01-02T03:04:05") },
      { tag: "1.0", digest: two, time: at("02-02T03:04:05") },
      { tag: "2.0", digest: ABSENT, time: at("03-01T00:00:00") },
    ];
    assert.deepEqual(await imported(moves, { source: "registry.example.com/app" }), [3, 0]);
    const fields = { reason: "import", actor: platform.owner, source: "registry.example.com/app" };
    assert.deepEqual(await historyOf("1.0"), [
      { time: "2024-02-02T03:04:05.000Z", digest: two, previousDigest: one, ...fields },
      { time: "2024-01-02T03:04:05.000Z", digest: one, previousDigest: "", ...fields },
    ]);
    const tags = await repo.tags();
    assert.deepEqual([tags["1.0"], tags["2.0"]], [two, ABSENT]);
    const { tags: listed } = await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo.uid}&name=1.0`);
    assert.equal((listed as Json[])[0]?.["updateTime"], "2024-02-02T03:04:05.000Z");
    const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
    assert.deepEqual(
      (await historyOf("1.0", viewer)).map(({ actor, source }) => [actor, source]),
      [
        ["", ""],
        ["", ""],
      ],
    );
  });

  test("are added once, and later ones after them", async () => {
    const first = [
      { tag: "again", digest: one, time: at("01-01T00:00:00") },
      { tag: "again", digest: two, time: at("01-01T00:00:00") },
      { tag: "again", digest: three, time: at("01-01T00:00:00") },
    ];
    assert.deepEqual(await imported(first), [3, 0]);
    assert.deepEqual(await imported(first), [0, 3]);
    const more = [...first, { tag: "again", digest: one, time: at("01-02T00:00:00") }];
    assert.deepEqual(await imported(more), [1, 3]);
    assert.deepEqual(await times("again"), [
      ["2024-01-01T00:00:00.000Z", one],
      ["2024-01-01T00:00:00.001Z", two],
      ["2024-01-01T00:00:00.002Z", three],
      ["2024-01-02T00:00:00.000Z", one],
    ]);
  });

  test("may end in a deletion; what leads nowhere else is kept as it is", async () => {
    const moves = [
      { tag: "gone", time: at("01-01T00:00:00") },
      { tag: "gone", digest: one, time: at("01-02T00:00:00") },
      { tag: "gone", digest: one, time: at("01-03T00:00:00") },
      { tag: "gone", time: at("01-04T00:00:00") },
    ];
    assert.deepEqual(await imported(moves), [2, 2]);
    assert.equal((await repo.tags())["gone"], undefined);
    assert.deepEqual(await times("gone"), [
      ["2024-01-02T00:00:00.000Z", one],
      ["2024-01-04T00:00:00.000Z", ""],
    ]);
    assert.deepEqual(await imported([...moves, { tag: "gone", digest: two, time: at("01-05T00:00:00") }]), [1, 4]);
    assert.equal((await repo.tags())["gone"], two);
  });

  test("leave tags alone that were moved here", async () => {
    await repo.set("own", one);
    assert.deepEqual(await imported([{ tag: "own", digest: two, time: at("01-01T00:00:00") }]), [0, 1]);
    assert.equal((await repo.tags())["own"], one);
    await imported([{ tag: "moved", digest: one, time: at("01-01T00:00:00") }]);
    await repo.set("moved", two);
    assert.deepEqual(await imported([{ tag: "moved", digest: three, time: at("01-02T00:00:00") }]), [0, 1]);
    assert.deepEqual(
      (await historyOf("moved")).map(({ reason }) => reason),
      ["api", "import"],
    );
  });

  test("in the future, before 1970, out of order, of reserved names or to no digest are refused, each by its place", async () => {
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await send([
      { tag: "x", digest: one, time: ahead },
      { tag: "y", digest: one, time: "0001-01-01T00:00:00Z" },
      { tag: "z", digest: one, time: at("01-02T00:00:00") },
      { tag: "z", digest: two, time: at("01-01T00:00:00") },
      { tag: "a--at--20240101T000000Z", digest: one, time: at("01-01T00:00:00") },
    ]);
    assert.equal(answer.status, 400);
    assert.deepEqual(
      wrong(answer).map((each) => (each as unknown[])[0]),
      ["moves[0].time", "moves[1].time", "moves[3].time", "moves[4].tag"],
    );
    assert.equal((await send([{ tag: "x", digest: "sha256:1", time: at("01-01T00:00:00") }])).status, 400);
    assert.equal(
      (await send(Array.from({ length: 1_001 }, () => ({ tag: "x", time: at("01-01T00:00:00") })))).status,
      400,
    );
    assert.equal((await send([{ tag: "x", digest: one, time: "" }])).status, 400);
    const tags = await repo.tags();
    for (const tag of ["x", "y", "z"]) assert.equal(tags[tag], undefined);
  });

  test("need tag.import, which editors do not have", async () => {
    const editor = await platform.token(await platform.identity(platform.organization, "editor"));
    const { status, body } = await send([{ tag: "e", digest: one, time: at("01-01T00:00:00") }], {}, editor);
    assert.equal(status, 403);
    assert.match(JSON.stringify(body), /CAP_TAG_IMPORT/);
  });

  test("of a check change nothing", async () => {
    assert.deepEqual(
      await imported([{ tag: "dry", digest: one, time: at("01-01T00:00:00") }], { validateOnly: true }),
      [1, 0],
    );
    assert.equal((await repo.tags())["dry"], undefined);
    assert.deepEqual(await historyOf("dry"), []);
  });

  test("count for quotas of tags, as many as there are", async () => {
    const group = await platform.group(platform.organization, { name: "narrow" });
    const inside = await platform.repo(group.uid, { name: "app" });
    await platform.ok("POST", `/registry/v2/quotas/${group.uid}`, { tags: 2 });
    const token = await platform.token();
    const moves = ["a", "b", "c"].map((tag) => ({ tag, digest: ABSENT, time: at("01-01T00:00:00") }));
    const path = `/registry/v2/tags/${inside.uid}:importMoves`;
    const refused = await platform.call("POST", path, { token, body: { moves } });
    assert.equal(refused.status, 400);
    assert.deepEqual(
      unmet(refused).map((each) => each.split(" ")[0]),
      ["QUOTA_EXCEEDED"],
    );
    const fits = await platform.call("POST", path, { token, body: { moves: moves.slice(0, 2) } });
    assert.equal(fits.status, 200);
  });
});
