import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { collectGarbage } from "../../src/oci/index.ts";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { collectInstallation, loadConfig, StoreError } from "../../../server/src/index.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { GRACE_MS, NOTHING, startCollecting } from "../../../server/test/support/garbage-collection.ts";
import { databaseEnv } from "../../../server/test/support/database.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { anyDigest, digestOf, OCI_IMAGE, type RegistryServer } from "../../../server/test/support/registry-server.ts";
import { removeUnlinkedBlobs, removeUnneededBlobs, removeUnneededManifests } from "../../src/oci/gc/commands.ts";

const REMOVALS = [removeUnlinkedBlobs, removeUnneededBlobs, removeUnneededManifests].map(({ name }) => name);
/** Whether the command is one with which a collection removes content. */
const isRemoval = (name: string): boolean => REMOVALS.includes(name);

// Collections beside pulls, pushes, a server and other collections.

test("a pull of a blob that is being collected answers all of it or 404", { timeout: 300_000 }, async (t) => {
  const { pass, pushBlob, run, ask, mint, viewer, stored } = await startCollecting(t);
  const contents = Array.from({ length: 40 }, (_, at) => `${at} `.padEnd(at % 2 === 0 ? 100 : 100_000, "x"));
  const digests: string[] = [];
  for (const content of contents) digests.push(await pushBlob("acme/app", content));
  pass(5);
  const token = await mint(viewer);
  let going = true;
  const pulling = Promise.all(
    [0, 1, 2].map(async (offset) => {
      for (let at = offset; going; at += 1) {
        const digest = digests[at % digests.length] ?? "";
        const { status, text, json } = await ask(`/v2/acme/app/blobs/${digest}`, { token });
        assert.ok(status === 200 || status === 404, text);
        if (status === 200) assert.equal(digestOf(text), digest);
        else assert.equal(json.errors[0]?.code, "BLOB_UNKNOWN");
      }
    }),
  );
  assert.equal((await run()).blobs, digests.length);
  going = false;
  await pulling;
  for (const digest of digests) assert.equal((await ask(`/v2/acme/app/blobs/${digest}`, { token })).status, 404);
  assert.equal(await stored(), 0);
});

/** Adds manifests that nothing needs to the repo, without a push of each. */
async function addGarbage({ db, repoUid }: RegistryServer, name: string, count: number): Promise<void> {
  const repo = await repoUid(name);
  const rows = Array.from({ length: count }, () => ({
    repo,
    digest: anyDigest(),
    media_type: OCI_IMAGE,
    content: Buffer.from("{}"),
    size: 2,
    subject: "",
    artifact_type: "",
    annotations: "{}",
    create_time: 1,
    touch_time: 1,
  }));
  for (let at = 0; at < rows.length; at += 100)
    await db
      .insertInto("manifests")
      .values(rows.slice(at, at + 100))
      .execute();
}

test(
  "pushes continue beside concurrent collections, and each manifest is removed once",
  { timeout: 300_000 },
  async (t) => {
    const gc = await startCollecting(t);
    const { pushBlob, push, run, hasManifest } = gc;
    await pushBlob("acme/app", "x");
    await addGarbage(gc, "app", 3000);
    const running = [run(), run(), run()];
    const pushed: string[] = [];
    for (let at = 0; at < 20; at++) pushed.push((await push("acme/app", `t${at}`, `pushed ${at}`)).digest);
    const went = await Promise.all(running);
    assert.equal(
      went.reduce((sum, { manifests }) => sum + manifests, 0),
      3000,
    );
    assert.deepEqual(await run(), NOTHING);
    for (const digest of pushed) assert.ok(await hasManifest("acme/app", digest));
  },
);

test("content that becomes needed between the read and the removal stays", async (t) => {
  const gc = await startCollecting(t);
  const { pass, push, pushBlob, pushManifest, hasManifest, hasBlob, deps, clock } = gc;
  const tagged = await push("acme/app", undefined, "tagged in between");
  const needed = await push("acme/app", undefined, "referred to in between");
  const again = await push("acme/app", undefined, "pushed again in between");
  const gone = await push("acme/app", undefined, "nobody's");
  const blob = await pushBlob("acme/app", "linked again in between");
  pass(5);
  const { transactor } = deps;
  let between: (() => Promise<unknown>) | undefined = async () => {
    assert.equal((await pushManifest("acme/app", "kept", tagged.manifest)).status, 201);
    await gc.pushIndex("acme/app", "index", [needed.digest]);
    assert.equal((await pushManifest("acme/app", again.digest, again.manifest)).status, 201);
    await pushBlob("acme/app", "linked again in between");
  };
  // Runs right before the first write of the collection, when it has read all manifests of the repo.
  const meanwhile = async (name: string): Promise<void> => {
    const act = isRemoval(name) ? between : undefined;
    if (act === undefined) return;
    between = undefined;
    await act();
  };
  const interrupted: typeof transactor = {
    ...transactor,
    write: (command, data, input) => meanwhile(command.name).then(() => transactor.write(command, data, input)),
  };
  const went = await collectGarbage(
    { ...deps, transactor: interrupted },
    {
      nowMs: clock.nowMs(),
      graceMs: GRACE_MS,
      uploadTtlMs: deps.config.uploadTtlMs,
      dryRun: false,
      signal: new AbortController().signal,
    },
  );
  assert.equal(between, undefined, "the collection wrote");
  assert.equal(went.manifests, 1);
  assert.equal(await hasManifest("acme/app", gone.digest), false);
  for (const { digest } of [tagged, needed, again]) assert.ok(await hasManifest("acme/app", digest), digest);
  assert.ok(await hasBlob("acme/app", blob));
});

test("an aborted collection ends between two steps, and the next one continues", async (t) => {
  const gc = await startCollecting(t);
  await gc.pushBlob("acme/app", "x");
  await addGarbage(gc, "app", 600);
  const stopping = new AbortController();
  const stopped = gc.run({ signal: stopping.signal });
  stopping.abort(new Error("enough"));
  await assert.rejects(stopped, /enough/);
  const { n } = await gc.db
    .selectFrom("manifests")
    .select(({ fn }) => fn.countAll<number>().as("n"))
    .executeTakeFirstOrThrow();
  assert.ok(n > 0);
  assert.equal((await gc.run()).manifests, n);
});

test("a collection skips rows under contention, and the next one removes them", async (t) => {
  const gc = await startCollecting(t);
  for (const name of ["acme/one", "acme/two"]) {
    await gc.pushBlob(name, `blob of ${name}`);
    await addGarbage(gc, name.slice("acme/".length), 60);
  }
  gc.pass(5);
  let writes = 0;
  const { transactor } = gc.deps;
  const contended: typeof transactor = {
    ...transactor,
    write: (command, data, input) =>
      isRemoval(command.name) && (writes += 1) % 2 === 1
        ? Promise.reject(new MoorageError(Code.Aborted, "Aborted: others change the same all the time"))
        : transactor.write(command, data, input),
  };
  const options = {
    nowMs: gc.clock.nowMs(),
    graceMs: GRACE_MS,
    uploadTtlMs: 60_000,
    dryRun: false,
    signal: new AbortController().signal,
  };
  const first = await collectGarbage({ ...gc.deps, transactor: contended }, options);
  assert.ok(first.manifests > 0 && first.manifests < 120, JSON.stringify(first));
  const rest = await gc.run();
  assert.equal(first.manifests + rest.manifests, 120);
  assert.equal(first.blobs + rest.blobs, 2);
  const broken: typeof transactor = {
    ...transactor,
    write: () => Promise.reject(new MoorageError(Code.Unavailable, "Unavailable: the database cannot be reached")),
  };
  await addGarbage(gc, "one", 1);
  await assert.rejects(collectGarbage({ ...gc.deps, transactor: broken }, options), /cannot be reached/);
});

test("a tree larger than one transaction is removed completely", async (t) => {
  const { pass, push, pushBlob, run, db, repoUid } = await startCollecting(t);
  await pushBlob("acme/app", "x");
  const image = await push("acme/app", undefined, "image");
  const repo = await repoUid("app");
  const rows = Array.from({ length: 2500 }, () => ({
    repo,
    digest: anyDigest(),
    media_type: OCI_IMAGE,
    content: Buffer.from("{}"),
    size: 2,
    subject: image.digest,
    artifact_type: "",
    annotations: "{}",
    create_time: 1,
    touch_time: 1,
  }));
  for (let at = 0; at < rows.length; at += 100)
    await db
      .insertInto("manifests")
      .values(rows.slice(at, at + 100))
      .execute();
  assert.equal((await run()).manifests, 0, "the image is young, and so its referrers stay");
  pass(5);
  assert.equal((await run()).manifests, 2501);
});

/** A server with a very short grace, and the configuration for collections beside it. */
async function startBeside(t: TestContext, env: Record<string, string>, dataDir = temporaryFolder(t)) {
  const settings = { MOORAGE_GC_GRACE: "100ms", ...env };
  const server = await startInstallation(t, settings, dataDir);
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)), ...settings });
  const blobStatus = async (name: string, digest: string): Promise<number> =>
    (await server.ask("GET", `/v2/${name}/blobs/${digest}`, { token: server.registry })).status;
  return { ...server, config, blobStatus };
}

test("a server collects by itself, logs it and counts it", { timeout: 300_000 }, async (t) => {
  const dataDir = temporaryFolder(t);
  // One that does not collect takes the pushes, which may take any time.
  const before = await startBeside(t, { MOORAGE_GC_INTERVAL: "0" }, dataDir);
  const kept = await before.pushImage("acme/app", "v1", "kept");
  const digest = await before.pushBlob("acme/app", "nobody needs this");
  await before.close();
  const { ask, registry, lines, url, close } = await startBeside(t, { MOORAGE_GC_INTERVAL: "50ms" }, dataDir);
  // The blob is not polled: a request of a caller with the right to push would renew its grace.
  await eventually(() => lines.some((line) => line.includes(`"bytes":17`) && line.includes("garbage collected")));
  assert.equal((await ask("HEAD", `/v2/acme/app/blobs/${digest}`, { token: registry })).status, 404);
  assert.equal((await ask("GET", `/v2/acme/app/blobs/${kept.layer}`, { token: registry })).status, 200);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /^moorage_gc_blobs_total 1$/m);
  assert.match(metrics, /^moorage_gc_bytes_total 17$/m);
  assert.match(metrics, /^moorage_gc_manifests_total 0$/m);
  assert.match(metrics, /^moorage_gc_runs_total [1-9]\d*$/m);
  assert.match(metrics, /^moorage_gc_last_success_time_seconds 1\d{9}(?:\.\d+)?$/m);
  await close();
  assert.deepEqual(
    lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 40),
    [],
    "stopping the server is no failure of the collection",
  );
});

test("with an interval of 0 only the command collects, beside the server", { timeout: 300_000 }, async (t) => {
  const { pushBlob, pushImage, api, config, blobStatus, lines } = await startBeside(t, { MOORAGE_GC_INTERVAL: "0" });
  const image = await pushImage("acme/team/app", "v1", "kept");
  const [one, other] = [await pushBlob("acme/team/app", "one"), await pushBlob("acme/other", "other")];
  await wait(150);
  const named: string[] = [];
  const onRepo = (name: string): void => void named.push(name);
  assert.deepEqual(await collectInstallation(config, { dryRun: true, onRepo }), {
    tags: 0,
    manifests: 0,
    blobs: 2,
    bytes: 8,
  });
  assert.deepEqual(named.sort(), ["acme/other", "acme/team/app"]);
  assert.deepEqual(await collectInstallation(config, { dryRun: false, graceMs: 3_600_000 }), NOTHING);
  assert.deepEqual(await collectInstallation(config, { dryRun: false, repo: "acme/other" }), {
    tags: 0,
    manifests: 0,
    blobs: 1,
    bytes: 5,
  });
  assert.equal(await blobStatus("acme/other", other), 404);
  const both = await Promise.all([
    collectInstallation(config, { dryRun: false }),
    collectInstallation(config, { dryRun: false }),
  ]);
  assert.equal(
    both.reduce((sum, { blobs }) => sum + blobs, 0),
    1,
  );
  assert.equal(await blobStatus("acme/team/app", one), 404);
  for (const digest of [image.layer, image.config]) assert.equal(await blobStatus("acme/team/app", digest), 200);
  assert.deepEqual(
    lines.filter((line) => line.includes("garbage collected")),
    [],
  );
  const { repos } = await api("GET", "/registry/v2/repos?name=app");
  await api("DELETE", `/registry/v2/repos/${repos[0]?.uid}`);
  assert.deepEqual(await collectInstallation(config, { dryRun: false }), {
    tags: 0,
    manifests: 0,
    blobs: 2,
    bytes: 10 + 51,
  });
  await assert.rejects(
    collectInstallation(config, { dryRun: true, repo: "acme/nothing" }),
    (error) => error instanceof StoreError && /no image acme\/nothing/.test(error.message),
  );
  const nowhere = loadConfig({ MOORAGE_DATA_DIR: temporaryFolder(t) });
  await assert.rejects(collectInstallation(nowhere, { dryRun: true }), /there is no installation/);
});

test("a server that stops during a collection logs no failure", { timeout: 300_000 }, async (t) => {
  const { pushBlob, lines, close } = await startBeside(t, { MOORAGE_GC_INTERVAL: "10ms", MOORAGE_GC_GRACE: "1ms" });
  for (let at = 0; at < 20; at++) await pushBlob(`acme/app${at % 4}`, `blob ${at}`);
  await eventually(() => lines.some((line) => line.includes("garbage collected")));
  await close();
  assert.deepEqual(
    lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 40),
    [],
  );
});
