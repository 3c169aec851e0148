import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import {
  backupInstallation,
  checkInstallation,
  type Config,
  loadConfig,
  restoreInstallation,
  startServer,
  StoreError,
} from "../../src/index.ts";
import { blobFile } from "../../src/admin/backup/files.ts";
import { readBackup } from "../../src/admin/backup/manifest.ts";
import { SILENT } from "../../src/admin/progress.ts";
import { databasePath } from "../../../kernel/src/store/index.ts";
import { ENGINE } from "../support/database.ts";
import { type Installation, startInstallation, temporaryFolder } from "../support/installation.ts";

// Backups exist for embedded installations only, not on PostgreSQL.
const options = { skip: ENGINE === "postgres" && "backup is for SQLite and files", timeout: 300_000 };

function configOf(dataDir: string): Config {
  return loadConfig({ MOORAGE_DATA_DIR: dataDir, MOORAGE_PORT: "0", MOORAGE_LOG_LEVEL: "silent" });
}

async function isClean(config: Config): Promise<void> {
  // Open uploads are left to the server to clean up; content without a record is reported whatever its age.
  assert.deepEqual(
    (await checkInstallation({ ...config, uploadTtlMs: -60_000 }, { repair: false, deep: true }, SILENT)).findings,
    [],
  );
}

async function installation(t: TestContext): Promise<{ server: Installation; config: Config; dataDir: string }> {
  const dataDir = temporaryFolder(t);
  const server = await startInstallation(t, {}, dataDir);
  return { server, dataDir, config: configOf(dataDir) };
}

test(
  "a backup of a server during pushes and deletions is complete, and has everything acknowledged before it began",
  options,
  async (t) => {
    const { server, config, dataDir } = await installation(t);
    const before: string[] = [];
    let pushed = 0;
    let pushing = true;
    const push = async (worker: number): Promise<void> => {
      for (let n = 0; pushing; n += 1) {
        const image = await server.pushImage(`acme/w${worker}`, `t${n}`, `${worker} ${n}`);
        assert.equal(image.answer.status, 201);
        pushed += 1;
        before.push(`/v2/acme/w${worker}/manifests/${image.digest}`);
        if (n % 3 !== 2) continue;
        // A blob that is deleted right after its push.
        const digest = await server.pushBlob(`acme/w${worker}`, `short ${worker} ${n}`);
        assert.equal(
          (await server.ask("DELETE", `/v2/acme/w${worker}/blobs/${digest}`, { token: server.registry })).status,
          202,
        );
      }
    };
    const workers = Promise.all([0, 1, 2, 3].map(push));
    while (pushed < 40) await server.ask("GET", "/healthz");
    const acknowledged = [...before];
    const folder = join(temporaryFolder(t), "backup");
    const manifest = await backupInstallation(config, folder, SILENT);
    const during = pushed - acknowledged.length;
    pushing = false;
    await workers;
    await server.close();
    assert.ok(during > 0, "pushes went on meanwhile");
    assert.ok(manifest.blobs.count >= acknowledged.length);
    assert.deepEqual(
      [statSync(folder).mode & 0o777, statSync(join(folder, "secret.key")).mode & 0o777],
      [0o700, 0o600],
    );

    const restored = join(temporaryFolder(t), "restored");
    await restoreInstallation(configOf(restored), folder, { verify: true }, SILENT);
    await isClean(configOf(restored));
    const second = await startInstallation(t, { MOORAGE_PORT: new URL(server.url).port }, restored);
    for (const path of acknowledged)
      assert.equal((await second.ask("GET", path, { token: server.registry })).status, 200, path);
    assert.equal((await second.pushImage("acme/w0", "after", "after")).answer.status, 201);
    await second.close();
    await isClean(configOf(dataDir));
  },
);

test("when a blob is deleted during the backup, the database is copied again", options, async (t) => {
  const { server, config, dataDir } = await installation(t);
  await server.pushImage("acme/web", "one", "one");
  await server.close();
  const database = new DatabaseSync(databasePath(dataDir));
  const folder = temporaryFolder(t);
  const notes: string[] = [];
  let step = 0;
  const digest = `sha256:${"ab".repeat(32)}`;
  const blob = { digest, generation: "0123456789abcdef" };
  await backupInstallation(config, folder, {
    note: (text) => notes.push(text),
    progress: ({ step: name }) => {
      // Inserted after the first pass over the blobs, and deleted once the database that names it has been copied.
      if (name === "blobs" && step === 0) {
        database
          .prepare("insert into blobs (digest, generation, size, create_time) values (?, ?, 4, 0)")
          .run(digest, blob.generation);
        step = 1;
      } else if (name === "checking blobs" && step === 1) {
        database.prepare("delete from blobs where digest = ?").run(digest);
        step = 2;
      }
    },
  });
  database.close();
  assert.equal(step, 2);
  assert.match(notes.join(), /copied anew/);
  assert.equal(readBackup(folder).blobs.count, 2);
  const restored = temporaryFolder(t);
  await restoreInstallation(configOf(restored), folder, { verify: false }, SILENT);
  await isClean(configOf(restored));
});

test("a blob without content makes the backup fail, and the incomplete folder is no backup", options, async (t) => {
  const { server, config, dataDir } = await installation(t);
  const { layer } = await server.pushImage("acme/web", "one", "one");
  await server.close();
  const database = new DatabaseSync(databasePath(dataDir));
  const { generation } = database.prepare("select generation from blobs where digest = ?").get(layer) as {
    generation: string;
  };
  database.close();
  rmSync(blobFile(dataDir, { digest: layer, generation }));
  const folder = temporaryFolder(t);
  await assert.rejects(
    backupInstallation(config, folder, SILENT),
    (error) => error instanceof StoreError && error.message.includes(layer) && /fsck/.test(error.message),
  );
  await assert.rejects(
    restoreInstallation(configOf(temporaryFolder(t)), folder, { verify: false }, SILENT),
    /no whole backup/,
  );
});

test(
  "the backup is independent: later changes of the data folder change neither the backup nor a restored installation",
  options,
  async (t) => {
    const { server, config, dataDir } = await installation(t);
    const { layer } = await server.pushImage("acme/web", "one", "one");
    const stray = await server.pushBlob("acme/web", "stray");
    const folder = temporaryFolder(t);
    await backupInstallation(config, folder, SILENT);
    assert.equal((await server.ask("DELETE", `/v2/acme/web/blobs/${stray}`, { token: server.registry })).status, 202);
    await server.close();
    rmSync(dataDir, { recursive: true });
    const restored = temporaryFolder(t);
    await restoreInstallation(configOf(restored), folder, { verify: true }, SILENT);
    const second = await startInstallation(t, { MOORAGE_PORT: new URL(server.url).port }, restored);
    for (const digest of [layer, stray])
      assert.equal((await second.ask("GET", `/v2/acme/web/blobs/${digest}`, { token: server.registry })).status, 200);
    await second.close();
    // Restored once more from the same backup.
    await restoreInstallation(configOf(temporaryFolder(t)), folder, { verify: true }, SILENT);
  },
);

test("a damaged backup is refused, and no server starts on what was restored of it", options, async (t) => {
  const { server, config } = await installation(t);
  const { layer } = await server.pushImage("acme/web", "one", "one");
  await server.close();
  const folder = temporaryFolder(t);
  await backupInstallation(config, folder, SILENT);
  const database = new DatabaseSync(databasePath(folder), { readOnly: true });
  const { generation } = database.prepare("select generation from blobs where digest = ?").get(layer) as {
    generation: string;
  };
  database.close();
  const file = blobFile(folder, { digest: layer, generation });
  // The file is a hard link to the data folder's.
  rmSync(file);
  const refused = async (verify: boolean, expected: RegExp): Promise<void> => {
    const target = temporaryFolder(t);
    await assert.rejects(
      restoreInstallation(configOf(target), folder, { verify }, SILENT),
      (error) => error instanceof StoreError && expected.test(error.message),
    );
    await assert.rejects(startServer(configOf(target)), /has not come to its end/);
    await assert.rejects(restoreInstallation(configOf(target), folder, { verify }, SILENT), /not empty/);
  };
  await refused(false, /missing in the backup/);
  writeFileSync(file, "LAYER one");
  await refused(true, /digest or size differs/);
  truncateSync(file, 3);
  await refused(false, /size differs/);
  writeFileSync(file, "layer one");
  await restoreInstallation(configOf(temporaryFolder(t)), folder, { verify: true }, SILENT);

  chmodSync(databasePath(folder), 0o600);
  const bytes = readFileSync(databasePath(folder));
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  writeFileSync(databasePath(folder), bytes);
  const target = join(temporaryFolder(t), "never");
  await assert.rejects(restoreInstallation(configOf(target), folder, { verify: false }, SILENT), /its digest differs/);
  assert.ok(!existsSync(target));
});

test("an unsuitable source or target is refused with one line", options, async (t) => {
  const { server, config, dataDir } = await installation(t);
  await assert.rejects(backupInstallation(config, dataDir, SILENT), /not empty/);
  await assert.rejects(
    backupInstallation({ ...config, databaseUrl: "postgres://localhost/x" }, join(dataDir, "b"), SILENT),
    /pg_dump/,
  );
  await assert.rejects(
    backupInstallation({ ...config, blobsUrl: "s3://bucket" }, join(dataDir, "b"), SILENT),
    /moorage export/,
  );
  await assert.rejects(backupInstallation(configOf(temporaryFolder(t)), join(dataDir, "b"), SILENT), /no installation/);
  const folder = temporaryFolder(t);
  await backupInstallation(config, folder, SILENT);
  await server.close();
  await assert.rejects(restoreInstallation(config, folder, { verify: false }, SILENT), /not empty/);
  await assert.rejects(
    restoreInstallation({ ...config, databaseUrl: "postgres://localhost/x" }, folder, { verify: false }, SILENT),
    /export and import/,
  );
});
