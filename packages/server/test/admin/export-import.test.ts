import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import {
  checkInstallation,
  type Config,
  ConfigError,
  exportInstallation,
  importInstallation,
  loadConfig,
  startServer,
  StoreError,
} from "../../src/index.ts";
import { blobFile } from "../../src/admin/backup/files.ts";
import { blobPath, readManifest, tablePath, writeManifest } from "../../src/admin/export/manifest.ts";
import { SILENT } from "../../src/admin/progress.ts";
import { EXPORTED_TABLES } from "../../src/admin/tables.ts";
import { databasePath, openStore } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, ENGINE } from "../support/database.ts";
import { startInstallation, temporaryFolder } from "../support/installation.ts";
import { NO_S3, s3Url } from "../support/s3.ts";

type Env = Record<string, string>;

/** A place for an installation: a data folder with files, and the database that the settings name. */
interface Place {
  dataDir: string;
  env: Env;
  config: Config;
}

const portOf = (url: string): string => new URL(url).port;

async function place(
  t: TestContext,
  engine: "sqlite" | "postgres",
  blobs: "files" | "s3" = "files",
  extra: Env = {},
): Promise<Place> {
  const dataDir = temporaryFolder(t);
  // The template's database is migrated and has no rows, like one that was never used.
  const env = {
    ...(engine === "sqlite" ? { MOORAGE_DATABASE_URL: "" } : await databaseEnv(dataDir)),
    ...(blobs === "s3" ? { MOORAGE_BLOBS_URL: s3Url() } : {}),
    ...extra,
  };
  t.after(() => dropDatabase(dataDir));
  return { dataDir, env, config: loadConfig({ MOORAGE_DATA_DIR: dataDir, ...env }) };
}

/**
 * Fills an installation with images, history, an identity and a large blob. Returns what must be the same after an
 * import.
 */
async function fill(t: TestContext, { dataDir, env }: Place) {
  const server = await startInstallation(t, env, dataDir);
  const { bootstrap } = server;
  const first = await server.pushImage("acme/team/api", "latest", "one");
  const second = await server.pushImage("acme/team/api", "latest", "two");
  for (const tag of ["a", "b", "c"]) await server.pushImage("acme/web", tag, tag);
  const large = randomBytes(3 << 20).toString("base64");
  const largeDigest = await server.pushBlob("acme/web", large);
  await server.pushBlob("acme/web", "");
  const { identity } = await server.addIdentity(bootstrap.organization.uid, "ci", "viewer");
  const token = await server.tokenFor("platform", identity);
  const page = await server.ask(
    "GET",
    `/registry/v2/repos?pageSize=1&uidp.descendantsOf=${bootstrap.organization.uid}`,
    { token },
  );
  const { nextPageToken } = JSON.parse(page.text) as { nextPageToken: string };
  assert.notEqual(nextPageToken, "");
  const history = (await server.ask("GET", "/v2/acme/team/api/_service/history/latest", { token: server.registry }))
    .json.history;
  assert.equal(history.length, 2);
  return {
    server,
    first,
    second,
    large,
    largeDigest,
    token,
    registry: server.registry,
    nextPageToken,
    history,
    bootstrap,
  };
}

/** Serves the place on the port of the earlier server, so that tokens name the same URLs, and compares everything. */
async function looksTheSame(
  t: TestContext,
  { dataDir, env }: Place,
  before: Awaited<ReturnType<typeof fill>>,
): Promise<void> {
  const server = await startInstallation(t, { ...env, MOORAGE_PORT: portOf(before.server.url) }, dataDir);
  assert.deepEqual(server.bootstrap, before.bootstrap);
  const get = (target: string, token = before.registry) => server.ask("GET", target, { token });
  assert.equal(
    (await get("/v2/acme/team/api/manifests/latest")).headers.get("docker-content-digest"),
    before.second.digest,
    "an old registry token verifies, and the tag points where it did",
  );
  assert.equal((await get(`/v2/acme/team/api/manifests/${before.first.digest}`)).status, 200);
  assert.equal((await get(`/v2/acme/team/api/blobs/${before.first.layer}`)).text, "layer one");
  assert.equal((await get(`/v2/acme/web/blobs/${before.largeDigest}`)).text, before.large);
  assert.deepEqual((await get("/v2/acme/team/api/_service/history/latest")).json.history, before.history);
  const next = await get(
    `/registry/v2/repos?pageSize=1&uidp.descendantsOf=${before.bootstrap.organization.uid}&pageToken=${encodeURIComponent(before.nextPageToken)}`,
    before.token,
  );
  assert.equal(next.json.repos[0]?.name, "web", "an old page token opens");
  assert.equal((await server.pushImage("acme/team/api", "latest", "three")).answer.status, 201);
  await server.close();
}

/** The files of tables in an export, with their content, without generations and encrypted values. */
function contentOf(folder: string): Record<string, string[]> {
  return Object.fromEntries(
    readdirSync(join(folder, "tables"))
      .sort()
      .map((name) => {
        const lines = readFileSync(join(folder, "tables", name), "utf8")
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Record<string, unknown>);
        return [
          name,
          lines.map(({ generation: _generation, private_jwk: _key, ...row }) =>
            JSON.stringify(row["key"] === "page_token_key" ? "sealed" : row),
          ),
        ];
      }),
  );
}

const ways: ["sqlite" | "postgres", "files" | "s3"][] = [
  ["sqlite", "files"],
  ...(ENGINE === "postgres" ? [["postgres", "files"] as ["postgres", "files"]] : []),
  ...(NO_S3 === false ? [[ENGINE, "s3"] as ["sqlite" | "postgres", "s3"]] : []),
];

test("exports and imports use S3, too", { skip: NO_S3 }, () => {
  assert.ok(ways.some(([, blobs]) => blobs === "s3"));
});

for (const [engine, blobs] of ways) {
  test(
    `an installation goes from SQLite and files to ${engine} and ${blobs}, and back, and is the same`,
    { timeout: 300_000 },
    async (t) => {
      const [origin, there, back] = [
        await place(t, "sqlite"),
        await place(t, engine, blobs, { MOORAGE_SECRET_KEY: randomBytes(32).toString("hex") }),
        await place(t, "sqlite"),
      ];
      const before = await fill(t, origin);
      const [out, home] = [temporaryFolder(t), temporaryFolder(t)];
      // The server runs during the export.
      const notes: string[] = [];
      const manifest = await exportInstallation(origin.config, out, { ...SILENT, note: (text) => notes.push(text) });
      assert.equal(manifest.complete, true);
      assert.equal(manifest.blobs.count, 12);
      assert.match(notes.join(), /keep it as safe as the data folder/);
      assert.equal(statSync(join(out, "secret.key")).mode & 0o777, 0o600);
      assert.ok(
        !readFileSync(join(out, "tables", "signing_keys.jsonl"), "utf8").includes('\\"d\\"'),
        "private keys stay sealed",
      );
      await before.server.close();
      await importInstallation(there.config, out, SILENT);
      const second = await exportInstallation(there.config, home, SILENT);
      assert.equal(second.secretKey, "settings");
      assert.deepEqual(contentOf(home), contentOf(out));
      // Back again: the settings' key decrypts the export, and the new folder's own key encrypts.
      const withKey = loadConfig({
        MOORAGE_DATA_DIR: back.dataDir,
        MOORAGE_SECRET_KEY: there.env["MOORAGE_SECRET_KEY"],
      });
      await assert.rejects(importInstallation(back.config, home, SILENT), /MOORAGE_SECRET_KEY/);
      await importInstallation(withKey, home, SILENT);
      await looksTheSame(t, there, before);
      await looksTheSame(
        t,
        { ...back, env: { ...back.env, MOORAGE_SECRET_KEY: there.env["MOORAGE_SECRET_KEY"] ?? "" } },
        before,
      );
    },
  );
}

/** An export of an installation whose server has ended. */
async function exported(
  t: TestContext,
): Promise<{ origin: Place; out: string; before: Awaited<ReturnType<typeof fill>> }> {
  const origin = await place(t, "sqlite");
  const before = await fill(t, origin);
  await before.server.close();
  const out = temporaryFolder(t);
  await exportInstallation(origin.config, out, SILENT);
  return { origin, out, before };
}

/** Asserts that no server starts there, and that the error says why in one line. */
async function refusesToServe({ config }: Place): Promise<void> {
  await assert.rejects(
    startServer({ ...config, port: 0 }),
    (error) =>
      error instanceof StoreError && /has not come to its end/.test(error.message) && !error.message.includes("\n"),
  );
}

async function startImport(
  t: TestContext,
  { dataDir, env }: Place,
  folder: string,
  stopAt: string,
): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "..", "support", "import-child.ts"), folder, stopAt],
    {
      env: { ...process.env, ...env, MOORAGE_DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  t.after(() => child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  assert.equal(line.toString().trim(), stopAt);
  return child;
}

test(
  "an import that was killed is reported, continues where it stopped, and gives the same installation",
  { timeout: 300_000 },
  async (t) => {
    const { out, before } = await exported(t);
    const target = await place(t, ENGINE, NO_S3 === false ? "s3" : "files");
    for (const step of ["blobs", "table blobs", "table tags", "table manifest_references"]) {
      const child = await startImport(t, target, out, step);
      child.kill("SIGKILL");
      await once(child, "exit");
      await refusesToServe(target);
      await assert.rejects(exportInstallation(target.config, temporaryFolder(t), SILENT), /has not come to its end/);
    }
    const other = await exported(t);
    await assert.rejects(importInstallation(target.config, other.out, SILENT), /another export/);
    await importInstallation(target.config, out, SILENT);
    const home = temporaryFolder(t);
    await exportInstallation(target.config, home, SILENT);
    assert.deepEqual(contentOf(home), contentOf(out));
    const { clean, findings } = await checkInstallation(
      { ...target.config, uploadTtlMs: -60_000 },
      { repair: false, deep: true },
      SILENT,
    );
    // Content that was stored but not yet recorded when the import was killed is used, or is content without a blob.
    assert.ok(clean || findings.every(({ kind }) => kind === "content-without-blob"), JSON.stringify(findings));
    await looksTheSame(t, target, before);
  },
);

test(
  "content that differs from the export stops the import, which continues once it is corrected",
  { timeout: 300_000 },
  async (t) => {
    const { out, before } = await exported(t);
    const target = await place(t, ENGINE);
    const layer = blobPath(out, before.first.layer);
    writeFileSync(layer, "LAYER one");
    await assert.rejects(
      importInstallation(target.config, out, SILENT),
      (error) => error instanceof StoreError && /digest differs/.test(error.message),
    );
    await refusesToServe(target);
    rmSync(layer);
    await assert.rejects(importInstallation(target.config, out, SILENT), /missing in the export/);
    writeFileSync(layer, "layer one");
    await importInstallation(target.config, out, SILENT);
    await looksTheSame(t, target, before);
  },
);

test("a table that differs from the export stops the import before anything is written", async (t) => {
  const { out } = await exported(t);
  const target = await place(t, ENGINE);
  const tags = tablePath(out, "tags");
  const text = readFileSync(tags, "utf8");
  writeFileSync(tags, text.replace('"name":"a"', '"name":"b"'));
  await assert.rejects(importInstallation(target.config, out, SILENT), /tags\.jsonl is not what was exported/);
  writeFileSync(tags, text);
  const manifest = readManifest(out);
  assert.ok(manifest);
  writeManifest(out, { ...manifest, complete: false });
  await assert.rejects(importInstallation(target.config, out, SILENT), /run moorage export again/);
  writeManifest(out, { ...manifest, schemaVersion: 999 });
  await assert.rejects(importInstallation(target.config, out, SILENT), /same version/);
  writeManifest(out, manifest);
  await importInstallation(target.config, out, SILENT);
});

test("an import needs an empty database and data folder", { timeout: 300_000 }, async (t) => {
  const { out, origin } = await exported(t);
  await assert.rejects(importInstallation(origin.config, out, SILENT), /there are blobs already/);
  const used = await place(t, ENGINE);
  await (await startServer({ ...used.config, port: 0, logLevel: "silent" })).close();
  await assert.rejects(importInstallation(used.config, out, SILENT), /there is an installation already/);
  await (await startServer({ ...used.config, port: 0, logLevel: "silent" })).close();
  await assert.rejects(importInstallation(used.config, temporaryFolder(t), SILENT), /there is no export/);
});

test(
  "when the key is in the settings, the import needs the old key, and afterwards only the new one",
  { timeout: 300_000 },
  async (t) => {
    const [old, fresh] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
    const origin = await place(t, "sqlite", "files", { MOORAGE_SECRET_KEY: old });
    const before = await fill(t, origin);
    await before.server.close();
    const out = temporaryFolder(t);
    const notes: string[] = [];
    await exportInstallation(origin.config, out, { ...SILENT, note: (text) => notes.push(text) });
    assert.match(notes.join(), /the import needs that key/);
    assert.ok(!existsSync(join(out, "secret.key")));
    const target = await place(t, ENGINE);
    const withKeys = (keys: string): Config =>
      loadConfig({ MOORAGE_DATA_DIR: target.dataDir, ...target.env, MOORAGE_SECRET_KEY: keys });
    for (const keys of ["", fresh])
      await assert.rejects(
        importInstallation(withKeys(keys), out, SILENT),
        (error) => error instanceof ConfigError && error.message.startsWith("MOORAGE_SECRET_KEY"),
      );
    await importInstallation(withKeys(`${fresh},${old}`), out, SILENT);
    await looksTheSame(t, { ...target, env: { ...target.env, MOORAGE_SECRET_KEY: fresh } }, before);
  },
);

test(
  "an interrupted export reuses the blobs that are correct, and an old one is brought up to date",
  { timeout: 300_000 },
  async (t) => {
    const { out, before, origin } = await exported(t);
    const [kept, damaged, short] = [
      blobPath(out, before.second.layer),
      blobPath(out, before.first.layer),
      blobPath(out, before.first.config),
    ];
    const { ino } = statSync(kept);
    writeFileSync(damaged, "LAYER one");
    writeFileSync(short, "{");
    const stray = blobPath(out, `sha256:${"ab".repeat(32)}`);
    writeFileSync(`${damaged}.part`, "half");
    const server = await startInstallation(t, origin.env, origin.dataDir);
    const third = await server.pushImage("acme/web", "new", "three");
    await server.close();
    const manifest = readManifest(out);
    assert.ok(manifest);
    writeManifest(out, { ...manifest, complete: false });
    const { blobs } = await exportInstallation(origin.config, out, SILENT);
    assert.equal(blobs.count, manifest.blobs.count + 2);
    assert.equal(statSync(kept).ino, ino, "what is right is not copied again");
    assert.equal(readFileSync(damaged, "utf8"), "layer one");
    assert.equal(readFileSync(blobPath(out, third.layer), "utf8"), "layer three");
    assert.ok(!existsSync(stray) && !existsSync(`${damaged}.part`));
    await assert.rejects(exportInstallation((await exported(t)).origin.config, out, SILENT), /another installation/);
    const full = temporaryFolder(t);
    writeFileSync(join(full, "letter"), "");
    await assert.rejects(exportInstallation(origin.config, full, SILENT), /not empty/);
  },
);

test(
  "when a blob is deleted during the export, the tables are read again; an error names a blob without content",
  { timeout: 300_000 },
  async (t) => {
    const origin = await place(t, "sqlite");
    const { server, largeDigest, first } = await fill(t, origin);
    await server.close();
    const database = new DatabaseSync(databasePath(origin.dataDir));
    t.after(() => database.close());
    const generationOf = (digest: string): string =>
      (database.prepare("select generation from blobs where digest = ?").get(digest) as { generation: string })
        .generation;
    const notes: string[] = [];
    let deleted = false;
    const out = temporaryFolder(t);
    const { blobs, tables } = await exportInstallation(origin.config, out, {
      note: (text) => notes.push(text),
      progress({ step }) {
        if (step !== "table counters" || deleted) return;
        deleted = true;
        rmSync(blobFile(origin.dataDir, { digest: largeDigest, generation: generationOf(largeDigest) }));
        database.exec(
          `delete from repo_blobs where digest = '${largeDigest}'; delete from blobs where digest = '${largeDigest}'`,
        );
      },
    });
    assert.match(notes.join(), /read anew/);
    assert.equal(blobs.count, 11);
    assert.equal(tables["blobs"]?.rows, 11);
    assert.ok(!existsSync(blobPath(out, largeDigest)));
    rmSync(blobFile(origin.dataDir, { digest: first.layer, generation: generationOf(first.layer) }));
    await assert.rejects(
      exportInstallation(origin.config, temporaryFolder(t), SILENT),
      (error) => error instanceof StoreError && error.message.includes(first.layer) && /fsck/.test(error.message),
    );
  },
);

test(
  "tables larger than a batch are exported completely, and so are manifests of arbitrary bytes",
  { timeout: 300_000 },
  async (t) => {
    const origin = await place(t, "sqlite");
    await (await fill(t, origin)).server.close();
    const database = new DatabaseSync(databasePath(origin.dataDir));
    const { uid: repo } = database.prepare("select uid from repos where name = 'web'").get() as { uid: string };
    const history = database.prepare("insert into tag_history values (?, ?, ?, ?, ?, ?, '')");
    const manifest = database.prepare(
      "insert into manifests values (?, ?, 'm', ?, ?, '', '', '{}', 0, 0, null, null, '{}', '', 0)",
    );
    database.exec("begin");
    for (let n = 0; n < 2503; n += 1)
      history.run(
        repo,
        `täg-${n % 7}`,
        1_700_000_000_000 + n,
        `sha256:${"00".repeat(32)}`,
        '\u{1F6A2} "quoted"\n',
        "push",
      );
    // Together they are larger than the size limit of a batch.
    for (let n = 0; n < 4; n += 1) manifest.run(repo, `sha256:${String(n).repeat(64)}`, randomBytes(3 << 20), 3 << 20);
    database.exec("commit");
    database.close();
    const [out, home] = [temporaryFolder(t), temporaryFolder(t)];
    const first = await exportInstallation(origin.config, out, SILENT);
    assert.equal(first.tables["tag_history"]?.rows, 2503 + 5);
    const target = await place(t, ENGINE);
    await importInstallation(target.config, out, SILENT);
    await exportInstallation(target.config, home, SILENT);
    assert.deepEqual(contentOf(home), contentOf(out));
  },
);

test("every table is exported, or left out on purpose", async (t) => {
  const { config } = await place(t, "sqlite");
  const store = await openStore(config);
  await store.migrate();
  await store.close();
  const database = new DatabaseSync(databasePath(config.dataDir), { readOnly: true });
  const tables = database
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
    )
    .all() as { name: string }[];
  assert.deepEqual(
    EXPORTED_TABLES.map(({ name }) => name as string)
      .concat(
        "uploads",
        "ended_uploads",
        "subscription_leases",
        "upstream_fetches",
        "processes",
        "job_leases",
        "change_keys",
        "pull_counters",
        "pull_coverage",
        "quota_shares",
        "download_counters",
        "download_coverage",
      )
      .sort(),
    tables.map(({ name }) => name),
  );
  for (const { name, key, bytes = [] } of EXPORTED_TABLES) {
    const columns = database.prepare(`pragma table_info(${name})`).all() as {
      name: string;
      type: string;
      pk: number;
    }[];
    assert.deepEqual(
      columns
        .filter(({ pk }) => pk > 0)
        .sort((a, b) => a.pk - b.pk)
        .map((column) => column.name),
      key,
    );
    assert.deepEqual(
      columns.filter(({ type }) => type.toLowerCase() === "blob").map((column) => column.name),
      bytes,
    );
  }
  database.close();
});

test(
  "a full disk stops an export and an import with one line, and both continue once there is space",
  { timeout: 300_000 },
  async (t) => {
    const small = temporaryFolder(t);
    const resize = (size: string, ...options: string[]): boolean =>
      spawnSync("mount", ["-t", "tmpfs", "-o", [`size=${size}`, ...options].join(","), "tmpfs", small]).status === 0;
    if (!resize("2m")) {
      t.skip("needs the right to mount a small tmpfs: run the tests as root on Linux");
      return;
    }
    try {
      const origin = await place(t, "sqlite");
      const before = await fill(t, origin);
      await before.server.close();
      const out = join(small, "out");
      const full = /^(?!.*\n).*(?:no space left|storage is full|disk is full)/i;
      const isFull = (error: unknown): boolean => error instanceof Error && full.test(error.message);
      await assert.rejects(exportInstallation(origin.config, out, SILENT), isFull);
      assert.equal(readManifest(out)?.complete, false);
      assert.ok(resize("8m", "remount"));
      await exportInstallation(origin.config, out, SILENT);
      const dataDir = join(small, "data");
      t.after(() => dropDatabase(dataDir));
      const target = { dataDir, env: { MOORAGE_DATABASE_URL: "" }, config: loadConfig({ MOORAGE_DATA_DIR: dataDir }) };
      await assert.rejects(importInstallation(target.config, out, SILENT), isFull);
      await refusesToServe(target);
      assert.ok(resize("30m", "remount"));
      await importInstallation(target.config, out, SILENT);
      await looksTheSame(t, target, before);
    } finally {
      // If the server of a failed test still runs, the lazy unmount does not wait for it.
      spawnSync("umount", ["-l", small]);
    }
  },
);
