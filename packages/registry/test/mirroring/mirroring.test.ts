import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exportInstallation, loadConfig } from "../../../server/src/index.ts";
import { databaseEnv, openTestStore } from "../../../server/test/support/database.ts";
import {
  digestOf,
  type Installation,
  OCI_IMAGE,
  OCI_INDEX,
  startInstallation,
  temporaryFolder,
} from "../../../server/test/support/installation.ts";
import { LOOPBACK, startPair, type Sync } from "../../../server/test/support/mirror.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

/** The digest that the tag has in the copy. */
async function digestAt(here: Installation, tag: string): Promise<string | undefined> {
  const { status, headers } = await here.ask("HEAD", `/v2/acme/copy/manifests/${tag}`, { token: here.registry });
  return status === 200 ? (headers.get("docker-content-digest") ?? "") : undefined;
}

async function tagsOf(here: Installation): Promise<string[]> {
  return (
    (await here.ask("GET", "/v2/acme/copy/tags/list", { token: here.registry })).json as unknown as { tags: string[] }
  ).tags;
}

test("tags, every architecture and referrers are copied byte for byte, and moves become history", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  const arms = await Promise.all(
    ["amd64", "arm64"].map((architecture) =>
      upstream.pushImage("acme/app", architecture, architecture, { architecture }),
    ),
  );
  const index = {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: arms.map(({ digest, size }) => ({ mediaType: OCI_IMAGE, digest, size })),
  };
  await upstream.pushManifest("acme/app", "v1", index);
  const empty = await upstream.pushBlob("acme/app", "{}");
  const signature = (subject: string, size: number) => ({
    schemaVersion: 2,
    mediaType: OCI_IMAGE,
    artifactType: "application/vnd.example.signature",
    config: { mediaType: "application/vnd.oci.empty.v1+json", digest: empty, size: 2 },
    layers: [],
    subject: { mediaType: OCI_IMAGE, digest: subject, size },
  });
  const onArm = signature(arms[1]?.digest ?? "", arms[1]?.size ?? 0);
  assert.equal((await upstream.pushManifest("acme/app", digestOf(JSON.stringify(onArm)), onArm)).status, 201);

  const uid = await mirror("copy", configOf("app"));
  const first = await copied(uid);
  assert.deepEqual(
    [first.state, first.message, first.tagsSeen, first.manifestsCopied, first.consecutiveFailures],
    ["SYNC_STATE_SUCCEEDED", "", 3, "4", 0],
  );
  const pull = (path: string) => here.ask("GET", `/v2/acme/copy/${path}`, { token: here.registry });
  const v1 = await pull("manifests/v1");
  assert.deepEqual(
    [v1.status, v1.text, v1.headers.get("docker-content-digest")],
    [200, JSON.stringify(index), digestOf(JSON.stringify(index))],
  );
  for (const { digest, layer, config } of arms) {
    assert.equal(digestOf((await pull(`manifests/${digest}`)).text), digest);
    for (const blob of [layer, config]) assert.equal(digestOf((await pull(`blobs/${blob}`)).text), blob);
  }
  const referrersOf = async (digest: string) =>
    ((await pull(`referrers/${digest}`)).json as unknown as { manifests: { digest: string }[] }).manifests.map(
      (each) => each.digest,
    );
  assert.deepEqual(await referrersOf(arms[1]?.digest ?? ""), [digestOf(JSON.stringify(onArm))]);

  // A signature is added later, and a tag moves.
  const onIndex = signature(digestOf(JSON.stringify(index)), JSON.stringify(index).length);
  await upstream.pushManifest("acme/app", digestOf(JSON.stringify(onIndex)), onIndex);
  const moved = await upstream.pushImage("acme/app", "amd64", "again");
  const second = await copied(uid);
  assert.deepEqual([second.state, second.manifestsCopied], ["SYNC_STATE_SUCCEEDED", "6"]);
  assert.deepEqual(await referrersOf(digestOf(JSON.stringify(index))), [digestOf(JSON.stringify(onIndex))]);
  const { history } = (await pull("_service/history/amd64")).json;
  assert.deepEqual(
    history.map(({ digest }) => digest),
    [arms[0]?.digest, moved.digest],
  );
  assert.equal((await copied(uid)).manifestsCopied, "6", "nothing new, nothing copied");
});

test("an index of which the source lacks manifests is copied to a repo that allows sparse indexes, and to no other", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  const organization = upstream.bootstrap.organization.uid;
  await upstream.api("POST", `/registry/v2/repos/${organization}`, { name: "app", tagPolicy: { allowSparse: true } });
  const amd = await upstream.pushImage("acme/app", "amd64", "amd64", { architecture: "amd64" });
  const absent = digestOf("a platform that was never pushed");
  const index = {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [amd, { digest: absent, size: 500 }].map(({ digest, size }) => ({ mediaType: OCI_IMAGE, digest, size })),
  };
  assert.equal((await upstream.pushManifest("acme/app", "v1", index)).status, 201);

  const whole = await copied(await mirror("whole", configOf("app")));
  assert.equal(whole.state, "SYNC_STATE_FAILED");
  assert.match(whole.message, new RegExp(`v1 .*${absent}`));

  const { uid } = await here.api<{ uid: string }>("POST", `/registry/v2/repos/${here.bootstrap.organization.uid}`, {
    name: "copy",
    tagPolicy: { allowSparse: true },
    syncConfig: configOf("app"),
  });
  for (const turn of ["first", "second"]) {
    const { state, message } = await copied(uid);
    assert.deepEqual([state, message], ["SYNC_STATE_SUCCEEDED", ""], turn);
  }
  const pull = (path: string) => here.ask("GET", `/v2/acme/copy/manifests/${path}`, { token: here.registry });
  const v1 = await pull("v1");
  assert.deepEqual([v1.status, v1.text], [200, JSON.stringify(index)]);
  assert.deepEqual([(await pull(amd.digest)).status, (await pull(absent)).status], [200, 404]);
  assert.deepEqual(await tagsOf(here), ["amd64", "v1"]);
});

test("the password is sealed in the database and nowhere in clear; it is sent to its host and to no other", async (t) => {
  const { upstream, front, here, configOf, mirror, copied } = await startPair(t);
  await upstream.pushImage("acme/app", "v1", "one");
  const uid = await mirror("copy", configOf("app"));
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.ok(
    front.seen.some(({ authorization }) => authorization?.startsWith("Bearer ")),
    "it was shown a token",
  );

  const { store, close } = await openTestStore(here.dataDir);
  t.after(close);
  const secret = upstream.platform;
  const kept = async (): Promise<string> =>
    (await store.reader.selectFrom("mirrors").select("password").where("repo", "=", uid).executeTakeFirstOrThrow())
      .password;
  assert.match(await kept(), /^s1\./);
  for (const row of await store.reader.selectFrom("repos").selectAll().execute())
    assert.ok(!JSON.stringify(row).includes(secret));
  const folder = join(temporaryFolder(t), "export");
  await exportInstallation(
    loadConfig({ MOORAGE_DATA_DIR: here.dataDir, ...(await databaseEnv(here.dataDir)) }),
    folder,
    { progress() {}, note() {} },
  );
  const exported = readdirSync(join(folder, "tables"))
    .map((name) => readFileSync(join(folder, "tables", name), "utf8"))
    .join("");
  assert.ok(exported.includes(await kept()) && !exported.includes(secret));

  const path = `/registry/v2/repos/${uid}`;
  const answers = [
    await here.api("GET", path),
    await here.api("PATCH", path, { description: "x" }),
    await here.api("GET", `${path}/sync`),
    await here.api("GET", "/registry/v2/repos"),
  ];
  assert.ok(!JSON.stringify(answers).includes(secret) && !JSON.stringify(answers).includes("password"));
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED", "a change of something else keeps it");
  await here.api("PATCH", path, {
    syncConfig: { source: `${front.url}/acme/app`, username: "robot", tagPattern: "v.*" },
  });
  assert.match(await kept(), /^s1\./, "so does a change of the configuration that names the same source and user");
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED");

  const elsewhere = await startFront(t, upstream.url);
  await here.api("PATCH", `${path}?updateMask=syncConfig.source`, {
    syncConfig: { source: `${elsewhere.url}/acme/app` },
  });
  assert.equal(await kept(), "");
  const refused = await copied(uid);
  assert.equal(refused.state, "SYNC_STATE_FAILED");
  assert.match(refused.message, /refused the credentials|does not let us pull/);
  await here.api("PATCH", path, {
    syncConfig: { source: `${front.url}/acme/app`, username: "robot", password: "wrong" },
  });
  const wrong = await copied(uid);
  assert.deepEqual([wrong.state, wrong.consecutiveFailures], ["SYNC_STATE_FAILED", 1]);
  await here.api("PATCH", path, {
    syncConfig: { source: `${front.url}/acme/app`, username: "other", password: secret },
  });
  await here.api("PATCH", `${path}?updateMask=syncConfig.username`, { syncConfig: { username: "robot" } });
  assert.equal(await kept(), "", "nor does it stay for another user");
  assert.ok(!here.lines.join("").includes(secret));
  assert.equal(
    (await here.ask("GET", "/v2/acme/copy/manifests/v1", { token: here.registry })).status,
    200,
    "what was copied is served all the while",
  );
});

test("an invalid source, pattern, interval or user name is rejected with its field", async (t) => {
  const { here } = await startPair(t);
  const parent = here.bootstrap.organization.uid;
  const blamed = async (syncConfig: object): Promise<string[]> => {
    const { status, json } = await here.ask("POST", `/registry/v2/repos/${parent}`, {
      token: here.platform,
      json: { name: "bad", syncConfig },
    });
    assert.equal(status, 400);
    return (json.details as unknown as { fieldViolations?: { field: string }[] }[])
      .flatMap(({ fieldViolations = [] }) => fieldViolations)
      .map(({ field }) => field);
  };
  const source = "registry.invalid/app";
  assert.deepEqual(await blamed({ source: "registry.invalid/app:v1" }), ["syncConfig.source"]);
  assert.deepEqual(
    await blamed({ source: "app", tagPattern: "(", interval: "1s", username: "a:b" }),
    ["source", "tagPattern", "interval", "username"].map((name) => `syncConfig.${name}`),
  );
  assert.deepEqual(await blamed({ source, interval: "2592001s" }), ["syncConfig.interval"]);
  assert.deepEqual(await blamed({ source, interval: "60.5s" }), ["syncConfig.interval"]);
  assert.deepEqual(await blamed({ source, password: "secret" }), ["syncConfig.username"]);
  const { uid } = await here.api("POST", `/registry/v2/repos/${parent}`, { name: "plain" });
  assert.deepEqual((await here.api<Sync>("GET", `/registry/v2/repos/${uid}/sync`)).state, "SYNC_STATE_UNSPECIFIED");
  assert.equal(
    (await here.ask("POST", `/registry/v2/repos/${uid}:sync`, { token: here.platform, json: {} })).status,
    400,
    "without a source there is nothing to copy",
  );
});

test("only tags of the pattern are followed, with the tags of their digests; immutable tags and tags deleted at the source stay", async (t) => {
  const { upstream, here, configOf, mirror, copied } = await startPair(t);
  const one = await upstream.pushImage("acme/app", "v1", "one");
  await upstream.pushImage("acme/app", "v2", "two");
  await upstream.pushImage("acme/app", "edge", "edge");
  await upstream.pushImage("acme/app", `${one.digest.replace(":", "-")}.sig`, "signature");
  await upstream.pushImage("acme/app", `sha256-${"0".repeat(64)}.sig`, "of something else");
  const uid = await mirror("copy", configOf("app", { tagPattern: "v\\d+|w" }));
  await here.api("PATCH", `/registry/v2/repos/${uid}`, { tagPolicy: { immutableTags: ["v1"] } });
  assert.deepEqual(
    [(await copied(uid)).tagsSeen, (await tagsOf(here)).sort()],
    [2, [`${one.digest.replace(":", "-")}.sig`, "v1", "v2"].sort()],
  );

  await upstream.pushImage("acme/app", "v1", "another one");
  const three = await upstream.pushImage("acme/app", "v2", "three");
  await upstream.ask("DELETE", "/v2/acme/app/manifests/v3", { token: upstream.registry });
  const after = await copied(uid);
  assert.equal(after.state, "SYNC_STATE_SUCCEEDED");
  assert.match(after.message, /^1 tag moved at the source and must stay as they are here: v1$/);
  assert.equal(await digestAt(here, "v1"), one.digest);
  assert.equal(await digestAt(here, "v2"), three.digest);

  await upstream.ask("DELETE", "/v2/acme/app/manifests/v2", { token: upstream.registry });
  await copied(uid);
  assert.equal(await digestAt(here, "v2"), three.digest, "a tag that is gone there stays here");
  const { store, close } = await openTestStore(here.dataDir);
  const history = await store.reader
    .selectFrom("tag_history")
    .select(["digest", "reason", "actor"])
    .where("repo", "=", uid)
    .where("tag", "=", "v2")
    .orderBy("time")
    .execute();
  await close();
  assert.deepEqual(
    history.map(({ reason, actor }) => ({ reason, actor })),
    [
      { reason: "mirror", actor: "" },
      { reason: "mirror", actor: "" },
    ],
  );
});

test("a source that asks to wait is waited for, and copied content is served meanwhile", async (t) => {
  const { upstream, front, here, configOf, mirror, copied, sync } = await startPair(t);
  const one = await upstream.pushImage("acme/app", "v1", "one");
  const uid = await mirror("copy", configOf("app"));
  await copied(uid);
  await upstream.pushImage("acme/app", "v1", "two");
  let asked = 0;
  front.intercept = (_, res) => {
    asked += 1;
    res.writeHead(429, { "retry-after": "7200" }).end();
    return true;
  };
  const limited = await copied(uid);
  assert.deepEqual([limited.state, limited.consecutiveFailures, asked], ["SYNC_STATE_RATE_LIMITED", 1, 1]);
  const waitMs = Date.parse(limited.nextTime ?? "") - Date.parse(limited.lastAttemptTime ?? "");
  assert.ok(waitMs >= 7_200_000 && waitMs < 8_000_000, `it retries after the requested time: ${waitMs}`);
  assert.equal(await digestAt(here, "v1"), one.digest);
  // A short wait happens within the run.
  asked = 0;
  front.intercept = (_, res) => {
    asked += 1;
    if (asked % 2 === 0) return false;
    res.writeHead(429, { "retry-after": "0" }).end();
    return true;
  };
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.equal((await sync(uid)).consecutiveFailures, 0);
  assert.notEqual(await digestAt(here, "v1"), one.digest);
});

test("an interrupted blob is resumed; errors of the source end the run; wrong bytes are never stored", async (t) => {
  const { upstream, front, here, configOf, mirror, copied } = await startPair(t);
  const seed = "x".repeat(1 << 20);
  const image = await upstream.pushImage("acme/app", "v1", seed);
  let cuts = 0;
  front.replace = (req, answer, res) => {
    if (!req.url?.endsWith(image.layer) || req.headers.range !== undefined) return false;
    cuts += 1;
    res.writeHead(answer.statusCode ?? 0, answer.headers);
    let sent = 0;
    answer.on("data", (chunk: Buffer) => {
      sent += chunk.length;
      res.write(chunk);
      if (sent > seed.length / 2) res.destroy();
    });
    return true;
  };
  const uid = await mirror("copy", configOf("app"));
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.equal(cuts, 1);
  assert.equal(
    digestOf((await here.ask("GET", `/v2/acme/copy/blobs/${image.layer}`, { token: here.registry })).text),
    image.layer,
  );

  const wrong = await upstream.pushImage("acme/app", "v2", "two");
  const good = await upstream.pushImage("acme/app", "v3", "three");
  front.replace = (req, answer, res) => {
    if (!req.url?.endsWith(wrong.layer)) return false;
    answer.resume();
    res
      .writeHead(200, { "content-length": answer.headers["content-length"] })
      .end("?".repeat(Number(answer.headers["content-length"])));
    return true;
  };
  const failed = await copied(uid);
  assert.deepEqual(
    [failed.state, failed.message],
    ["SYNC_STATE_FAILED", "1 tag could not be copied: v2 (a blob of the source is not what its digest says)"],
  );
  assert.deepEqual(
    [await digestAt(here, "v2"), await digestAt(here, "v3")],
    [undefined, good.digest],
    "the others are copied all the same",
  );
  assert.equal((await here.ask("HEAD", `/v2/acme/copy/blobs/${wrong.layer}`, { token: here.registry })).status, 404);

  front.replace = () => false;
  front.intercept = (_, res) => {
    res.writeHead(503).end();
    return true;
  };
  const down = await copied(uid);
  assert.deepEqual(
    [down.state, down.message, down.consecutiveFailures],
    ["SYNC_STATE_FAILED", "the source answered 503", 2],
  );
  assert.equal(await digestAt(here, "v3"), good.digest);
});

test("a redirect to another host is followed without the authorization, and redirects end after a limit", async (t) => {
  const { upstream, front, here, configOf, mirror, copied } = await startPair(t);
  const image = await upstream.pushImage("acme/app", "v1", "one");
  const shop = await startFront(t, upstream.url);
  shop.intercept = (req, res) => {
    const blob = [image.layer, image.config].find((digest) => req.url?.endsWith(digest));
    if (blob === undefined) return false;
    void upstream
      .ask("GET", `/v2/acme/app/blobs/${blob}`, { token: upstream.registry })
      .then(({ text }) => res.end(text));
    return true;
  };
  front.replace = (req, answer, res) => {
    if (answer.statusCode !== 200 || !req.url?.includes("/blobs/")) return false;
    answer.resume();
    res.writeHead(307, { location: `${shop.url}${req.url}` }).end();
    return true;
  };
  const uid = await mirror("copy", configOf("app"));
  assert.equal((await copied(uid)).state, "SYNC_STATE_SUCCEEDED");
  assert.deepEqual(
    shop.seen.map(({ authorization }) => authorization),
    [undefined, undefined],
  );
  assert.equal(await digestAt(here, "v1"), image.digest);

  // The redirect's host asks for credentials, and gets none.
  shop.intercept = (_, res) => {
    res.writeHead(401, { "www-authenticate": 'Basic realm="give"' }).end();
    return true;
  };
  await upstream.pushImage("acme/app", "v2", "two");
  const refused = await copied(uid);
  assert.deepEqual(
    [refused.state, refused.message],
    ["SYNC_STATE_FAILED", "1 tag could not be copied: v2 (the place that the source redirects to refuses (401))"],
  );
  assert.ok(shop.seen.every(({ authorization }) => authorization === undefined));

  front.intercept = (req, res) => {
    if (!req.url?.includes("/blobs/")) return false;
    res.writeHead(307, { location: req.url }).end();
    return true;
  };
  assert.match((await copied(uid)).message, /redirects more than 5 times/);
});

test("unless private networks are allowed, no request goes to a private address", async (t) => {
  const { upstream, front, here, configOf, mirror, copied } = await startPair(t, {});
  await upstream.pushImage("acme/app", "v1", "one");
  const { store, close } = await openTestStore(here.dataDir);
  t.after(close);
  for (const [name, source] of [
    ["plain", `${front.url}/acme/app`],
    ["tls", `https://${front.host}/acme/app`],
  ] as const) {
    await assert.rejects(mirror(name, configOf("app", { source })), /MOORAGE_ALLOW_PRIVATE_NETWORK is not set/);
    // A source that was set while the setting allowed it is still not asked.
    const uid = await mirror(name, { source: "registry.invalid/app" });
    await store.transact((tx) =>
      tx
        .updateTable("repos")
        .set({ sync_config: JSON.stringify({ source }) })
        .where("uid", "=", uid)
        .execute(),
    );
    const { state, message } = await copied(uid);
    assert.equal(state, "SYNC_STATE_FAILED");
    assert.match(message, /^the server does not fetch that: /);
  }
  assert.deepEqual(front.seen, []);
});

test("a run ends, and stores nothing more, when the repo changes its source or is deleted", async (t) => {
  const { upstream, front, here, configOf, mirror, copied, sync } = await startPair(t);
  const [one, two] = [
    await upstream.pushImage("acme/app", "v1", "one"),
    await upstream.pushImage("acme/other", "v1", "two"),
  ];
  const held: (() => void)[] = [];
  const { promise: stuck, resolve } = Promise.withResolvers<void>();
  front.replace = (req, answer, res) => {
    if (answer.statusCode !== 200 || !req.url?.includes(`/acme/app/blobs/${one.layer}`)) return false;
    held.push(() => void answer.pipe(res.writeHead(200, answer.headers)));
    resolve();
    return true;
  };
  const uid = await mirror("copy", configOf("app"));
  await stuck;
  await here.api("PATCH", `/registry/v2/repos/${uid}`, { syncConfig: configOf("other") });
  for (const go of held) go();
  await eventually(async () => (await sync(uid)).state === "SYNC_STATE_SUCCEEDED");
  assert.deepEqual([await digestAt(here, "v1"), (await sync(uid)).manifestsCopied], [two.digest, "1"]);
  assert.equal((await here.ask("HEAD", `/v2/acme/copy/blobs/${one.layer}`, { token: here.registry })).status, 404);
  assert.deepEqual(
    (await here.ask("GET", "/v2/acme/copy/_service/history/v1", { token: here.registry })).json.history.map(
      ({ digest }) => digest,
    ),
    [two.digest],
  );

  const { promise: again, resolve: seen } = Promise.withResolvers<void>();
  const image = await upstream.pushImage("acme/other", "v2", "three");
  front.replace = (req, answer, res) => {
    if (answer.statusCode !== 200 || !req.url?.endsWith(image.layer)) return false;
    held.push(() => void answer.pipe(res.writeHead(200, answer.headers)));
    seen();
    return true;
  };
  const ending = copied(uid).catch(() => undefined);
  await again;
  await here.api("DELETE", `/registry/v2/repos/${uid}`);
  for (const go of held.splice(1)) go();
  await ending;
  const { store, close } = await openTestStore(here.dataDir);
  assert.deepEqual(await store.reader.selectFrom("mirrors").selectAll().execute(), []);
  assert.deepEqual(await store.reader.selectFrom("repo_blobs").selectAll().execute(), []);
  await close();
});

test("the password is sealed again with a new secret key, and the metrics count runs", async (t) => {
  const [old, young] = [Buffer.alloc(32, 1).toString("base64"), Buffer.alloc(32, 2).toString("base64")];
  const pair = await startPair(t, { ...LOOPBACK, MOORAGE_SECRET_KEY: old });
  const { upstream, here, configOf, mirror } = pair;
  const image = await upstream.pushImage("acme/app", "v1", "one");
  const uid = await mirror("copy", configOf("app"));
  // Without asking for a turn, so that there is one: the first may be over by now.
  const { bytesCopied } = await eventually(async () => {
    const now = await pair.sync(uid);
    return now.state === "SYNC_STATE_SUCCEEDED" && now;
  });
  const counted = [
    'moorage_mirror_turns_total{outcome="succeeded"} 1',
    "moorage_mirror_turns_in_flight 0",
    "moorage_mirror_manifests_total 1",
    `moorage_mirror_received_bytes_total ${bytesCopied}`,
  ];
  let lines: string[] = [];
  // They are counted after the end of the turn is written, which is what was waited for.
  await eventually(async () => {
    lines = (await here.ask("GET", "/metrics")).text.split("\n").filter((line) => line.startsWith("moorage_mirror_"));
    return counted.every((line) => lines.includes(line));
  }).catch(() => assert.fail(`counted are ${lines.join("; ")}, and not ${counted.join("; ")}`));
  await here.close();
  const rotating = await startInstallation(t, { ...LOOPBACK, MOORAGE_SECRET_KEY: `${young},${old}` }, here.dataDir);
  await rotating.close();
  const last = await startInstallation(t, { ...LOOPBACK, MOORAGE_SECRET_KEY: young }, here.dataDir);
  const sync = async (): Promise<Sync> => last.api<Sync>("GET", `/registry/v2/repos/${uid}/sync`);
  await last.api("POST", `/registry/v2/repos/${uid}:sync`, {});
  const done = await eventually(async () => {
    const now = await sync();
    return !["SYNC_STATE_PENDING", "SYNC_STATE_RUNNING"].includes(now.state) && now;
  });
  assert.deepEqual(
    [done.state, done.message],
    ["SYNC_STATE_SUCCEEDED", ""],
    `${image.digest} needs no copying, the credentials are needed all the same`,
  );
});
