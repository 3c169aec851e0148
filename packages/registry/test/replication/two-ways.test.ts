// Two installations that push the same images to each other: both come to the same, and then nothing is pushed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { settledSides, type Side, startTwoWays } from "../../../server/test/support/two-ways.ts";

const PATH = "/registry/v2/replications";
const ROLES = "/iam/v2/roles?name=replicates";
const OVERWRITE = { onConflict: "REPLICATION_CONFLICT_OVERWRITE" };

interface Move {
  time: string;
  digest: string;
  reason: string;
}

/** How often tags were put there. */
const puts = ({ front }: Side): number =>
  front.seen.filter(({ method, path }) => method === "PUT" && /\/manifests\/(?!sha256:)/.test(path)).length;
const repoOf = async (side: Side, name: string): Promise<string> =>
  (await side.api("GET", `/registry/v2/repos?name=${name}`)).repos[0]?.uid ?? "";
const movesOf = async (side: Side, name: string, tag: string): Promise<Move[]> =>
  (await side.api<{ moves: Move[] }>("GET", `/registry/v2/repos/${await repoOf(side, name)}/tags/${tag}/moves`)).moves;

test("a move comes to the other side with its time, and does not come back", async (t) => {
  const sides = await startTwoWays(t, {});
  const [one, other] = sides;
  const first = await one.pushImage("acme/app", "1", "first");
  assert.deepEqual(await settledSides(sides), new Map([["app:1", first.digest]]));
  const second = await other.pushImage("acme/app", "1", "second");
  await eventually(async () => (await one.digestOf("acme/app", "1")) === second.digest);
  await settledSides(sides);
  const third = await one.pushImage("acme/app", "1", "third");
  await eventually(async () => (await other.digestOf("acme/app", "1")) === third.digest);
  await settledSides(sides);
  assert.deepEqual([puts(one), puts(other)], [1, 2]);
  const moves = [await movesOf(one, "app", "1"), await movesOf(other, "app", "1")] as const;
  const times = moves.map((each) => each.map(({ time, digest }) => [time, digest]));
  assert.deepEqual(times[0], times[1]);
  assert.deepEqual(
    moves[0].map(({ reason }) => reason),
    ["push", "replicate", "push"],
  );
  // A comparison of all tags finds nothing to do.
  for (const side of sides) await side.api("POST", `${PATH}/${side.rule}:run`, {});
  await settledSides(sides);
  assert.deepEqual([puts(one), puts(other)], [1, 2]);
});

test("of moves on both sides the later one stays, whoever is asked first", async (t) => {
  const sides = await startTwoWays(t, { ...OVERWRITE, disabled: true });
  const [one, other] = sides;
  const tags = ["1", "2", "3", "4"];
  for (const [at, tag] of tags.entries()) {
    const order = at % 2 === 0 ? [one, other] : [other, one];
    for (const side of order) await side.pushImage("acme/app", tag, `${tag} of ${side.url}`);
  }
  const last = new Map<string, string>();
  for (const tag of tags) {
    const ends = [(await movesOf(one, "app", tag))[0], (await movesOf(other, "app", tag))[0]].map((each) => {
      assert.ok(each !== undefined);
      return `${each.time} ${each.digest}`;
    });
    last.set(`app:${tag}`, ends.toSorted().at(-1)?.split(" ")[1] ?? "");
  }
  for (const side of sides) await side.api("PATCH", `${PATH}/${side.rule}`, { disabled: false });
  assert.deepEqual(await settledSides(sides), last);
  const kept = (await Promise.all(sides.map((side) => side.items()))).flat().filter(({ message }) => message !== "");
  for (const { message } of kept) assert.match(message, /^the destination keeps what it has: .* which is later$/);
});

test("moves of one tag on both sides while they push to each other come to one digest, and to an end", async (t) => {
  const sides = await startTwoWays(t, OVERWRITE);
  const [one, other] = sides;
  for (let n = 0; n < 6; n += 1)
    await Promise.all(
      sides.map(async (side) => {
        await side.pushImage("acme/app", "1", `${n} of ${side.url}`);
        if (n % 2 === 0) await side.pushImage("acme/app", "1", "the same");
      }),
    );
  await settledSides(sides);
  const before = [puts(one), puts(other)];
  for (const side of sides) await side.api("POST", `${PATH}/${side.rule}:run`, {});
  await settledSides(sides);
  assert.deepEqual([puts(one), puts(other)], before);
});

test("with STOP, moves on both sides are blocked on both", async (t) => {
  const sides = await startTwoWays(t, { disabled: true });
  const [one, other] = sides;
  const images = [await one.pushImage("acme/app", "1", "one"), await other.pushImage("acme/app", "1", "other")];
  for (const side of sides) await side.api("PATCH", `${PATH}/${side.rule}`, { disabled: false });
  for (const side of sides)
    await eventually(async () => (await side.items())[0]?.state === "REPLICATION_ITEM_STATE_BLOCKED");
  assert.deepEqual(
    [await one.digestOf("acme/app", "1"), await other.digestOf("acme/app", "1")],
    images.map(({ digest }) => digest),
  );
});

test("a deletion follows, and leaves what moved later", async (t) => {
  const sides = await startTwoWays(t, { ...OVERWRITE, deletions: "REPLICATION_DELETIONS_FOLLOW" });
  const [one, other] = sides;
  for (let n = 0; n < 12; n += 1) await one.pushImage("acme/app", `t${n}`, "one");
  await eventually(async () => (await settledSides(sides)).size === 12);
  const { status } = await one.ask("DELETE", "/v2/acme/app/manifests/t1", { token: one.registry });
  assert.equal(status, 202);
  await eventually(async () => (await other.digestOf("acme/app", "t1")) === undefined);
  await eventually(async () => (await settledSides(sides)).get("app:t1") === "");
  const again = await other.pushImage("acme/app", "t1", "again");
  await eventually(async () => (await one.digestOf("acme/app", "t1")) === again.digest);
  await settledSides(sides);
});

test("an identity that may not import, and times that cannot be, are rejected in words", async (t) => {
  const sides = await startTwoWays(t, {});
  const [one, other] = sides;
  for (const { uid } of (await other.api<{ roles: { uid: string; name: string }[] }>("GET", ROLES)).roles)
    await other.api("PATCH", `/iam/v2/roles/${uid}`, { capabilities: ["CAP_TAG_DELETE"] });
  const { digest } = await one.pushImage("acme/app", "1", "one");
  const item = await eventually(async () => (await one.items()).find(({ message }) => message !== ""));
  assert.match(
    item.message,
    /^the destination does not let us move a tag \(403\): .*lacks CAP_TAG_IMPORT for acme\/app/,
  );
  const manifest = await one.ask("GET", `/v2/acme/app/manifests/${digest}`, { token: one.registry });
  const put = async (time: string): Promise<string> => {
    const answer = await one.ask("PUT", "/v2/acme/app/manifests/2", {
      token: one.registry,
      bytes: manifest.text,
      headers: { "content-type": manifest.headers.get("content-type") ?? "", "moorage-move-time": time },
    });
    return `${answer.status} ${answer.json.errors?.[0]?.message ?? ""}`;
  };
  assert.match(await put("yesterday"), /^400 .*must be a time since 1970/);
  assert.match(await put("1969-12-31T23:59:59.999Z"), /^400 .*must be a time since 1970/);
  assert.match(await put("9999-01-01T00:00:00.000Z"), /^400 .*must not be in the future/);
  assert.match(await put("2020-01-01T00:00:00.000Z"), /^201/);
  assert.deepEqual(
    (await movesOf(one, "app", "2")).map(({ time, reason }) => [time, reason]),
    [["2020-01-01T00:00:00.000Z", "replicate"]],
  );
  const { digest: newer } = await one.pushImage("acme/app", "2", "newer");
  assert.match(await put("2021-01-01T00:00:00.000Z"), /^412 .*the tag 2 has pointed to sha256:.*, which is later/);
  assert.equal(await one.digestOf("acme/app", "2"), newer);
});
