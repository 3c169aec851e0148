import assert from "node:assert/strict";
import { test } from "node:test";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { extendGrace } from "../../src/oci/gc/grace-commands.ts";
import { NOTHING, startCollecting } from "../../../server/test/support/garbage-collection.ts";

// The grace of content that clients look at concurrently is renewed in one transaction.

const REPOS = ["acme/app", "acme/team/other"];

test("of all contents that are looked at together each gets its grace, and no other does", async (t) => {
  const { pass, push, pushBlob, collect, hasBlob, hasManifest, ask, ownerToken } = await startCollecting(t);
  const seen: string[] = [];
  for (const name of REPOS) {
    for (const content of ["one", "two", "three"]) {
      seen.push(`/v2/${name}/manifests/${(await push(name, undefined, `${name} ${content}`)).digest}`);
      seen.push(`/v2/${name}/blobs/${await pushBlob(name, `base ${content}`)}`);
    }
  }
  const [unseen, blob] = [await push("acme/app", undefined, "unseen"), await pushBlob("acme/app", "unseen base")];
  pass(2);
  // Each twice: the first of these is being renewed when the second asks.
  const answers = await Promise.all([...seen, ...seen].map((path) => ask(path, { method: "HEAD", token: ownerToken })));
  for (const { status } of answers) assert.equal(status, 200);
  pass(3);
  const { manifests } = await collect();
  assert.equal(manifests, 1);
  assert.deepEqual(
    [await hasManifest("acme/app", unseen.digest), await hasBlob("acme/app", blob)],
    [false, false],
    "nobody who may push has looked at these",
  );
  for (const path of seen) assert.equal((await ask(path, { token: ownerToken })).status, 200, path);
  pass(3);
  assert.deepEqual(await collect(), NOTHING);
});

test("content that was removed meanwhile gets no grace, and the others of the same transaction do", async (t) => {
  const { clock, db, deps, push, pushBlob, repoUid } = await startCollecting(t);
  const { digest } = await push("acme/app", undefined, "one");
  const blob = await pushBlob("acme/app", "base");
  const repo = await repoUid("app");
  const contents = [
    { repo, digest: `sha256:${"0".repeat(64)}`, kind: "manifest" },
    { repo, digest, kind: "manifest" },
    { repo, digest, kind: "blob" },
    { repo, digest: blob, kind: "blob" },
    { repo: `${repo}/0`, digest, kind: "manifest" },
    { repo, digest, kind: "manifest" },
  ] as const;
  const nowMs = clock.nowMs() + 1_000;
  assert.deepEqual(await deps.transactor.write(extendGrace, systemCall(nowMs), { contents }), { gone: [0, 2, 4] });
  for (const table of ["manifests", "repo_blobs"] as const) {
    const rows = await db.selectFrom(table).select("digest").where("touch_time", "=", nowMs).execute();
    assert.deepEqual(
      rows.map((row) => row.digest),
      [table === "manifests" ? digest : blob],
    );
  }
});
