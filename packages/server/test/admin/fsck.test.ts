import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openBlobs } from "../../../kernel/src/blobs/index.ts";
import { filled } from "../../../kernel/src/blobs/suite.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import {
  checkInstallation,
  type Finding,
  type FsckOptions,
  type FsckResult,
  loadConfig,
  StoreError,
} from "../../src/index.ts";
import { blobFile } from "../../src/admin/backup/files.ts";
import { SILENT } from "../../src/admin/progress.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, ENGINE, openTestStore } from "../support/database.ts";
import { digestOf, startInstallation, temporaryFolder } from "../support/installation.ts";
import { NO_S3, s3Url } from "../support/s3.ts";

/** An installation with two repos, whose server has ended; the tests damage it. */
async function installation(t: TestContext, extra: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-fsck-"));
  const env = { ...(await databaseEnv(dataDir)), ...extra };
  const server = await startInstallation(t, env, dataDir);
  const one = await server.pushImage("acme/team/api", "latest", "one");
  const two = await server.pushImage("acme/web", "latest", "two");
  const { identity } = await server.addIdentity(server.bootstrap.organization.uid, "ci", "viewer");
  await server.close();
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...env });
  const blobs = await openBlobs(config);
  const { db, close } = await openTestStore(dataDir);
  t.after(async () => {
    await close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true });
  });
  const repoOf = async (name: string): Promise<string> =>
    (await db.selectFrom("repos").select("uid").where("name", "=", name).executeTakeFirstOrThrow()).uid;
  const blobOf = (digest: string) =>
    db.selectFrom("blobs").selectAll().where("digest", "=", digest).executeTakeFirstOrThrow();
  const fsck = (options: Partial<FsckOptions> = {}): Promise<FsckResult> =>
    checkInstallation(config, { repair: false, deep: false, ...options }, SILENT);
  return {
    dataDir,
    env,
    config,
    blobs,
    db,
    one,
    two,
    identity,
    repo: await repoOf("api"),
    web: await repoOf("web"),
    organization: server.bootstrap.organization.uid,
    blobOf,
    fsck,
    repoOf,
  };
}

type Broken = Awaited<ReturnType<typeof installation>>;

const kinds = ({ findings }: FsckResult): string[] => findings.map(({ kind }) => kind).sort();
const counts = ({ findings }: FsckResult, field: "count" | "left"): Record<string, number> =>
  Object.fromEntries(findings.map((finding: Finding) => [finding.kind, finding[field]]));

/**
 * Asserts that the check finds the kinds of fault and changes nothing, that the repair corrects them, and that the next
 * check is clean.
 */
async function foundAndMended(
  { fsck }: Broken,
  expected: string[],
  options: Partial<FsckOptions> = {},
): Promise<FsckResult> {
  const found = await fsck(options);
  assert.deepEqual(kinds(found), expected.toSorted());
  assert.equal(found.clean, false);
  for (const { examples, count } of found.findings) assert.ok(examples.length > 0 && count > 0);
  assert.deepEqual(counts(await fsck(options), "count"), counts(found, "count"), "looking mends nothing");
  const mended = await fsck({ ...options, repair: true });
  assert.equal(mended.clean, true, JSON.stringify(mended));
  for (const { repaired, count, left } of mended.findings) assert.ok(repaired === count && left === 0);
  assert.deepEqual((await fsck({ deep: true })).findings, []);
  return mended;
}

test("a used installation has no findings", async (t) => {
  const { fsck } = await installation(t);
  const result = await fsck({ deep: true });
  assert.deepEqual(result.findings, []);
  assert.equal(result.clean, true);
  assert.equal(result.checked.blobs, 4);
  assert.ok(result.checked.rows > 30);
});

test("what a quota counts wrongly is found, and counted anew", { timeout: 300_000 }, async (t) => {
  const broken = await installation(t);
  const { db, organization, repo } = broken;
  const team = repo.slice(0, repo.lastIndexOf("/"));
  const gone = newUid(organization);
  const limits = { bytes: 1_000_000, repos: null, tags: null, libraries: null, soft_percent: 80 };
  for (const uid of [organization, team, gone])
    await db
      .insertInto("quotas")
      .values({
        ...limits,
        uid,
        parent: uid.slice(0, Math.max(0, uid.lastIndexOf("/"))),
        used_bytes: uid === team ? 5 : 0,
        counted_to: "9",
        state: 2,
        create_time: 1,
        update_time: 1,
      })
      .execute();
  // Content that the group does not have.
  await db
    .insertInto("quota_refs")
    .values({ quota: team, digest: digestOf("never"), size: 5, n: 1 })
    .execute();
  await foundAndMended(broken, ["quota-miscounted", "quota-without-group"]);
  const used = await db.selectFrom("quotas").select(["uid", "used_bytes"]).orderBy("uid").execute();
  const of = async (prefix: string): Promise<number> => {
    const blobs = await db
      .selectFrom("repo_blobs as l")
      .innerJoin("blobs as b", "b.digest", "l.digest")
      .select(["b.digest", "b.size"])
      .where("l.repo", ">=", prefix)
      .execute();
    const manifests = await db.selectFrom("manifests").select(["digest", "size"]).where("repo", ">=", prefix).execute();
    const sizes = new Map([...blobs, ...manifests].map(({ digest, size }) => [digest, Number(size)]));
    return [...sizes.values()].reduce((sum, size) => sum + size, 0);
  };
  assert.equal(used.length, 2);
  assert.equal(used.find(({ uid }) => uid === organization)?.used_bytes, await of(`${organization}/`));
});

test("rows without an owner are found and removed", { timeout: 300_000 }, async (t) => {
  const broken = await installation(t);
  const { db, repo, organization, identity } = broken;
  const gone = newUid(organization);
  const digest = digestOf("never");
  const nowMs = Date.now();
  await db
    .insertInto("tags")
    .values({
      uid: newUid(gone),
      parent: gone,
      name: "x",
      digest,
      deprecated: 0,
      bundles: "[]",
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  await db
    .insertInto("tag_history")
    .values({ repo: gone, tag: "x", time: nowMs, digest, actor: "", reason: "push" })
    .execute();
  await db
    .insertInto("manifests")
    .values({
      repo: gone,
      digest: digestOf("{}"),
      media_type: "m",
      content: Buffer.from("{}"),
      size: 2,
      subject: "",
      artifact_type: "",
      annotations: "{}",
      create_time: nowMs,
      touch_time: nowMs,
    })
    .execute();
  await db
    .insertInto("repo_blobs")
    .values([
      { repo: gone, digest: broken.one.layer, create_time: nowMs, touch_time: nowMs },
      { repo, digest, create_time: nowMs, touch_time: nowMs },
    ])
    .execute();
  await db
    .insertInto("uploads")
    .values({ uid: "0".repeat(32), repo: gone, identity, create_time: nowMs, update_time: nowMs })
    .execute();
  await db.insertInto("manifest_references").values({ repo, digest, target: broken.one.layer, kind: "blob" }).execute();
  await db
    .insertInto("role_bindings")
    .values([
      {
        uid: newUid(organization),
        parent: organization,
        identity_uid: newUid(""),
        role_uid: newUid(""),
        create_time: nowMs,
      },
    ])
    .execute();
  await db
    .insertInto("refresh_tokens")
    .values({ hash: "h", family: "f", identity: newUid(""), caller: "{}", expire_time: nowMs, used_time: null })
    .execute();
  const nobody = newUid("");
  await db
    .insertInto("personal_tokens")
    .values({
      uid: newUid(nobody),
      identity: nobody,
      hash: "h",
      name: "laptop",
      capabilities: "[]",
      scopes: "[]",
      hint: "abcd",
      create_time: nowMs,
      expiration_time: nowMs,
      last_used_time: 0,
    })
    .execute();
  const [invite, group] = [newUid(organization), newUid(organization)];
  await db
    .insertInto("group_invites")
    .values({
      uid: invite,
      parent: organization,
      role_uid: newUid(""),
      email: "",
      single_use: 0,
      code_hash: "h",
      key_id: "h",
      creator: identity,
      expiration_time: nowMs,
      create_time: nowMs,
    })
    .execute();
  await db
    .insertInto("invite_acceptances")
    .values({ invite, identity, binding: newUid(organization), create_time: nowMs })
    .execute();
  await db
    .insertInto("terms_acceptances")
    .values({ uid: newUid(group), parent: group, doc_id: "d", accepted_by: identity, create_time: nowMs })
    .execute();
  await db
    .insertInto("account_associations")
    .values({
      uid: group,
      parent: organization,
      name: "",
      description: "",
      amazon: null,
      google: null,
      services: null,
      azure: null,
      github: null,
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  await db
    .insertInto("identity_providers")
    .values({
      uid: newUid(organization),
      parent: organization,
      name: "login",
      description: "",
      default_role: newUid(""),
      issuer: "https://login.example.com",
      client_id: "moorage",
      client_secret: "",
      additional_scopes: "[]",
      groups_claim: "",
      correlation_rule: 0,
      pkce_enabled: 0,
      shared_callback: 0,
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  await db
    .insertInto("external_group_role_mappings")
    .values({
      uid: newUid(organization),
      parent: organization,
      external_group_id: "g",
      role_uid: newUid(""),
      scope: organization,
      create_time: nowMs,
    })
    .execute();
  await foundAndMended(broken, [
    "external-group-role-mapping-dangling",
    "default-role-dangling",
    "invite-dangling",
    "terms-acceptance-without-group",
    "account-association-without-group",
    "tags-without-repo",
    "tag-history-without-repo",
    "manifests-without-repo",
    "repo-blobs-without-repo",
    "uploads-without-repo",
    "repo-blob-without-blob",
    "reference-without-manifest",
    "role-binding-dangling",
    "refresh-token-without-identity",
    "personal-token-without-identity",
    "counter-wrong",
  ]);
  assert.equal((await db.selectFrom("tags").select("uid").execute()).length, 2, "what belongs to something stays");
});

const derived: [string, string[], (db: Database, broken: Broken) => Promise<unknown>][] = [
  [
    "a counter that is wrong",
    ["counter-wrong"],
    (db) => db.updateTable("counters").set({ n: 7 }).where("kind", "=", "repos").execute(),
  ],
  ["counters that are missing", ["counter-wrong"], (db) => db.deleteFrom("counters").execute()],
  [
    "a counter of what is not there",
    ["counter-wrong"],
    (db, { repo }) => db.insertInto("counters").values({ kind: "repos", ancestor: repo, n: 3 }).execute(),
  ],
  ["ancestry that is missing", ["ancestry-missing", "counter-wrong"], (db) => db.deleteFrom("ancestry").execute()],
  [
    "ancestry under an old name",
    ["ancestry-missing", "ancestry-stale"],
    (db, { repo }) => db.updateTable("ancestry").set({ name: "old" }).where("uid", "=", repo).execute(),
  ],
  [
    "ancestry of what is gone",
    ["ancestry-stale", "counter-wrong"],
    (db, { organization }) =>
      db
        .insertInto("ancestry")
        .values({ kind: "repos", ancestor: organization, name: "x", uid: newUid(organization) })
        .execute(),
  ],
  [
    "ancestry below a stranger",
    ["ancestry-stale", "counter-wrong"],
    (db, { repo }) =>
      db
        .insertInto("ancestry")
        .values({ kind: "repos", ancestor: newUid(""), name: "api", uid: repo })
        .execute(),
  ],
];

test("values that derive from other rows are recomputed", { timeout: 300_000 }, async (t) => {
  const broken = await installation(t);
  for (const [what, expected, breakIt] of derived) {
    await t.test(what, async () => {
      const before = await Promise.all([
        broken.db.selectFrom("counters").selectAll().where("n", "<>", 0).orderBy("kind").orderBy("ancestor").execute(),
        broken.db.selectFrom("ancestry").selectAll().orderBy("uid").orderBy("ancestor").execute(),
      ]);
      await breakIt(broken.db, broken);
      await foundAndMended(broken, expected);
      assert.deepEqual(
        await Promise.all([
          broken.db
            .selectFrom("counters")
            .selectAll()
            .where("n", "<>", 0)
            .orderBy("kind")
            .orderBy("ancestor")
            .execute(),
          broken.db.selectFrom("ancestry").selectAll().orderBy("uid").orderBy("ancestor").execute(),
        ]),
        before,
        "as it was before",
      );
    });
  }
});

for (const place of ["files", "S3"]) {
  test(
    `the next push uploads content lost from ${place} again, and the installation is clean again`,
    { skip: place === "S3" && NO_S3, timeout: 300_000 },
    async (t) => {
      const broken = await installation(t, place === "S3" ? { MOORAGE_BLOBS_URL: s3Url() } : {});
      const { fsck, blobs, blobOf, one } = broken;
      await blobs.remove(one.layer, (await blobOf(one.layer)).generation);
      assert.deepEqual(kinds(await fsck()), ["blob-without-content"]);
      const mended = await fsck({ repair: true });
      assert.deepEqual(counts(mended, "left"), { "blob-without-content": 0, "manifest-without-blob": 1 });
      assert.equal(mended.clean, false, "the image is whole again only with its content");
      const server = await startInstallation(t, broken.env, broken.dataDir);
      const head = await server.ask("HEAD", `/v2/acme/team/api/blobs/${one.layer}`, { token: server.registry });
      assert.equal(head.status, 404, "the blob does not exist for a push");
      assert.equal((await server.pushImage("acme/team/api", "latest", "one")).digest, one.digest);
      assert.equal(
        (await server.ask("GET", `/v2/acme/team/api/blobs/${one.layer}`, { token: server.registry })).text,
        "layer one",
      );
      await server.close();
      assert.deepEqual((await fsck({ deep: true })).findings, []);
    },
  );

  test(
    `content in ${place} without a blob is removed once no push under way can own it`,
    { skip: place === "S3" && NO_S3, timeout: 300_000 },
    async (t) => {
      const broken = await installation(t, place === "S3" ? { MOORAGE_BLOBS_URL: s3Url() } : {});
      const { blobs, fsck, config } = broken;
      await blobs.finish(await filled(blobs, [Buffer.from("stray")]), digestOf("stray"));
      assert.deepEqual((await fsck()).findings, [], "it may belong to a push under way");
      // S3 has times in whole seconds, so a negative age limit includes new content.
      const late = (options: Partial<FsckOptions>) =>
        checkInstallation({ ...config, uploadTtlMs: -60_000 }, { repair: false, deep: false, ...options }, SILENT);
      assert.deepEqual(kinds(await late({})), ["content-without-blob"]);
      assert.equal((await late({ repair: true })).clean, true);
      assert.deepEqual((await late({})).findings, []);
      let left = 0;
      for await (const _ of blobs.listBlobs()) left += 1;
      assert.equal(left, 4);
    },
  );
}

test("an empty file that a crash left in the place of content is found and removed", async (t) => {
  const { blobs, config, dataDir } = await installation(t);
  const stray = await blobs.finish(await filled(blobs, [Buffer.from("stray")]), digestOf("stray"));
  truncateSync(blobFile(dataDir, stray), 0);
  const late = (repair: boolean) =>
    checkInstallation({ ...config, uploadTtlMs: -60_000 }, { repair, deep: false }, SILENT);
  assert.deepEqual(kinds(await late(false)), ["content-without-blob"]);
  assert.equal((await late(true)).clean, true);
  assert.deepEqual((await late(false)).findings, []);
});

test(
  "content that changed or is shorter is found and removed, so that the next push uploads it again",
  { timeout: 300_000 },
  async (t) => {
    const broken = await installation(t);
    const { fsck, blobOf, dataDir, one, two } = broken;
    writeFileSync(blobFile(dataDir, await blobOf(one.layer)), "LAYER one");
    assert.deepEqual((await fsck()).findings, [], "its size is right");
    assert.deepEqual(kinds(await fsck({ deep: true })), ["blob-damaged"]);
    truncateSync(blobFile(dataDir, await blobOf(two.layer)), 3);
    assert.deepEqual(kinds(await fsck()), ["blob-size-wrong"]);
    assert.deepEqual(counts(await fsck({ deep: true, repair: true }), "left"), {
      "blob-damaged": 0,
      "blob-size-wrong": 0,
      "manifest-without-blob": 2,
    });
    const server = await startInstallation(t, broken.env, dataDir);
    await server.pushImage("acme/team/api", "latest", "one");
    await server.pushImage("acme/web", "latest", "two");
    await server.close();
    assert.deepEqual((await fsck({ deep: true })).findings, []);
  },
);

test("a size that is wrong only in the row is corrected, and the content stays", async (t) => {
  const broken = await installation(t);
  const before = await broken.blobOf(broken.one.layer);
  await broken.db.updateTable("blobs").set({ size: 1 }).where("digest", "=", broken.one.layer).execute();
  await foundAndMended(broken, ["blob-size-wrong"]);
  assert.deepEqual(await broken.blobOf(broken.one.layer), before);
});

test("a damaged manifest is removed so that the next push stores it again, a wrong size is corrected, and tags stay", async (t) => {
  const broken = await installation(t);
  const { db, one, two, fsck } = broken;
  await db
    .updateTable("manifests")
    .set({ content: Buffer.from("{}") })
    .where("digest", "=", one.digest)
    .execute();
  await db.updateTable("manifests").set({ size: 1 }).where("digest", "=", two.digest).execute();
  const found = await fsck();
  assert.deepEqual(counts(found, "count"), { "manifest-damaged": 2 });
  await foundAndMended(broken, ["manifest-damaged"]);
  const server = await startInstallation(t, broken.env, broken.dataDir);
  assert.equal((await server.ask("GET", "/v2/acme/web/manifests/latest", { token: server.registry })).status, 200);
  assert.equal((await server.ask("GET", "/v2/acme/team/api/manifests/latest", { token: server.registry })).status, 404);
  await server.pushImage("acme/team/api", "latest", "one");
  assert.equal(
    (await server.ask("GET", "/v2/acme/team/api/manifests/latest", { token: server.registry })).headers.get(
      "docker-content-digest",
    ),
    one.digest,
  );
  await server.close();
  assert.deepEqual((await fsck({ deep: true })).findings, []);
});

test("an index without a manifest is a fault where a tag leads to it, unless its repo accepts sparse indexes", async (t) => {
  const broken = await installation(t);
  const { db, repo, one } = broken;
  const [outer, inner, child] = ["outer", "inner", "child"].map(digestOf) as [string, string, string];
  const reference = (digest: string, target: string) => ({ repo, digest, target, kind: "manifest" });
  const content = new TextEncoder().encode("inner");
  const { digest: _, ...like } = await db
    .selectFrom("manifests")
    .selectAll()
    .where("digest", "=", one.digest)
    .executeTakeFirstOrThrow();
  await db
    .insertInto("manifests")
    .values({ ...like, digest: inner, artifact_type: "", content, size: content.byteLength })
    .execute();
  await db
    .insertInto("manifest_references")
    .values([reference(one.digest, inner), reference(inner, child)])
    .execute();
  const tagged = await broken.fsck();
  assert.deepEqual(kinds(tagged), ["index-without-manifest"]);
  assert.equal(tagged.clean, false);
  await db.updateTable("repos").set({ tag_policy: '{"allowSparse":true}' }).where("uid", "=", repo).execute();
  const sparse = await broken.fsck();
  assert.deepEqual([kinds(sparse), sparse.clean], [["sparse-index"], true]);
  await db.updateTable("repos").set({ tag_policy: null }).where("uid", "=", repo).execute();
  await db.updateTable("tags").set({ digest: outer }).where("parent", "=", repo).execute();
  const untagged = await broken.fsck();
  assert.deepEqual([kinds(untagged), untagged.clean], [["sparse-index"], true]);
});

test("a resource without its parent is reported, and left as it is", async (t) => {
  const broken = await installation(t);
  const team = await broken.db.selectFrom("groups").selectAll().where("name", "=", "team").executeTakeFirstOrThrow();
  await broken.db.deleteFrom("groups").where("uid", "=", team.uid).execute();
  const result = await broken.fsck({ repair: true });
  assert.equal(counts(result, "left")["resource-without-parent"], 1);
  assert.equal(result.clean, false);
  assert.equal(await broken.repoOf("api"), broken.repo);
});

test("the check runs while a server runs; repairing an embedded installation does not", async (t) => {
  const { env, dataDir, fsck } = await installation(t);
  const server = await startInstallation(t, env, dataDir);
  const pushing = Promise.all(["a", "b", "c", "d"].map((tag) => server.pushImage("acme/busy", tag, tag)));
  assert.deepEqual((await fsck({ deep: true })).findings, []);
  await pushing;
  if (ENGINE === "sqlite")
    await assert.rejects(
      fsck({ repair: true }),
      (error) => error instanceof StoreError && /in use/.test(error.message),
    );
  else assert.equal((await fsck({ repair: true })).clean, true);
  await server.close();
});

test("an error says that there is no installation", async (t) => {
  const config = loadConfig({ MOORAGE_DATA_DIR: temporaryFolder(t) });
  await assert.rejects(checkInstallation(config, { repair: false, deep: false }, SILENT), /no installation/);
});
