// Upstreams of groups as resources: fields, rights, what depends on them, and how they are kept.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SILENT } from "../../../server/src/admin/progress.ts";
import { exportInstallation, importInstallation, loadConfig, readBootstrap } from "../../../server/src/index.ts";
import { clockOf } from "../../../kernel/src/lib/clock.ts";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { credentialPlace, resealUpstreams } from "../../src/libraries/upstreams/credentials.ts";
import { removeUnusedUpstreamDocuments } from "../../src/libraries/upstreams/retention.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { openComposition } from "../../../server/test/support/composition.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { startNpmRegistry, tarballPath } from "../../../server/test/support/npm-registry.ts";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const PATH = "/libraries/v2/upstreams";
const NPM = { ecosystem: "ECOSYSTEM_JAVASCRIPT", url: "https://registry.npmjs.org" };
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const team = async (): Promise<string> => (await platform.group(platform.organization)).uid;
const ask = async (method: string, path: string, body?: object, token?: string): Promise<Answer> =>
  await platform.call(method, path, { token: token ?? (await platform.token()), body });

test("a group has one upstream for each ecosystem, which keeps it from being deleted", async () => {
  const group = await team();
  const made = await platform.ok("POST", `${PATH}/${group}`, {
    ...NPM,
    reservedNames: ["@acme/*"],
    password: "secret",
  });
  const { uid, createTime, updateTime, ...fields } = made;
  assert.ok(uid.startsWith(`${group}/`) && createTime === updateTime);
  assert.deepEqual(fields, {
    ...NPM,
    description: "",
    username: "",
    reservedNames: ["@acme/*"],
    mergedNames: [],
    disabled: false,
    lastError: "",
  });
  assert.deepEqual(await platform.ok("GET", `${PATH}/${uid}`), made);
  const again = await ask("POST", `${PATH}/${group}`, { ...NPM, url: "https://other.example.com" });
  assert.equal(again.status, 409);
  await platform.ok("POST", `${PATH}/${group}`, { ecosystem: "ECOSYSTEM_PYTHON", url: "https://pypi.org/simple" });
  const list = await platform.ok<Json>("GET", `${PATH}?uidp.childrenOf=${group}&ecosystem=ECOSYSTEM_JAVASCRIPT`);
  assert.deepEqual([list.totalCount, list["upstreams"]], ["1", [made]]);
  const all = await platform.ok<Json>("GET", `${PATH}?uidp.childrenOf=${group}&orderBy=ecosystem`);
  assert.deepEqual(
    (all["upstreams"] as Json[]).map(({ ecosystem }) => ecosystem),
    ["ECOSYSTEM_PYTHON", "ECOSYSTEM_JAVASCRIPT"],
  );
  const kept = await ask("DELETE", `/iam/v2/groups/${group}`);
  assert.match(kept.text, /still has upstreams: 2/);
  await platform.ok("DELETE", `${PATH}/${uid}`);
  assert.equal((await ask("GET", `${PATH}/${uid}`)).status, 404);
});

test("what is wrong with an upstream is said of each field, and nothing is made", async () => {
  const group = await team();
  const wrong = async (fields: object): Promise<string[]> => {
    const answer = await ask("POST", `${PATH}/${group}`, { ...NPM, ...fields });
    assert.equal(answer.status, 400, answer.text);
    return blamed(answer);
  };
  assert.deepEqual(await wrong({ ecosystem: undefined }), ["ecosystem"]);
  assert.deepEqual(await wrong({ description: "d".repeat(4_097), url: "nonsense" }), ["description", "url"]);
  for (const url of [
    "",
    "http://registry.example.com",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://10.0.0.1",
    "https://user:password@registry.example.com",
    "https://registry.example.com/?x=1",
    "https://registry.example.com/#x",
    "ftp://registry.example.com",
  ])
    assert.deepEqual(await wrong({ url }), ["url"], url);
  assert.deepEqual(await wrong({ username: "robot" }), ["password"]);
  assert.deepEqual(await wrong({ username: "a:b", password: "x y" }), ["username", "password"]);
  assert.deepEqual(await wrong({ reservedNames: ["ok", "", "a b"], mergedNames: ["ä"] }), [
    "reservedNames[1]",
    "reservedNames[2]",
    "mergedNames[0]",
  ]);
  assert.deepEqual(await wrong({ mergedNames: Array.from({ length: 201 }, (_, at) => `a${at}`) }), ["mergedNames"]);
  assert.equal((await platform.ok<Json>("GET", `${PATH}?uidp.childrenOf=${group}`)).totalCount, "0");
});

test("an update changes what its mask names, never the ecosystem, and keeps a password only for its registry", async () => {
  const group = await team();
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, { ...NPM, username: "robot", password: "hunter2" });
  const sealed = async (): Promise<string> =>
    (
      await platform.reader
        .selectFrom("upstreams")
        .select("credential")
        .where("uid", "=", uid)
        .executeTakeFirstOrThrow()
    ).credential;
  const before = await sealed();
  assert.ok(before !== "" && !before.includes("hunter2"));
  const immutable = await ask("PATCH", `${PATH}/${uid}?updateMask=ecosystem`, { ecosystem: "ECOSYSTEM_JAVA" });
  assert.deepEqual([immutable.status, blamed(immutable)], [400, ["updateMask"]]);
  const changed = await platform.ok("PATCH", `${PATH}/${uid}`, { disabled: true, mergedNames: ["left-pad"] });
  assert.deepEqual([changed["disabled"], changed["mergedNames"], changed["username"]], [true, ["left-pad"], "robot"]);
  assert.equal(await sealed(), before);
  const moved = await ask("PATCH", `${PATH}/${uid}`, { url: "https://elsewhere.example.com" });
  assert.deepEqual([moved.status, blamed(moved)], [400, ["password"]]);
  assert.equal(await sealed(), before, "nothing was written");
  await platform.ok("PATCH", `${PATH}/${uid}`, { url: "https://elsewhere.example.com", password: "other" });
  assert.notEqual(await sealed(), before);
});

test("a password is sealed for its upstream, and again when there is a new key", async () => {
  const { uid } = await platform.ok("POST", `${PATH}/${await team()}`, NPM);
  const [newKey, oldKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const sealed = createSecrets([oldKey]).seal("of old", credentialPlace(uid));
  const again = await platform.transact(async (tx) => {
    await tx.updateTable("upstreams").set({ credential: "" }).where("uid", "!=", uid).execute();
    await tx.updateTable("upstreams").set({ credential: sealed }).where("uid", "=", uid).execute();
    await resealUpstreams(tx, createSecrets([newKey, oldKey]));
    return await tx.selectFrom("upstreams").select("credential").where("uid", "=", uid).executeTakeFirstOrThrow();
  });
  assert.equal(createSecrets([newKey]).open(again.credential, credentialPlace(uid)), "of old");
  assert.throws(() => createSecrets([newKey]).open(again.credential, credentialPlace(`${uid}0`)));
});

test("editors change upstreams, viewers see them, pull tokens and strangers do not", async () => {
  const group = await team();
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, NPM);
  const as = async (role?: string): Promise<string> => platform.token(await platform.identity(group, role));
  const [editor, viewer, puller, stranger] = [
    await as("editor"),
    await as("viewer"),
    await as("registry.pull"),
    await as(),
  ];
  const change = (token: string): Promise<Answer> => ask("PATCH", `${PATH}/${uid}`, { description: "x" }, token);
  const statuses = async (token: string): Promise<number[]> => [
    (await ask("GET", `${PATH}/${uid}`, undefined, token)).status,
    (await change(token)).status,
    (await ask("POST", `${PATH}/${group}`, { ...NPM, ecosystem: "ECOSYSTEM_JAVA" }, token)).status,
  ];
  assert.deepEqual(await statuses(editor), [200, 200, 200]);
  assert.deepEqual(await statuses(viewer), [200, 403, 403]);
  assert.deepEqual(await statuses(puller), [404, 404, 403]);
  assert.deepEqual(await statuses(stranger), [404, 404, 404]);
});

test("an export has upstreams, their passwords and what came from them; fsck finds what belongs to nothing", async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish("left", "1.0.0");
  const env = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };
  const origin = await startInstallation(t, env);
  const { organization } = origin.bootstrap;
  await origin.api("POST", `${PATH}/${organization.uid}`, { ...NPM, url: registry.url, password: "hunter2" });
  const get = (url: string, token: string, path: string): Promise<Response> =>
    fetch(`${url}/npm/acme${path}`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await get(origin.url, origin.registry, tarballPath("left", "1.0.0"))).status, 200);
  await origin.close();
  const out = join(temporaryFolder(t), "out");
  await exportInstallation(origin.config, out, SILENT);
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) });
  await importInstallation(config, out, SILENT);
  const there = await startInstallation(t, env, dataDir);
  const asked = registry.asked.length;
  assert.equal((await get(there.url, there.registry, tarballPath("left", "1.0.0"))).status, 200);
  assert.equal((await get(there.url, there.registry, "/left")).status, 200);
  assert.equal(registry.asked.length, asked, "the document has come along, too");
  assert.equal((await get(there.url, there.registry, "/other")).status, 404);
  assert.equal(registry.asked.at(-1)?.headers.authorization, "Bearer hunter2");
  await there.close();

  const check = (repair: boolean): Promise<string[]> => foundBy(config, { repair });
  assert.deepEqual(await check(false), []);
  const { db, close } = await openTestStore(dataDir);
  t.after(close);
  const gone = "0".repeat(40);
  await db
    .updateTable("upstreams")
    .set({ uid: `${gone}/0000000000000000`, parent: gone })
    .execute();
  assert.deepEqual(await check(false), ["upstream-without-group 1", "upstream-document-without-upstream 1"]);
  await check(true);
  assert.deepEqual(await check(false), []);
});

test("what an upstream that is gone has said is removed, and what nobody has asked for in 90 days", async (t) => {
  const registry = await startNpmRegistry(t);
  const names = ["left", "right"];
  for (const name of names) registry.publish(name, "1.0.0");
  const folder = temporaryFolder(t);
  t.after(() => dropDatabase(folder));
  const clock = { offsetMs: 0, nowMs: () => Date.now() + clock.offsetMs };
  await using server = await openComposition(folder, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" }, { clock });
  const { bootstrap, transactor, access, config, db } = { ...server, bootstrap: readBootstrap(folder) };
  const row = (parent: string) => ({
    uid: newUid(parent),
    parent,
    ecosystem: 3,
    description: "",
    url: registry.url,
    username: "",
    credential: "",
    reserved_names: "[]",
    merged_names: "[]",
    disabled: 0,
    last_success_time: null,
    last_error: "",
    last_error_time: null,
    create_time: 0,
    update_time: 0,
  });
  const upstream = row(bootstrap.organization.uid);
  await db.insertInto("upstreams").values(upstream).execute();
  const get = async (name: string): Promise<number> => {
    const { token } = await access.tokens.mint({
      type: "access",
      identity: bootstrap.identity.uid,
      audiences: [config.registryAudience],
      ttlMs: 60_000,
      nowMs: clock.nowMs(),
    });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${config.registryUrl}/npm/acme/${name}`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const kept = async (): Promise<string[]> =>
    (await db.selectFrom("upstream_documents").select("name").orderBy("name").execute()).map(({ name }) => name);
  const clean = (): Promise<{ documents: number }> =>
    removeUnusedUpstreamDocuments({ transactor, clock: clockOf(clock.nowMs) }, AbortSignal.timeout(60_000));
  for (const name of names) assert.equal(await get(name), 200);
  assert.deepEqual([await clean(), await kept()], [{ documents: 0 }, names]);
  clock.offsetMs += 89 * 86_400_000;
  assert.equal(await get("left"), 200);
  clock.offsetMs += 2 * 86_400_000;
  assert.deepEqual([await clean(), await kept()], [{ documents: 1 }, ["left"]]);
  await db.deleteFrom("upstreams").execute();
  assert.deepEqual([await clean(), await kept()], [{ documents: 1 }, []]);
});

test("where private addresses are not allowed, an upstream there is not asked, whoever wrote it down", async (t) => {
  const registry = await startNpmRegistry(t);
  const group = await team();
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, NPM);
  const name = String((await platform.ok("GET", `/iam/v2/groups/${group}`))["name"]);
  const addresses = [
    registry.url,
    registry.url.replace("http:", "https:"),
    "https://localhost:9",
    "https://169.254.169.254",
  ];
  for (const url of addresses) {
    await platform.transact((tx) => tx.updateTable("upstreams").set({ url }).where("uid", "=", uid).execute());
    const answer = await ask("GET", `/npm/acme/${name}/left`);
    assert.equal(answer.status, 502, `${url}: ${answer.text}`);
    assert.match(answer.text, /does not fetch that/);
  }
  assert.deepEqual(registry.asked, []);
});
