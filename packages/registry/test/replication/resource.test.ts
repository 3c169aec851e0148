// Rules by which images are pushed elsewhere, as resources: fields, rights, and how they are kept.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { SILENT } from "../../../server/src/admin/progress.ts";
import { exportInstallation, importInstallation, loadConfig } from "../../../server/src/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { credentialPlace, resealReplications } from "../../src/replication/credentials.ts";

const PATH = "/registry/v2/replications";
const RULE = { name: "elsewhere", destination: "registry.example.com/acme" };
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const team = async (): Promise<string> => (await platform.group(platform.organization)).uid;
const ask = async (method: string, path: string, body?: object, token?: string): Promise<Answer> =>
  await platform.call(method, path, { token: token ?? (await platform.token()), body });

test("a group has rules with names of their own, which keep it from being deleted", async () => {
  const group = await team();
  const made = await platform.ok("POST", `${PATH}/${group}`, {
    ...RULE,
    repoPattern: "api/.*",
    tagPattern: "v[0-9]+",
    username: "robot",
    password: "secret",
    interval: "600s",
    deletions: "REPLICATION_DELETIONS_FOLLOW",
    bytesPerSecond: "65536",
    disabled: true,
  });
  const { uid, createTime, updateTime, ...fields } = made;
  assert.ok(uid.startsWith(`${group}/`) && createTime === updateTime);
  assert.deepEqual(fields, {
    ...RULE,
    description: "",
    repoPattern: "api/.*",
    tagPattern: "v[0-9]+",
    username: "robot",
    destinationIdentity: "",
    flatten: false,
    onPush: false,
    interval: "600s",
    deletions: "REPLICATION_DELETIONS_FOLLOW",
    onConflict: "REPLICATION_CONFLICT_STOP",
    bytesPerSecond: "65536",
    disabled: true,
    state: { pending: "0", running: "0", failed: "0", blocked: "0", bytes: "0", lastError: "" },
  });
  assert.deepEqual(await platform.ok("GET", `${PATH}/${uid}`), made);
  assert.equal((await ask("POST", `${PATH}/${group}`, RULE)).status, 409);
  const list = await platform.ok<Json>("GET", `${PATH}?uidp.childrenOf=${group}&name=elsewhere`);
  assert.deepEqual([list.totalCount, list["replications"]], ["1", [made]]);
  assert.match((await ask("DELETE", `/iam/v2/groups/${group}`)).text, /still has replications: 1/);
  const items = await platform.ok<Json>("GET", `${PATH}/${uid}/items?pageSize=1`);
  assert.deepEqual(items["items"], []);
  const run = await ask("POST", `${PATH}/${uid}:run`, {});
  assert.equal(run.status, 400);
  assert.match(run.text, /the replication is disabled/);
  assert.deepEqual(await platform.ok("DELETE", `${PATH}/${uid}?validateOnly=true`), {});
  await platform.ok("DELETE", `${PATH}/${uid}`);
  assert.equal((await ask("GET", `${PATH}/${uid}`)).status, 404);
});

test("what is wrong with a rule, or not supported, is said of each field, and nothing is made", async () => {
  const group = await team();
  const wrong = async (fields: object): Promise<string[]> => {
    const answer = await ask("POST", `${PATH}/${group}`, { ...RULE, ...fields });
    assert.equal(answer.status, 400, answer.text);
    return blamed(answer);
  };
  for (const destination of [
    "",
    "hub",
    "acme/team",
    "quay.io/acme:1",
    "quay.io/",
    "user:password@quay.io/acme",
    "ftp://quay.io/acme",
    "http://quay.io/acme",
    "127.0.0.1:5000/acme",
    "https://[::1]:5000/acme",
    "169.254.169.254:80/acme",
    "localhost:5000/acme",
    "quay.io/acme?x=1",
  ])
    assert.deepEqual(await wrong({ destination }), ["destination"], destination);
  for (const name of ["", "A", "a b", "-a"]) assert.deepEqual(await wrong({ name }), ["name"], name);
  assert.deepEqual(await wrong({ username: "robot" }), ["password"]);
  assert.deepEqual(await wrong({ password: "secret" }), ["username"]);
  assert.deepEqual(await wrong({ repoPattern: "(", tagPattern: "(?=a)" }), ["repoPattern", "tagPattern"]);
  assert.deepEqual(await wrong({ tagPattern: "(?:(?:a{100}){10}){2}" }), ["tagPattern"]);
  assert.deepEqual(await wrong({ interval: "1s", bytesPerSecond: "5" }), ["interval", "bytesPerSecond"]);
  assert.deepEqual(await wrong({ destinationIdentity: "robot" }), ["destinationIdentity"]);
  const both = { destinationIdentity: `${"0".repeat(40)}/${"0".repeat(16)}`, username: "robot", password: "secret" };
  assert.deepEqual(await wrong(both), ["destinationIdentity"]);
});

test("a password is kept only for its user at its destination, and sealed", async () => {
  const group = await team();
  const rule = { ...RULE, username: "robot", password: "hunter2", disabled: true };
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, rule);
  const sealed = async (): Promise<string> =>
    (
      await platform.reader
        .selectFrom("replications")
        .select("credential")
        .where("uid", "=", uid)
        .executeTakeFirstOrThrow()
    ).credential;
  const before = await sealed();
  assert.ok(before !== "" && !before.includes("hunter2"));
  await platform.ok("PATCH", `${PATH}/${uid}`, { description: "changed", tagPattern: "v.*" });
  assert.equal(await sealed(), before);
  for (const change of [{ username: "other" }, { destination: "quay.io/acme" }]) {
    const answer = await ask("PATCH", `${PATH}/${uid}`, change);
    assert.deepEqual([answer.status, blamed(answer)], [400, ["password"]], JSON.stringify(change));
  }
  await platform.ok("PATCH", `${PATH}/${uid}`, { destination: "quay.io/acme", password: "more" });
  assert.notEqual(await sealed(), before);
  const [newKey, oldKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const ofOld = createSecrets([oldKey]).seal("of old", credentialPlace(uid));
  const again = await platform.transact(async (tx) => {
    await tx.updateTable("replications").set({ credential: "" }).where("uid", "!=", uid).execute();
    await tx.updateTable("replications").set({ credential: ofOld }).where("uid", "=", uid).execute();
    await resealReplications(tx, createSecrets([newKey, oldKey]));
    return await tx.selectFrom("replications").select("credential").where("uid", "=", uid).executeTakeFirst();
  });
  assert.equal(createSecrets([newKey]).open(again?.credential ?? "", credentialPlace(uid)), "of old");
});

test("owners change rules, editors and viewers see them, pull tokens and strangers do not", async () => {
  const group = await team();
  const { uid } = await platform.ok("POST", `${PATH}/${group}`, { ...RULE, disabled: true });
  const as = async (role?: string): Promise<string> => platform.token(await platform.identity(group, role));
  const statuses = async (token: string): Promise<number[]> => [
    (await ask("GET", `${PATH}/${uid}`, undefined, token)).status,
    (await ask("GET", `${PATH}/${uid}/items`, undefined, token)).status,
    (await ask("PATCH", `${PATH}/${uid}`, { description: "x" }, token)).status,
    (await ask("POST", `${PATH}/${uid}:stop`, {}, token)).status,
    (await ask("POST", `${PATH}/${group}`, RULE, token)).status,
  ];
  assert.deepEqual(await statuses(await as("owner")), [200, 200, 200, 200, 409]);
  assert.deepEqual(await statuses(await as("editor")), [200, 200, 403, 403, 403]);
  assert.deepEqual(await statuses(await as("viewer")), [200, 200, 403, 403, 403]);
  assert.deepEqual(await statuses(await as("registry.pull")), [404, 404, 404, 404, 403]);
  assert.deepEqual(await statuses(await as()), [404, 404, 404, 404, 404]);
});

test("an export has rules with their sealed passwords; fsck finds items of none", async (t) => {
  const origin = await startInstallation(t);
  const { organization } = origin.bootstrap;
  const rule = { ...RULE, username: "robot", password: "hunter2", disabled: true };
  await origin.api("POST", `${PATH}/${organization.uid}`, rule);
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
  const row = await db.selectFrom("replications").selectAll().executeTakeFirstOrThrow();
  assert.ok(row.credential !== "" && !row.credential.includes("hunter2") && row.name === "elsewhere");
  const none = { digest: "", pushed_digest: "", put_digest: "", reason: "", holder: "", upload: "" };
  const zero = { state: 2, attempts: 0, hold_until: 0, wait_time: 0, bytes: 0, sent_bytes: 0, move_time: 0 };
  const item = { replication: "gone", repository: "app", tag: "1", repo: "gone", ...none, ...zero };
  await db
    .insertInto("replication_items")
    .values({ ...item, attempt_time: null, end_time: null })
    .execute();
  assert.deepEqual(await check(false), ["replication-item-without-replication 1"]);
  await check(true);
  assert.deepEqual(await check(false), []);
});
