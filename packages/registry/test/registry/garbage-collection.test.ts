import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collected } from "../../src/oci/index.ts";
import { MINUTE_MS, NOTHING, startCollecting } from "../../../server/test/support/garbage-collection.ts";
import { anyDigest, digestOf, OCI_IMAGE, OCI_INDEX } from "../../../server/test/support/registry-server.ts";

// What a collection removes and what it leaves. Concurrent use is tested in garbage-collection-during-use.test.ts.

const SHORT = { historyRetention: "60s" };

test("an image stays while it is tagged and during the grace after that, and is then removed", async (t) => {
  const { pass, push, policy, untag, collect, hasManifest, hasBlob, stored } = await startCollecting(t);
  const { digest, layer, config } = await push("acme/app", "v1", "one");
  await policy("app", SHORT);
  pass(10);
  assert.deepEqual(await collect(), NOTHING);
  await untag("acme/app", "v1");
  pass(3);
  assert.deepEqual(await collect(), NOTHING);
  assert.ok((await hasManifest("acme/app", digest)) && (await hasBlob("acme/app", layer)));
  pass(2);
  assert.deepEqual(await collect(), {
    tags: 0,
    manifests: 1,
    blobs: 2,
    bytes: "layer one".length + `{"content":"one"}`.length,
  });
  assert.ok(
    !(await hasManifest("acme/app", digest)) &&
      !(await hasBlob("acme/app", layer)) &&
      !(await hasBlob("acme/app", config)),
  );
  assert.equal(await stored(), 0);
  assert.deepEqual(await collect(), NOTHING);
});

test("a tag holds its image even without a history", async (t) => {
  const { pass, push, policy, collect, db } = await startCollecting(t);
  await push("acme/app", "v1", "one");
  await db.deleteFrom("tag_history").execute();
  pass(10);
  for (const each of [{}, SHORT]) {
    await policy("app", each);
    assert.deepEqual(await collect(), NOTHING);
  }
});

test("untagged content is removed after its grace, and a repeated push starts a new one", async (t) => {
  const { pass, push, pushBlob, collect, hasManifest, hasBlob } = await startCollecting(t);
  const { digest } = await push("acme/app", undefined, "one");
  const again = await push("acme/app", undefined, "two");
  const blob = await pushBlob("acme/app", "alone");
  pass(3);
  await push("acme/app", undefined, "two");
  pass(2);
  assert.deepEqual(await collect(), { tags: 0, manifests: 1, blobs: 3, bytes: 5 + 9 + 17 });
  assert.ok(!(await hasManifest("acme/app", digest)) && !(await hasBlob("acme/app", blob)));
  assert.ok(await hasManifest("acme/app", again.digest));
  pass(3);
  assert.deepEqual((await collect()).manifests, 1);
});

test("history holds what a tag pointed to, without limit or for the repo's history retention", async (t) => {
  const { pass, push, policy, untag, collect, hasManifest } = await startCollecting(t);
  const { digest } = await push("acme/app", "v1", "one");
  await untag("acme/app", "v1");
  pass(30);
  assert.deepEqual(await collect(), NOTHING, "without limit by default");
  await policy("app", { historyRetention: "2400s" });
  pass(9);
  assert.deepEqual(await collect(), NOTHING);
  pass(2);
  assert.equal((await collect()).manifests, 1);
  assert.equal(await hasManifest("acme/app", digest), false);
});

test("history retention starts when the tag left the digest, not when it came to it", async (t) => {
  const { pass, push, policy, collect, hasManifest } = await startCollecting(t);
  await push("acme/app", "v1", "zero");
  const { digest } = await push("acme/app", "v1", "one");
  pass(20);
  await push("acme/app", "v1", "two");
  await push("acme/app", "v1", "three");
  await policy("app", { historyRetention: "600s" });
  pass(9);
  assert.equal((await collect()).manifests, 1, "zero left twenty-nine minutes ago");
  assert.ok(await hasManifest("acme/app", digest));
  pass(2);
  assert.equal((await collect()).manifests, 1, "two is the target of a rollback");
  assert.equal(await hasManifest("acme/app", digest), false);
});

test("the target of a rollback stays as long as its tag, and during the grace after that", async (t) => {
  const { pass, push, policy, untag, collect, hasManifest } = await startCollecting(t);
  const [one, two] = [await push("acme/app", "v1", "one"), await push("acme/app", "v1", "two")];
  await policy("app", SHORT);
  pass(20);
  assert.deepEqual(await collect(), NOTHING);
  await untag("acme/app", "v1");
  await push("acme/app", "v1", "two");
  pass(20);
  assert.deepEqual(await collect(), NOTHING, "the deletion in between does not change what was there before");
  await push("acme/app", "v1", "three");
  pass(3);
  assert.deepEqual(await collect(), NOTHING, "one has its grace, two is the target of a rollback now");
  pass(2);
  assert.equal((await collect()).manifests, 1);
  assert.ok(!(await hasManifest("acme/app", one.digest)) && (await hasManifest("acme/app", two.digest)));
  await untag("acme/app", "v1");
  pass(5);
  assert.equal((await collect()).manifests, 2);
});

test("the manifests of an index are removed with it, in the same run", async (t) => {
  const { pass, push, pushIndex, policy, untag, collect, hasManifest, stored } = await startCollecting(t);
  const [one, two, both] = [
    await push("acme/app", undefined, "one"),
    await push("acme/app", undefined, "two"),
    await push("acme/app", undefined, "three"),
  ];
  const inner = await pushIndex("acme/app", undefined, [one.digest, both.digest]);
  const outer = await pushIndex("acme/app", "all", [inner, two.digest]);
  const other = await pushIndex("acme/app", "other", [both.digest]);
  await policy("app", SHORT);
  pass(20);
  assert.deepEqual(await collect(), NOTHING);
  await untag("acme/app", "all");
  pass(5);
  assert.equal((await collect()).manifests, 4);
  for (const digest of [inner, outer, one.digest, two.digest])
    assert.equal(await hasManifest("acme/app", digest), false);
  assert.ok((await hasManifest("acme/app", other)) && (await hasManifest("acme/app", both.digest)));
  assert.equal(await stored(), 2);
});

test("referrers stay with their subject, and a tagged referrer holds its subject", async (t) => {
  const { pass, push, policy, untag, collect, hasManifest, pushManifest } = await startCollecting(t);
  const descriptor = (digest: string): object => ({ subject: { mediaType: OCI_IMAGE, digest, size: 1 } });
  const image = await push("acme/app", "v1", "image");
  const sbom = await push("acme/app", undefined, "sbom", descriptor(image.digest));
  const signature = await push("acme/app", undefined, "signature", descriptor(sbom.digest));
  const stray = await push("acme/app", undefined, "stray", descriptor(anyDigest()));
  await policy("app", SHORT);
  pass(20);
  assert.equal((await collect()).manifests, 1);
  assert.equal(await hasManifest("acme/app", stray.digest), false, "its subject is not stored");
  assert.equal((await pushManifest("acme/app", "kept", sbom.manifest)).status, 201);
  await untag("acme/app", "v1");
  pass(20);
  assert.deepEqual(await collect(), NOTHING);
  for (const { digest } of [image, sbom, signature]) assert.ok(await hasManifest("acme/app", digest));
  await untag("acme/app", "kept");
  pass(5);
  assert.equal((await collect()).manifests, 3, "manifests that only hold each other are removed together");
});

test("content that a caller with the right to push was answered stays for half a grace; a pull without that right renews nothing", async (t) => {
  const { pass, push, pushBlob, collect, hasManifest, hasBlob, ask, ownerToken, mint, pusher } =
    await startCollecting(t);
  const [blob, image] = [await pushBlob("acme/app", "base"), await push("acme/app", undefined, "one")];
  const paths = [`/v2/acme/app/blobs/${blob}`, `/v2/acme/app/manifests/${image.digest}`];
  const both = async (): Promise<boolean[]> => [
    await hasBlob("acme/app", blob),
    await hasManifest("acme/app", image.digest),
  ];
  for (const method of ["HEAD", "GET"]) {
    for (const minutes of [1, 2]) {
      pass(minutes);
      for (const path of paths)
        assert.equal(
          (await ask(path, { method, token: method === "GET" ? ownerToken : await mint(pusher) })).status,
          200,
        );
    }
    assert.deepEqual(await both(), [true, true]);
    pass(3);
    assert.deepEqual(await collect(), NOTHING);
  }
  pass(1);
  const narrow = await mint(pusher, {
    type: "registry",
    access: [{ type: "repository", name: "acme/app", actions: ["pull"] }],
  });
  for (const path of paths) assert.equal((await ask(path, { method: "HEAD", token: narrow })).status, 200);
  assert.equal((await collect()).manifests, 1);
  assert.deepEqual(await both(), [false, false]);
});

test("a cached answer does not prevent the renewal of the grace", async (t) => {
  // An answer is cached for at most a quarter of the grace, which is less than the time that passes below.
  const { pass, pushBlob, collect, hasBlob, ask, ownerToken, owner, mint } = await startCollecting(t, 40_000);
  const blob = await pushBlob("acme/app", "base");
  const get = async (): Promise<void> =>
    assert.equal((await ask(`/v2/acme/app/blobs/${blob}`, { token: ownerToken })).status, 200);
  await get();
  pass(0.5);
  // Minting a token reloads the signing keys; otherwise the cached answer would be dropped because of them, and not
  // because of its age.
  await mint(owner);
  await get();
  pass(0.5);
  assert.deepEqual(await collect(), NOTHING);
  assert.ok(await hasBlob("acme/app", blob));
});

test("during a push the content that it found or uploaded stays", async (t) => {
  const { pass, pushBlob, collect, hasBlob, ask, ownerToken, deps } = await startCollecting(t);
  const before = await pushBlob("acme/app", "before");
  pass(3);
  const { headers } = await ask("/v2/acme/app/blobs/uploads/", { method: "POST", token: ownerToken });
  const session = headers.get("location") ?? "";
  const during = await pushBlob("acme/app", "during");
  pass(15);
  assert.equal(
    (
      await ask(session, {
        method: "PATCH",
        token: ownerToken,
        body: "slow",
        headers: { "content-type": "application/octet-stream" },
      })
    ).status,
    202,
  );
  assert.deepEqual(await collect(), NOTHING);
  assert.ok((await hasBlob("acme/app", before)) && (await hasBlob("acme/app", during)));
  assert.equal((await ask(`${session}?digest=${digestOf("slow")}`, { method: "PUT", token: ownerToken })).status, 201);
  assert.equal((await collect()).blobs, 2);
  assert.ok(!(await hasBlob("acme/app", before)) && (await hasBlob("acme/app", digestOf("slow"))));
  await ask("/v2/acme/app/blobs/uploads/", { method: "POST", token: ownerToken });
  pass(deps.config.uploadTtlMs / MINUTE_MS + 1);
  assert.equal((await collect()).blobs, 1, "an abandoned session does not hold content for ever");
});

test("an upload session stays alive for as long as bytes arrive", async (t) => {
  const { pass, pushBlob, collect, ask, mint, owner, deps } = await startCollecting(t);
  const { headers } = await ask("/v2/acme/app/blobs/uploads/", { method: "POST", token: await mint(owner) });
  const session = headers.get("location") ?? "";
  await pushBlob("acme/app", "brought");
  const half = deps.config.uploadTtlMs / MINUTE_MS / 2 + 1;
  for (let count = 0; count < 3; count++) {
    pass(half);
    const answer = await ask(session, {
      method: "PATCH",
      token: await mint(owner),
      body: "x",
      headers: { "content-type": "application/octet-stream" },
    });
    assert.equal(answer.status, 202, answer.text);
  }
  assert.deepEqual(await collect(), NOTHING);
});

test("a blob of several repos stays until the last one releases it; a mount starts a new grace", async (t) => {
  const { pass, push, pushBlob, policy, untag, collect, run, hasBlob, ask, ownerToken, stored, repoUid } =
    await startCollecting(t);
  const mount = async (digest: string): Promise<void> => {
    assert.equal(
      (
        await ask(`/v2/acme/second/blobs/uploads/?mount=${digest}&from=acme/first`, {
          method: "POST",
          token: ownerToken,
        })
      ).status,
      201,
    );
  };
  const shared = await pushBlob("acme/first", "shared");
  await pushBlob("acme/second", "own");
  await mount(shared);
  pass(3);
  await mount(shared);
  pass(2);
  assert.deepEqual(await collect(), { tags: 0, manifests: 0, blobs: 2, bytes: 3 });
  assert.ok(!(await hasBlob("acme/first", shared)) && (await hasBlob("acme/second", shared)));
  pass(3);
  assert.deepEqual(await collect(), { tags: 0, manifests: 0, blobs: 1, bytes: 6 });
  assert.equal(await stored(), 0);
  // Both repos release the blob in one run: its bytes count once, and not at all in a dry run of one repo alone.
  const image = await push("acme/first", "v1", "image");
  await pushBlob("acme/second", "own");
  await mount(image.layer);
  await policy("first", SHORT);
  await untag("acme/first", "v1");
  pass(5);
  for (const name of ["first", "second"]) {
    const alone = await run({ dryRun: true, repo: await repoUid(name) });
    assert.equal(alone.bytes, name === "first" ? `{"content":"image"}`.length : 3);
  }
  const named: [string, Collected][] = [];
  assert.equal(
    (await run({ dryRun: true, onRepo: (name, collected) => void named.push([name, collected]) })).bytes,
    (await collect()).bytes,
  );
  assert.deepEqual(named.map(([name]) => name).sort(), ["acme/first", "acme/second"]);
  assert.equal(await stored(), 0);
});

test("the content of a deleted repo is removed in the next run", async (t) => {
  const { push, run, collect, db, stored, hasBlob, ask, ownerToken, repoUid } = await startCollecting(t);
  const image = await push("acme/gone", "v1", "one");
  await push("acme/stays", "v1", "other");
  await ask(`/v2/acme/stays/blobs/uploads/?mount=${image.layer}&from=acme/gone`, { method: "POST", token: ownerToken });
  const uid = await repoUid("gone");
  for (const table of ["tag_history", "manifest_references", "manifests", "repo_blobs"] as const)
    await db.deleteFrom(table).where("repo", "=", uid).execute();
  await db.deleteFrom("tags").where("parent", "=", uid).execute();
  await db.deleteFrom("repos").where("uid", "=", uid).execute();
  assert.deepEqual(await run({ dryRun: true, repo: await repoUid("stays") }), NOTHING);
  assert.deepEqual(await collect(), { tags: 0, manifests: 0, blobs: 1, bytes: `{"content":"one"}`.length });
  assert.equal(await stored(), 3);
  assert.ok(await hasBlob("acme/stays", image.layer));
});

test("content connected to a deleted manifest has a grace", async (t) => {
  const { pass, push, pushIndex, untag, collect, hasManifest, hasBlob } = await startCollecting(t);
  const child = await push("acme/app", undefined, "child");
  const index = await pushIndex("acme/app", "v1", [child.digest]);
  const referrer = await push("acme/app", undefined, "referrer", {
    subject: { mediaType: OCI_INDEX, digest: index, size: 1 },
  });
  const direct = await push("acme/app", "v2", "direct");
  pass(20);
  await untag("acme/app", index);
  await untag("acme/app", direct.digest);
  pass(3);
  assert.deepEqual(await collect(), NOTHING);
  assert.ok(
    (await hasManifest("acme/app", child.digest)) &&
      (await hasManifest("acme/app", referrer.digest)) &&
      (await hasBlob("acme/app", direct.layer)),
  );
  pass(2);
  assert.deepEqual(await collect(), { tags: 0, manifests: 2, blobs: 6, bytes: 11 + 19 + 14 + 22 + 12 + 20 });
});

test("a dry run writes nothing and predicts every number, over repos of all kinds", async (t) => {
  const { pass, push, pushIndex, pushBlob, policy, run, collect, db, ask, ownerToken, pushManifest } =
    await startCollecting(t);
  for (const name of ["a", "b", "c"]) {
    const children = [
      await push(`acme/${name}`, undefined, `child ${name}`),
      await push(`acme/${name}`, undefined, "common"),
    ];
    await pushIndex(
      `acme/${name}`,
      name === "b" ? "v1" : undefined,
      children.map(({ digest }) => digest),
    );
    for (let at = 0; at < 3; at++) await push(`acme/${name}`, `t${at}`, `tagged ${at} ${name}`);
    await pushBlob(`acme/${name}`, "alone");
  }
  await policy("a", { retention: [{ keepLast: 1 }], historyRetention: "60s" });
  await policy("c", { historyRetention: "60s" });
  await ask(`/v2/acme/c/manifests/t0`, { method: "DELETE", token: ownerToken });
  pass(10);
  await pushManifest("acme/c", "t1", (await push("acme/c", undefined, "newer")).manifest);
  const tables = [
    "tags",
    "tag_history",
    "manifests",
    "manifest_references",
    "repo_blobs",
    "blobs",
    "installation",
  ] as const;
  const state = async (): Promise<string> =>
    JSON.stringify(await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute())));
  const before = await state();
  await run({ dryRun: true });
  assert.equal(await state(), before);
  const first = await collect();
  assert.equal(first.tags, 2);
  assert.ok(first.manifests > 5 && first.blobs > 10 && first.bytes > 100, JSON.stringify(first));
  pass(5);
  const second = await collect();
  assert.equal(second.tags, 0);
  assert.ok(second.manifests >= 2, "what the tags of the first run pointed to");
  assert.deepEqual(await collect(), NOTHING);
});
