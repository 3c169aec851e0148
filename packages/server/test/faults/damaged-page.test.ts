import assert from "node:assert/strict";
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { SILENT } from "../../src/admin/progress.ts";
import { checkInstallation, loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { databasePath } from "../../../kernel/src/store/index.ts";
import { ENGINE } from "../support/database.ts";
import { temporaryFolder } from "../support/installation.ts";
import { startProcess } from "../support/processes.ts";
import { eventually } from "../support/eventually.ts";

const OPTIONS = { timeout: 300_000, skip: ENGINE !== "sqlite" && "PostgreSQL looks after its own pages" };
const REPOS = 40;

/** The leaf pages of the table in the file, and functions that damage them and bring them back. */
function pagesOf(path: string, table: string) {
  const database = new DatabaseSync(path);
  database.exec("pragma wal_checkpoint(truncate)");
  const { page_size: size } = database.prepare("pragma page_size").get() as { page_size: number };
  const pages = database
    .prepare("select pageno from dbstat where name = ? and pagetype = 'leaf'")
    .all(table) as unknown as { pageno: number }[];
  database.close();
  const each = (work: (file: number, at: number, page: number) => void): void => {
    const file = openSync(path, "r+");
    for (const [page, { pageno }] of pages.entries()) work(file, (pageno - 1) * size, page);
    closeSync(file);
  };
  const saved = pages.map(() => Buffer.alloc(size));
  each((file, at, page) => void readSync(file, saved[page] ?? Buffer.alloc(0), 0, size, at));
  return {
    damage: () => each((file, at) => void writeSync(file, Buffer.alloc(size, 0xff), 0, size, at)),
    restore: () => each((file, at, page) => void writeSync(file, saved[page] ?? Buffer.alloc(0), 0, size, at)),
  };
}

/** A server in a process of its own, and its database's pages of repos. */
async function openServer(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const env = { MOORAGE_DATA_DIR: dataDir, MOORAGE_BASE_URL: "http://moorage.test", MOORAGE_CONSOLE: "0" };
  const config = loadConfig(env);
  let server = await startProcess(t, env);
  const organization = readBootstrap(dataDir).organization.uid;
  const { token } = await signToken({ config, audience: "platform", ttlMs: 3_600_000 });
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "text/html, */*" },
      signal: AbortSignal.timeout(60_000),
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  for (let at = 0; at < REPOS; at += 1) {
    const repo = { name: `repo-${at}`, description: "x".repeat(1000) };
    assert.equal((await ask("POST", `/registry/v2/repos/${organization}`, repo)).status, 200);
  }
  assert.equal(await server.stop(), 0);
  const pages = pagesOf(databasePath(dataDir), "repos");
  server = await startProcess(t, env);
  return { config, organization, pages, ask, log: () => server.lines, stop: () => server.stop() };
}

test(
  "a damaged page fails the reads that need it, and no others; once it is back they are answered again",
  OPTIONS,
  async (t) => {
    const { organization, pages, ask, log, stop } = await openServer(t);
    const list = (): ReturnType<typeof ask> => ask("GET", "/registry/v2/repos?page_size=100");
    assert.equal((await ask("GET", "/readyz")).status, 200);
    pages.damage();
    for (let times = 0; times < 3; times += 1) {
      const { status, text } = await list();
      assert.deepEqual([status, (JSON.parse(text) as { code: number }).code], [500, 13], text);
      assert.doesNotMatch(text, /malformed/);
      assert.equal((await ask("GET", "/iam/v2/groups")).status, 200);
    }
    assert.deepEqual(await ask("GET", "/readyz"), { status: 503, text: "not ready: the database is damaged" });
    assert.match((await ask("GET", "/")).text, /The server is not ready: the database is damaged\./);
    assert.equal((await ask("GET", "/healthz")).status, 200);
    await eventually(() =>
      log().some(({ level, msg }) => level >= 50 && /database \S+moorage\.db is damaged: .*moorage restore/.test(msg)),
    );
    // A write that needs the page fails like a read, and others go on.
    assert.equal((await ask("POST", `/registry/v2/repos/${organization}`, { name: "more" })).status, 500);
    assert.equal((await ask("POST", `/iam/v2/groups/${organization}`, { name: "team" })).status, 200);
    pages.restore();
    assert.equal((await list()).status, 200);
    assert.equal(await stop(), 0);
  },
);

test("fsck runs the engine's own check", OPTIONS, async (t) => {
  const { config, pages, stop } = await openServer(t);
  await stop();
  const fsck = () => checkInstallation(config, { repair: false, deep: true }, SILENT);
  assert.equal((await fsck()).clean, true);
  pages.damage();
  const { clean, findings } = await fsck();
  assert.equal(clean, false);
  const [found] = findings;
  assert.equal(found?.kind, "database-damaged");
  assert.match(found.examples[0] ?? "", /page/i);
  pages.restore();
  assert.equal((await fsck()).clean, true);
});
