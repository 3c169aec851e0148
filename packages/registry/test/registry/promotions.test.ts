import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TagsService } from "@moorage/api";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openTaggedRepo, type TaggedRepo, unmet } from "../../../server/test/support/tagged-repo.ts";

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
});
after(() => platform.close());

const ABSENT = `sha256:${"0".repeat(64)}`;
const tagsOf = ({ body }: Answer): [name: string, digest: unknown][] =>
  (body["tags"] as Json[]).map(({ name, digest }) => [name, digest]);
const recordsOf = async (image: string, tag: string): Promise<{ digest: string; updateTimestamp: string }[]> => {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const { body } = await platform.call("GET", `/v2/acme/${image}/_service/history/${tag}`, { token });
  return body["history"] as { digest: string; updateTimestamp: string }[];
};
const historyOf = async (image: string, tag: string): Promise<string[]> =>
  (await recordsOf(image, tag)).map(({ digest }) => digest);

test("every invalid field is named", async () => {
  const {
    uid,
    promote,
    rollback,
    digests: [one],
  } = await openTaggedRepo(platform, "fields");
  assert.deepEqual(blamed(await promote([])), ["promotions"]);
  const promotions = [
    { name: "a", digest: one },
    { name: "a", fromTag: "b" },
    { name: "c" },
    { name: "d", digest: one, fromTag: "a" },
    { name: "-e", digest: "x" },
    { digest: one },
    { name: "f", fromTag: "/", expectedDigest: "x" },
  ];
  assert.deepEqual(blamed(await promote(promotions)).sort(), [
    "promotions[1].name",
    "promotions[2].digest",
    "promotions[3].fromTag",
    "promotions[4].digest",
    "promotions[4].name",
    "promotions[5].name",
    "promotions[6].expectedDigest",
    "promotions[6].fromTag",
  ]);
  const many = Array.from({ length: 101 }, (_, at) => ({ name: `t${at}`, digest: one }));
  assert.deepEqual(blamed(await promote(many)), ["promotions"]);
  assert.equal((await promote(many.slice(1))).status, 200);
  const time = "2026-07-04T09:30:15Z";
  assert.deepEqual(blamed(await rollback([{ name: "a" }, { name: "a", time }, { name: "b", time, digest: one }])), [
    "rollbacks[1].name",
    "rollbacks[2].time",
  ]);
  const far = { repoUid: uid, rollbacks: [{ name: "a", time: { seconds: 1n << 60n, nanos: 0 } }] };
  const { error } = await platform.grpc.call(TagsService.method.rollbackTags, far, await platform.token());
  assert.match(JSON.stringify(error), /rollbacks\[0\]\.time: must lie in the years 1 to 9999/);
});

test("tags are promoted together, in the requested order, and their history records it", async () => {
  const {
    uid,
    promote,
    set,
    tags,
    digests: [one, two, three],
  } = await openTaggedRepo(platform, "together");
  await set("staging", two);
  await set("stable", one);
  const answer = await promote([
    { name: "z", digest: three },
    { name: "stable", fromTag: "staging" },
    { name: "a", fromTag: "stable", expectedDigest: "" },
  ]);
  assert.deepEqual(
    [answer.status, tagsOf(answer)],
    [
      200,
      [
        ["z", three],
        ["stable", two],
        ["a", one],
      ],
    ],
    answer.text,
  );
  assert.deepEqual(await tags(), { a: one, staging: two, stable: two, z: three });
  for (const tag of answer.body["tags"] as Json[])
    assert.deepEqual(tag, await platform.ok("GET", `/registry/v2/tags/${tag.uid}`));
  assert.deepEqual(await historyOf("together", "stable"), [one, two]);
  // A promotion to the digest that the tag has adds no record.
  assert.equal((await promote([{ name: "stable", fromTag: "staging" }])).status, 200);
  assert.deepEqual(await historyOf("together", "stable"), [one, two]);
  assert.equal((await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${uid}`)).totalCount, "4");
});

test("two tags are swapped", async () => {
  const {
    promote,
    set,
    tags,
    digests: [one, two],
  } = await openTaggedRepo(platform, "swap");
  await set("blue", one);
  await set("green", two);
  assert.equal(
    (
      await promote([
        { name: "blue", fromTag: "green", expectedDigest: one },
        { name: "green", fromTag: "blue", expectedDigest: two },
      ])
    ).status,
    200,
  );
  assert.deepEqual(await tags(), { blue: two, green: one });
});

test("a tag without its expected digest is a conflict, and no tag moves", async () => {
  const {
    promote,
    rollback,
    set,
    tags,
    digests: [one, two, three],
  } = await openTaggedRepo(platform, "conflict");
  await set("a", one);
  await set("b", two);
  const before = await tags();
  const conflict = async (answer: Answer, metadata: object): Promise<void> => {
    const [info] = answer.body.details;
    assert.deepEqual(
      [answer.status, answer.body.code, info?.reason, info?.metadata],
      [409, 10, "ABORTED", metadata],
      answer.text,
    );
    assert.deepEqual(await tags(), before);
  };
  const asked = [
    ["a", one],
    ["b", one],
    ["c", two],
  ].map(([name, expectedDigest]) => ({ name, digest: three, expectedDigest }));
  await conflict(await promote(asked), { tag: "b", expected: one, actual: two, conflicts: "b,c" });
  const made = await promote([{ name: "b", digest: ABSENT, expectedDigest: "" }]);
  await conflict(made, { tag: "b", expected: "", actual: two, conflicts: "b" });
  assert.equal(made.body.message, `Aborted: tag b points to ${two}, and was expected not to be there`);
  const gone = await rollback([{ name: "c", expectedDigest: one }]);
  await conflict(gone, { tag: "c", expected: one, actual: "", conflicts: "c" });
  assert.equal(gone.body.message, `Aborted: tag c is not there, and was expected to point to ${one}`);
  const fine = await promote([
    { name: "a", digest: three, expectedDigest: one },
    { name: "c", digest: three, expectedDigest: "" },
  ]);
  assert.deepEqual([fine.status, await tags()], [200, { a: three, b: two, c: three }]);
});

test("a promotion needs stored manifests and existing tags, and names all that are missing", async () => {
  const {
    promote,
    set,
    tags,
    digests: [one],
  } = await openTaggedRepo(platform, "missing");
  await set("empty", ABSENT);
  const answer = await promote([
    { name: "a", digest: one },
    { name: "b", fromTag: "empty" },
    { name: "c", digest: ABSENT },
  ]);
  assert.deepEqual([answer.status, unmet(answer)], [400, [`MANIFEST_MISSING ${ABSENT}`, `MANIFEST_MISSING ${ABSENT}`]]);
  assert.deepEqual(
    unmet(
      await promote([
        { name: "a", digest: one },
        { name: "b", fromTag: "nowhere" },
      ]),
    ),
    ["TAG_MISSING nowhere"],
  );
  assert.deepEqual(await tags(), { empty: ABSENT });
});

test("a promotion to a new tag needs the right to create tags", async () => {
  const {
    uid,
    promote,
    set,
    digests: [one, two],
  } = await openTaggedRepo(platform, "rights");
  await set("old", one);
  const identity = await platform.identity(platform.organization);
  const capabilities = ["CAP_TAG_UPDATE", "CAP_TAG_LIST", "CAP_REPO_LIST"];
  const { uid: role } = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "mover",
    capabilities,
  });
  await platform.bind(platform.organization, identity, role);
  const token = await platform.token(identity);
  assert.equal((await promote([{ name: "old", digest: two }], { token })).status, 200);
  const answer = await promote(
    [
      { name: "old", digest: one },
      { name: "new", digest: one, expectedDigest: two },
    ],
    { token },
  );
  assert.deepEqual([answer.status, answer.body.details[0]?.metadata], [403, { missing: "CAP_TAG_CREATE" }]);
  assert.equal(
    (await platform.call("POST", `/registry/v2/tags/${uid}`, { token, body: { name: "new", digest: one } })).status,
    403,
  );
});

test("with validate_only a promotion is answered or rejected as usual, and changes nothing", async () => {
  const {
    promote,
    rollback,
    set,
    tags,
    change,
    digests: [one, two],
  } = await openTaggedRepo(platform, "validated");
  await set("a", one);
  const validateOnly = true;
  const would = await promote(
    [
      { name: "a", digest: two },
      { name: "new", digest: one },
    ],
    { validateOnly },
  );
  assert.deepEqual(
    [would.status, tagsOf(would)],
    [
      200,
      [
        ["a", two],
        ["new", one],
      ],
    ],
  );
  const [known, made] = (would.body["tags"] as Json[]).map(({ uid }) => uid);
  assert.equal((await platform.ok("GET", `/registry/v2/tags/${known}`)).name, "a");
  const example = await platform.call("GET", `/registry/v2/tags/${made}`, { token: await platform.token() });
  assert.equal(example.status, 404);
  assert.equal((await promote([{ name: "a", digest: two, expectedDigest: two }], { validateOnly })).status, 409);
  assert.equal((await promote([{ name: "a", digest: ABSENT }], { validateOnly })).status, 400);
  await set("a", two);
  assert.deepEqual(tagsOf(await rollback([{ name: "a" }], { validateOnly })), [["a", one]]);
  await change({ immutableTags: ["a"] });
  assert.deepEqual(unmet(await promote([{ name: "a", digest: one }], { validateOnly })), ["TAG_IMMUTABLE a"]);
  assert.deepEqual([await tags(), await historyOf("validated", "a")], [{ a: two }, [one, two]]);
});

test("tags are rolled back to the digest before, to a digest of their history, or to a time", async () => {
  const {
    promote,
    rollback,
    set,
    drop,
    remove,
    digests: [one, two, three],
  } = await openTaggedRepo(platform, "back");
  const start = platform.clock.nowMs();
  const at = (seconds: number, ms = 0): string => new Date(start + seconds * 1000 + ms).toISOString();
  const move = async (seconds: number, work: () => Promise<Answer>): Promise<unknown> => {
    platform.clock.offsetMs = start + seconds * 1000 - Date.now();
    const answer = await work();
    return answer.status === 200 && answer.body["tags"] !== undefined
      ? tagsOf(answer)[0]?.[1]
      : answer.status === 200
        ? "done"
        : unmet(answer);
  };
  const back =
    (rollback_: object): (() => Promise<Answer>) =>
    () =>
      rollback([{ name: "a", ...rollback_ }]);
  try {
    assert.deepEqual(await move(10, back({})), ["NOT_IN_HISTORY a"], "the tag never existed");
    await move(20, () => set("a", one));
    assert.deepEqual(await move(30, back({})), ["NOT_IN_HISTORY a"], "there is no digest before");
    await move(40, () => set("a", two));
    assert.equal(await move(50, back({})), one);
    assert.equal(await move(60, back({})), two, "a rollback is rolled back");
    await move(70, () => promote([{ name: "a", digest: three }]));
    assert.equal(await move(80, back({ digest: one })), one);
    assert.deepEqual(await move(90, back({ digest: ABSENT })), ["NOT_IN_HISTORY a"]);
    await move(100, () => drop("a"));
    assert.equal(await move(110, back({})), one, "a deleted tag goes back to its last digest");
    assert.equal(await move(120, back({})), three, "another rollback goes to the digest before that");
    for (const [time, digest] of [
      [at(45), two],
      [at(55), one],
      [at(99), one],
      [at(1000), one],
    ] as const)
      assert.equal(await move(130, back({ time })), digest, time);
    for (const time of [at(19), at(105), "0001-01-01T00:00:00Z"])
      assert.deepEqual(await move(140, back({ time })), ["NOT_IN_HISTORY a"], time);
    // Exact to the millisecond: at the time of a record the tag has its digest, one millisecond earlier the digest
    // before.
    const recordMs = Date.parse((await recordsOf("back", "a"))[1]?.updateTimestamp ?? "");
    assert.equal(await move(150, back({ time: new Date(recordMs).toISOString() })), two);
    assert.equal(await move(160, back({ time: new Date(recordMs - 1).toISOString().replace("Z", "999999Z") })), one);
    platform.clock.offsetMs = 0;
    assert.equal((await remove(two)).status, 202);
    assert.deepEqual(await move(170, back({ digest: two })), [`MANIFEST_MISSING ${two}`]);
    assert.deepEqual(await move(180, () => rollback([{ name: "a", digest: three }, { name: "none" }])), [
      "NOT_IN_HISTORY none",
    ]);
    assert.equal((await historyOf("back", "a")).at(-1), one, "all or none");
  } finally {
    platform.clock.offsetMs = 0;
  }
});

test("of concurrent promotions that expect the same digest, exactly one succeeds", { timeout: 300_000 }, async () => {
  const ROUNDS = 5;
  const RIVALS = 8;
  const repo: TaggedRepo = await openTaggedRepo(platform, "rivals");
  const {
    promote,
    tags,
    digests: [one, two, three],
  } = repo;
  const names = ["x", "y"];
  let expected = one;
  assert.equal((await promote(names.map((name) => ({ name, digest: one })))).status, 200);
  for (let round = 0; round < ROUNDS; round += 1) {
    const others = [one, two, three].filter((digest) => digest !== expected);
    const answers = await Promise.all(
      Array.from({ length: RIVALS }, async (_, rival) => {
        const digest = others[rival % 2] ?? "";
        // In either order: locks that are taken must not lead to a deadlock.
        const order = rival % 3 === 0 ? names : names.toReversed();
        return { digest, answer: await promote(order.map((name) => ({ name, digest, expectedDigest: expected }))) };
      }),
    );
    assert.deepEqual(answers.map(({ answer: { status } }) => status).sort(), [
      200,
      ...Array<number>(RIVALS - 1).fill(409),
    ]);
    expected = answers.find(({ answer: { status } }) => status === 200)?.digest ?? "";
    assert.deepEqual(await tags(), { x: expected, y: expected });
  }
  for (const name of names) assert.equal((await historyOf("rivals", name)).length, ROUNDS + 1);
});
