import assert from "node:assert/strict";
import { test } from "node:test";
import type { Installation } from "../../../server/test/support/installation.ts";
import { startPair } from "../../../server/test/support/mirror.ts";

const GONE = `sha256:${"cd".repeat(32)}`;

async function digestAt(here: Installation, reference: string): Promise<string | undefined> {
  const { status, headers } = await here.ask("HEAD", `/v2/acme/copy/manifests/${reference}`, { token: here.registry });
  return status === 200 ? (headers.get("docker-content-digest") ?? "") : undefined;
}

async function importMoves(here: Installation, repo: string, moves: object[]): Promise<void> {
  await here.api("POST", `/registry/v2/tags/${repo}:importMoves`, { moves, source: "old.example.com/app" });
}

async function reasons(here: Installation, repo: string, tag: string): Promise<string[]> {
  const answer = await here.api<{ moves: { reason: string }[] }>("GET", `/registry/v2/repos/${repo}/tags/${tag}/moves`);
  return answer.moves.map(({ reason }) => reason);
}

test("a repo that moves in has the digests of its history, and no move of its own for what was imported", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  const one = await upstream.pushImage("acme/app", "v1", "one");
  const two = await upstream.pushImage("acme/app", "v1", "two");
  const repo = await mirror("copy", undefined as unknown as object);
  await importMoves(here, repo, [
    { tag: "v1", digest: GONE, time: "2023-01-01T00:00:00Z" },
    { tag: "v1", digest: one.digest, time: "2024-01-01T00:00:00Z" },
    { tag: "v1", digest: two.digest, time: "2025-01-01T00:00:00Z" },
  ]);
  const syncConfig = configOf("app", { pullThrough: true, history: true, keepMoved: true });
  await here.api("PATCH", `/registry/v2/repos/${repo}?updateMask=syncConfig`, { syncConfig });
  const { state, message } = await copied(repo);
  assert.equal(state, "SYNC_STATE_SUCCEEDED", message);
  assert.equal(message, `1 digest of the history that the source no longer has: ${GONE}`);
  assert.deepEqual(await reasons(here, repo, "v1"), ["import", "import", "import"]);
  await here.api("PATCH", `/registry/v2/repos/${repo}?updateMask=syncConfig`, {});
  assert.equal(await digestAt(here, "v1"), two.digest);
  assert.equal(await digestAt(here, one.digest), one.digest);
});

test("an imported tag can be pulled before its content is copied", async (t) => {
  const { upstream, front, here, configOf, mirror } = await startPair(t);
  front.intercept = (req, res) => {
    if (req.url?.includes("/tags/list") !== true) return false;
    res.writeHead(503).end();
    return true;
  };
  const { digest } = await upstream.pushImage("acme/app", "v1", "one");
  const repo = await mirror("copy", configOf("app", { pullThrough: true, keepMoved: true }));
  await importMoves(here, repo, [{ tag: "v1", digest, time: "2024-01-01T00:00:00Z" }]);
  assert.equal(await digestAt(here, "v1"), digest);
});

test("tags that were moved or deleted here stay so where the source lets them, and the turn says which", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  for (const tag of ["moved", "deleted", "left"]) await upstream.pushImage("acme/app", tag, tag);
  const repo = await mirror("copy", configOf("app", { keepMoved: true }));
  assert.equal((await copied(repo)).state, "SYNC_STATE_SUCCEEDED");
  const own = await here.pushImage("acme/copy", "moved", "own");
  assert.equal((await here.ask("DELETE", "/v2/acme/copy/manifests/deleted", { token: here.registry })).status, 202);
  const newer = await upstream.pushImage("acme/app", "left", "newer");
  const { state, message } = await copied(repo);
  assert.equal(state, "SYNC_STATE_SUCCEEDED");
  const [, named = ""] = /^2 tags moved here, which stays so: (.*)$/.exec(message) ?? [];
  assert.deepEqual(named.split(", ").toSorted(), ["deleted", "moved"]);
  assert.equal(await digestAt(here, "moved"), own.digest);
  assert.equal(await digestAt(here, "deleted"), undefined);
  assert.equal(await digestAt(here, "left"), newer.digest);
  await here.api("PATCH", `/registry/v2/repos/${repo}?updateMask=syncConfig.keepMoved`, { syncConfig: {} });
  assert.equal((await copied(repo)).message, "");
  assert.notEqual(await digestAt(here, "moved"), own.digest);
});
