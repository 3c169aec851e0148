// Registries that groups stand for, as resources: fields, rights, what depends on them, and how they are kept.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SILENT } from "../../../server/src/admin/progress.ts";
import { exportInstallation, importInstallation, loadConfig } from "../../../server/src/index.ts";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { credentialPlace, resealUpstreams } from "../../src/upstreams/credentials.ts";
import { nameAt, registryKey, registryOrigin } from "../../src/upstreams/registries.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const PATH = "/registry/v2/upstreams";
const HUB = { registry: "docker.io" };
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const team = async (): Promise<string> => (await platform.group(platform.organization)).uid;
const ask = async (method: string, path: string, body?: object, token?: string): Promise<Answer> =>
  await platform.call(method, path, { token: token ?? (await platform.token()), body });

test("a group stands for one registry, which keeps it from being deleted", async () => {
  const group = await team();
  const rules = { allowed: ["library/*"], denied: ["*/xmrig"], tagTtl: "600s", cooldown: "86400s" };
  const made = await platform.ok("POST", `${PATH}/${group}`, {
    ...HUB,
    ...rules,
    username: "robot",
    password: "secret",
  });
  const { uid, createTime, updateTime, ...fields } = made;
  assert.ok(uid.startsWith(`${group}/`) && createTime === updateTime);
  assert.deepEqual(fields, {
    ...HUB,
    ...rules,
    prefix: "",
    description: "",
    username: "robot",
    allowedDigests: [],
    maxBytes: "0",
    anonymousNetworks: [],
    disabled: false,
    lastError: "",
  });
  assert.deepEqual(await platform.ok("GET", `${PATH}/${uid}`), made);
  assert.equal((await ask("POST", `${PATH}/${group}`, { registry: "quay.io" })).status, 409);
  const list = await platform.ok<Json>("GET", `${PATH}?uidp.childrenOf=${group}&registry=docker.io`);
  assert.deepEqual([list.totalCount, list["registryUpstreams"]], ["1", [made]]);
  const kept = await ask("DELETE", `/iam/v2/groups/${group}`);
  assert.match(kept.text, /still has registry upstreams: 1/);
  const dry = await platform.ok("DELETE", `${PATH}/${uid}?validateOnly=true`);
  assert.deepEqual([dry, (await ask("GET", `${PATH}/${uid}`)).status], [{}, 200]);
  await platform.ok("DELETE", `${PATH}/${uid}`);
  assert.equal((await ask("GET", `${PATH}/${uid}`)).status, 404);
});

test("what is wrong with an upstream, or not supported, is said of each field, and nothing is made", async () => {
  const group = await team();
  const wrong = async (fields: object): Promise<string[]> => {
    const answer = await ask("POST", `${PATH}/${group}`, { ...HUB, ...fields });
    assert.equal(answer.status, 400, answer.text);
    return blamed(answer);
  };
  for (const registry of [
    "",
    "hub",
    "quay.io/acme",
    "user:password@quay.io",
    "quay.io?x=1",
    "http://quay.io",
    "127.0.0.1:5000",
    "https://[::1]:5000",
    "169.254.169.254:80",
    "localhost:5000",
    "QUAY.io",
    "-quay.io",
  ])
    assert.deepEqual(await wrong({ registry }), ["registry"], registry);
  for (const prefix of ["/acme", "acme/", "a//b", "Acme"])
    assert.deepEqual(await wrong({ prefix }), ["prefix"], prefix);
  assert.deepEqual(await wrong({ username: "robot" }), ["password"]);
  assert.deepEqual(await wrong({ password: "secret" }), ["username"]);
  assert.deepEqual(await wrong({ username: "a:b", password: "x y" }), ["username", "password"]);
  assert.deepEqual(await wrong({ allowed: ["ok", ""], denied: ["a b"] }), ["allowed[1]", "denied[0]"]);
  assert.deepEqual(await wrong({ tagTtl: "-1s", missingTtl: "0.5s", cooldown: "999999999s" }), [
    "tagTtl",
    "missingTtl",
    "cooldown",
  ]);
  assert.deepEqual(await wrong({ allowedDigests: ["sha256:short"], anonymousNetworks: ["10.0.0.0/8", "all"] }), [
    "allowedDigests[0]",
    "anonymousNetworks[1]",
  ]);
  assert.deepEqual(await wrong({ maxBytes: "-1" }), ["maxBytes"]);
  assert.deepEqual(await wrong({ maxBytes: "9007199254740992" }), ["maxBytes"]);
  assert.deepEqual(await wrong({ follow: { repoPattern: "(", tagPattern: "x{1000}{1000}", interval: "59s" } }), [
    "follow.repoPattern",
    "follow.tagPattern",
    "follow.interval",
  ]);
  const both = { follow: { exact: true }, cooldown: "60s", keepUnpulled: "86400s", maxBytes: "1" };
  assert.deepEqual(await wrong(both), ["follow", "follow", "follow"]);
  assert.deepEqual(await wrong({ keepUnpulled: "86399s", tagPolicy: { protectedTags: ["("] } }), [
    "keepUnpulled",
    "tagPolicy.protectedTags[0]",
  ]);
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, HUB);
  assert.deepEqual(blamed(await ask("PATCH", `${PATH}/${uid}`, { maxBytes: "-5" })), ["maxBytes"]);
});

test("an update keeps registry and prefix, and a password only for its user", async () => {
  const group = await team();
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, { ...HUB, username: "robot", password: "hunter2" });
  const sealed = async (): Promise<string> =>
    (
      await platform.reader
        .selectFrom("registry_upstreams")
        .select("credential")
        .where("uid", "=", uid)
        .executeTakeFirstOrThrow()
    ).credential;
  const before = await sealed();
  assert.ok(before !== "" && !before.includes("hunter2"));
  for (const field of ["registry", "prefix"]) {
    const answer = await ask("PATCH", `${PATH}/${uid}?updateMask=${field}`, { [field]: "quay.io" });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["updateMask"]], field);
  }
  const changed = await platform.ok("PATCH", `${PATH}/${uid}`, { disabled: true, denied: ["*/miner"] });
  assert.deepEqual([changed["disabled"], changed["denied"], changed["username"]], [true, ["*/miner"], "robot"]);
  assert.equal(await sealed(), before);
  const other = await ask("PATCH", `${PATH}/${uid}`, { username: "other" });
  assert.deepEqual([other.status, blamed(other)], [400, ["password"]]);
  await platform.ok("PATCH", `${PATH}/${uid}`, { username: "other", password: "more" });
  assert.notEqual(await sealed(), before);
  const [newKey, oldKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const ofOld = createSecrets([oldKey]).seal("of old", credentialPlace(uid));
  const again = await platform.transact(async (tx) => {
    await tx.updateTable("registry_upstreams").set({ credential: "" }).where("uid", "!=", uid).execute();
    await tx.updateTable("registry_upstreams").set({ credential: ofOld }).where("uid", "=", uid).execute();
    await resealUpstreams(tx, createSecrets([newKey, oldKey]));
    return await tx.selectFrom("registry_upstreams").select("credential").where("uid", "=", uid).executeTakeFirst();
  });
  assert.equal(createSecrets([newKey]).open(again?.credential ?? "", credentialPlace(uid)), "of old");
});

test("editors change upstreams, viewers see them, pull tokens and strangers do not", async () => {
  const group = await team();
  const other = await team();
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, HUB);
  const as = async (role?: string): Promise<string> => {
    const identity = await platform.identity(group, role);
    return platform.token(identity);
  };
  const statuses = async (token: string): Promise<number[]> => [
    (await ask("GET", `${PATH}/${uid}`, undefined, token)).status,
    (await ask("PATCH", `${PATH}/${uid}`, { description: "x" }, token)).status,
    (await ask("POST", `${PATH}/${group}`, HUB, token)).status,
    (await ask("POST", `${PATH}/${other}`, HUB, token)).status,
  ];
  assert.deepEqual(await statuses(await as("editor")), [200, 200, 409, 404]);
  assert.deepEqual(await statuses(await as("viewer")), [200, 403, 403, 404]);
  assert.deepEqual(await statuses(await as("registry.pull")), [404, 404, 403, 404]);
  assert.deepEqual(await statuses(await as()), [404, 404, 404, 404]);
});

test("an export has upstreams with their passwords; fsck finds what belongs to nothing", async (t) => {
  const origin = await startInstallation(t);
  const { organization } = origin.bootstrap;
  await origin.api("POST", `${PATH}/${organization.uid}`, { ...HUB, username: "robot", password: "hunter2" });
  await origin.close();
  const out = join(temporaryFolder(t), "out");
  await exportInstallation(origin.config, out, SILENT);
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) });
  await importInstallation(config, out, SILENT);
  const check = (repair: boolean): Promise<string[]> => foundBy(config, { repair });
  assert.deepEqual(await check(false), []);
  const { db, close } = await openTestStore(dataDir);
  t.after(close);
  const row = await db.selectFrom("registry_upstreams").selectAll().executeTakeFirstOrThrow();
  assert.ok(row.credential !== "" && row.registry === "docker.io");
  const gone = "0".repeat(40);
  await db.insertInto("upstream_repos").values({ repo: gone, upstream: row.uid, name: "library/nginx" }).execute();
  await db.insertInto("upstream_tags").values({ repo: "other", tag: "1", check_time: 1 }).execute();
  const noted = { repo: "other", digest: "sha256:1", parent: "", seen_time: 1 };
  await db.insertInto("upstream_digests").values(noted).execute();
  assert.deepEqual(await check(false), [
    "upstream-repo-without-repo 1",
    "upstream-tags-without-repo 1",
    "upstream-digests-without-repo 1",
  ]);
  await check(true);
  assert.deepEqual(await check(false), []);
});

test("docker.io has three names, one registry, and official images below library/", () => {
  for (const name of ["docker.io", "index.docker.io", "registry-1.docker.io"]) {
    assert.equal(registryKey(name), "docker.io");
    assert.equal(registryOrigin(name), "https://registry-1.docker.io");
    assert.equal(nameAt({ registry: name, prefix: "" }, "nginx"), "library/nginx");
    assert.equal(nameAt({ registry: name, prefix: "" }, "bitnami/nginx"), "bitnami/nginx");
    assert.equal(nameAt({ registry: name, prefix: "acme" }, "nginx"), "acme/nginx");
  }
  assert.equal(nameAt({ registry: "quay.io", prefix: "" }, "nginx"), "nginx");
  assert.equal(registryOrigin("quay.io"), "https://quay.io");
  assert.equal(registryOrigin("http://127.0.0.1:5000"), "http://127.0.0.1:5000");
});
