import assert from "node:assert/strict";
import { test } from "node:test";
import { anyDigest, startRegistry } from "../../../server/test/support/registry-server.ts";
import type { Body } from "../../../server/test/support/registry-server.ts";

type Entry = Body["history"][number];

test("the history of a tag lists each move, oldest first, in strictly increasing time", async (t) => {
  const registry = await startRegistry(t);
  const [one, two] = [await registry.image("acme/app", "one"), await registry.image("acme/app", "two")];
  for (const { body } of [one, two, two, one])
    assert.equal((await registry.pushManifest("acme/app", "v1", body)).status, 201);
  const { status, headers, json } = await registry.historyOf("acme/app", "v1");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/json");
  assert.deepEqual(
    json.history.map(({ digest }: Entry) => digest),
    [one.digest, two.digest, one.digest],
  );
  assert.deepEqual(Object.keys(json), ["history"]);
  for (const entry of json.history) assert.deepEqual(Object.keys(entry), ["updateTimestamp", "digest"]);
  const times: string[] = json.history.map((entry: Entry) => entry.updateTimestamp);
  for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(times, [...new Set(times)].sort());
  // The image is still pulled by the digest of the first move.
  assert.equal(
    (await registry.ask(`/v2/acme/app/manifests/${one.digest}`, { token: registry.ownerToken })).text,
    one.body,
  );
  const rows = await registry.reader.selectFrom("tag_history").select(["actor", "reason"]).execute();
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    Array(3).fill({ actor: registry.owner, reason: "push" }),
  );
});

test("the times of a tag increase even when the clock goes back", async (t) => {
  const registry = await startRegistry(t);
  const [one, two] = [await registry.image("acme/app", "one"), await registry.image("acme/app", "two")];
  await registry.pushManifest("acme/app", "v1", one.body);
  registry.clock.offsetMs = -20_000;
  await registry.pushManifest("acme/app", "v1", two.body);
  const [first, second] = (await registry.historyOf("acme/app", "v1")).json.history;
  assert.equal(Date.parse(second?.updateTimestamp ?? ""), Date.parse(first?.updateTimestamp ?? "") + 1);
});

test("a window is inclusive and takes any form of ISO 8601; an invalid parameter is named", async (t) => {
  const registry = await startRegistry(t);
  const repo = "acme/app";
  await registry.pushManifest(repo, "seed", (await registry.image(repo, "x")).body);
  const uid = await registry.repoUid("app");
  const digests = [anyDigest(), anyDigest(), anyDigest()];
  const start = Date.UTC(2099, 0, 2, 3, 4, 5);
  for (const [index, digest] of digests.entries()) {
    registry.clock.offsetMs = start + index * 1000 - Date.now() + 200;
    await registry.createTag(uid, "t", digest);
  }
  registry.clock.offsetMs = 0;
  const [a = "", b = "", c = ""] = (await registry.historyOf(repo, "t")).json.history.map(
    (entry: Entry) => entry.updateTimestamp,
  );
  const found = async (query: string): Promise<number[]> => {
    const answer = await registry.historyOf(repo, "t", query);
    assert.equal(answer.status, 200, `${query} ${answer.text}`);
    return answer.json.history.map(({ digest }: Entry) => digests.indexOf(digest));
  };
  assert.deepEqual(await found(`?start=${b}`), [1, 2]);
  assert.deepEqual(await found(`?end=${b}`), [0, 1]);
  assert.deepEqual(await found(`?start=${b}&end=${b}`), [1]);
  assert.deepEqual(
    await found(`?start=${new Date(Date.parse(a) + 1).toISOString()}&end=${new Date(Date.parse(c) - 1).toISOString()}`),
    [1],
  );
  assert.deepEqual(await found("?start=2099-01-02&end=2099-01-02"), [0, 1, 2]);
  assert.deepEqual(await found("?start=20990102T0300Z&end=2099-W01-5"), [0, 1, 2]);
  assert.deepEqual(await found(`?start=${b.replace("Z", "+00:00")}`), [1, 2]);
  assert.deepEqual(await found("?end=2099-01-01"), []);
  for (const [query, field] of [
    ["?start=yesterday", "start"],
    ["?start=", "start"],
    ["?end=2026-02-30", "end"],
    ["?start=2026-01-02&end=2026-01-01", "end"],
    ["?since=2026-01-01", "since"],
    ["?start=2026-01-01&start=2026-01-02", "start"],
    ["?end=1767312000", "end"],
  ] as const) {
    const { status, json } = await registry.historyOf(repo, "t", query);
    assert.equal(status, 400, query);
    assert.equal(json.code, 3);
    assert.ok(json.errors[0]?.code);
    const badRequest = json.details.find((detail) => detail["@type"].endsWith("google.rpc.BadRequest"));
    assert.equal(badRequest?.fieldViolations?.[0]?.field, field, query);
  }
});

test("a history answers at most 1000 records, oldest first; a narrower window answers the rest", async (t) => {
  const registry = await startRegistry(t);
  await registry.pushManifest("acme/app", "seed", (await registry.image("acme/app", "x")).body);
  const uid = await registry.repoUid("app");
  await Promise.all(Array.from({ length: 1005 }, () => registry.createTag(uid, "busy", anyDigest())));
  const first = (await registry.historyOf("acme/app", "busy")).json.history;
  assert.equal(first.length, 1000);
  const last = first.at(-1);
  const rest = (await registry.historyOf("acme/app", "busy", `?start=${last?.updateTimestamp}`)).json.history;
  assert.equal(rest.length, 6);
  assert.deepEqual(rest[0], last);
  const tag = await registry.reader
    .selectFrom("tags")
    .select("digest")
    .where("name", "=", "busy")
    .executeTakeFirstOrThrow();
  assert.equal(rest.at(-1)?.digest, tag.digest);
});

test("a hundred concurrent pushes of one tag leave a hundred ordered records, and the tag points to the last", async (t) => {
  const registry = await startRegistry(t);
  const base = await registry.image("acme/app", "base");
  const bodies = Array.from({ length: 100 }, (_, index) =>
    JSON.stringify({ ...base.manifest, annotations: { build: String(index) } }),
  );
  const answers = await Promise.all(bodies.map((body) => registry.pushManifest("acme/app", "main", body)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  const [once, again] = [await registry.historyOf("acme/app", "main"), await registry.historyOf("acme/app", "main")];
  const { history } = once.json;
  assert.equal(history.length, 100);
  assert.deepEqual(
    new Set(history.map(({ digest }) => digest)),
    new Set(answers.map(({ headers }) => headers.get("docker-content-digest"))),
  );
  const times = history.map(({ updateTimestamp }) => Date.parse(updateTimestamp));
  assert.ok(times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0)));
  assert.deepEqual(again.json, once.json);
  const pulled = await registry.ask("/v2/acme/app/manifests/main", { method: "HEAD", token: registry.ownerToken });
  assert.equal(pulled.headers.get("docker-content-digest"), history.at(-1)?.digest);
});

test("a deleted tag still has its history; creating it again adds a record, even with the same digest", async (t) => {
  const registry = await startRegistry(t);
  const one = await registry.image("acme/app", "one");
  await registry.pushManifest("acme/app", "v1", one.body);
  assert.equal(
    (await registry.ask("/v2/acme/app/manifests/v1", { method: "DELETE", token: registry.ownerToken })).status,
    202,
  );
  assert.deepEqual(
    (await registry.historyOf("acme/app", "v1")).json.history.map(({ digest }: Entry) => digest),
    [one.digest],
  );
  await registry.pushManifest("acme/app", "v1", one.body);
  assert.deepEqual(
    (await registry.historyOf("acme/app", "v1")).json.history.map(({ digest }: Entry) => digest),
    [one.digest, one.digest],
  );
});

test("401 without a token, 403 for another audience or repository before 404, and 404 for a tag that never existed", async (t) => {
  const registry = await startRegistry(t);
  await registry.pushManifest("acme/app", "v1", (await registry.image("acme/app", "one")).body);
  const none = await registry.ask("/v2/acme/app/_service/history/v1");
  assert.equal(none.status, 401);
  assert.equal(
    none.headers.get("www-authenticate"),
    `Bearer realm="${registry.baseUrl}/token",service="${registry.host}",scope="repository:acme/app:pull"`,
  );
  assert.equal(none.json.code, 16);
  assert.equal(none.json.errors[0]?.code, "UNAUTHORIZED");
  const platform = await registry.mint(registry.owner, { audiences: [registry.baseUrl] });
  const other = await registry.mint(registry.owner, {
    type: "registry",
    access: [{ type: "repository", name: "acme/other", actions: ["pull"] }],
  });
  const stranger = await registry.mint(registry.stranger);
  for (const path of ["app/_service/history/v1", "app/_service/history/none", "none/_service/history/v1"]) {
    for (const token of [platform, other, stranger]) {
      const { status, json } = await registry.ask(`/v2/acme/${path}`, { token });
      assert.equal(status, 403, path);
      assert.equal(json.code, 7);
    }
    const bad = await registry.ask(`/v2/acme/${path}`, { token: "x.y.z" });
    assert.equal(bad.status, 401);
  }
  for (const path of ["app/_service/history/none", "app/_service/history/...", "none/_service/history/v1"]) {
    const { status, json } = await registry.ask(`/v2/acme/${path}`, { token: registry.ownerToken });
    assert.equal(status, 404, path);
    assert.equal(json.code, 5);
  }
  const exact = await registry.mint(registry.viewer, {
    type: "registry",
    access: [{ type: "repository", name: "acme/app", actions: ["pull"] }],
  });
  assert.equal((await registry.historyOf("acme/app", "v1", "", exact)).status, 200);
});
