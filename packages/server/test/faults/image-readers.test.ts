import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { loadConfig, signToken } from "../../src/index.ts";
import { openStore, type Row, type Store } from "../../../kernel/src/store/index.ts";
import { readBootstrap } from "../../src/index.ts";
import { tarOf } from "../support/catalog/archives.ts";
import { npmFile } from "../support/catalog/catalog.ts";
import { pushLayers, type PushTarget } from "../support/catalog/push.ts";
import { childrenOf, isRunning } from "../support/children.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { type ServerProcess, startProcess } from "../support/processes.ts";
import { eventually } from "../support/eventually.ts";

// A reading process that hangs: it was stopped, so that it answers nothing, whatever it is asked.

const LIMIT = { timeout: 300_000 };
const TIMEOUT_MS = 10_000;
const DONE = 2;

interface House {
  env: Record<string, string>;
  server: ServerProcess;
  place: PushTarget;
  temp: string;
}

async function startHouse(t: TestContext, more: Record<string, string> = {}): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-test-readers-"));
  const temp = join(folder, "tmp");
  mkdirSync(temp);
  t.after(async () => {
    await dropDatabase(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const env = {
    MOORAGE_DATA_DIR: folder,
    MOORAGE_CATALOG_IMAGES: "1",
    MOORAGE_LOG_FORMAT: "json",
    TMPDIR: temp,
    ...(await databaseEnv(folder)),
    ...more,
  };
  const server = await startProcess(t, env);
  const { token } = await signToken({ config: loadConfig(env), audience: "registry", ttlMs: 600_000 });
  const name = `${readBootstrap(folder).organization.name}/app`;
  return { env, server, temp, place: { url: server.url, token, name } };
}

async function openRows(t: TestContext, { env }: House): Promise<Store> {
  const store = await openStore(loadConfig(env));
  t.after(() => store.close());
  return store;
}

type CatalogRow = Row<"image_catalogs">;

async function rowOf({ reader }: Store, digest: string, wanted: (row: CatalogRow) => boolean): Promise<CatalogRow> {
  const rows = reader.selectFrom("image_catalogs").selectAll().where("digest", "=", digest);
  return await eventually(
    async () => {
      const row = await rows.executeTakeFirst();
      return row !== undefined && wanted(row) && row;
    },
    { instead: () => rows.execute() },
  );
}

const imageOf = (name: string): Uint8Array[] => [tarOf([npmFile("app", name, "1.0.0")])];
const isDone = ({ state }: CatalogRow): boolean => state === DONE;
const isHeld = ({ holder }: CatalogRow): boolean => holder !== "";

/** Has an image read, so that a process is there; stops that process, and has another image wait for it. */
async function hang(t: TestContext, house: House): Promise<{ store: Store; pid: number; digest: string }> {
  const store = await openRows(t, house);
  return { store, ...(await hangWith(t, house, store, 1)) };
}

/** The same with images of this number. */
async function hangWith(
  t: TestContext,
  house: House,
  store: Store,
  number: number,
): Promise<{ pid: number; digest: string }> {
  await rowOf(store, await pushLayers(house.place, `first-${number}`, imageOf(`first-${number}`)), isDone);
  const [pid = 0] = childrenOf(house.server.pid);
  assert.ok(pid > 0, "a process has read the image");
  process.kill(pid, "SIGSTOP");
  t.after(() => isRunning(pid) && process.kill(pid, "SIGKILL"));
  const digest = await pushLayers(house.place, `hung-${number}`, imageOf(`hung-${number}`));
  await rowOf(store, digest, isHeld);
  return { pid, digest };
}

test("a reader that hangs is killed at the deadline; what waits is read, and so is its image", LIMIT, async (t) => {
  const house = await startHouse(t, { MOORAGE_CATALOG_TIMEOUT: `${TIMEOUT_MS}ms` });
  const { store, pid, digest } = await hang(t, house);
  const other = await pushLayers(house.place, "other", imageOf("other"));
  const row = await rowOf(store, digest, ({ reason }) => reason !== "");
  assert.deepEqual([row.state, row.reason], [1, `reading it took longer than ${TIMEOUT_MS} ms`]);
  await rowOf(store, other, isDone);
  const again = await rowOf(store, digest, isDone);
  assert.deepEqual([again.attempts, again.reason], [2, ""]);
  assert.ok(!isRunning(pid));
  const ended = house.server.lines.filter(({ msg }) => msg === "a process that reads images ended");
  assert.deepEqual(
    ended.map(({ kind }) => kind),
    ["timeout"],
  );
});

test("a reader that is killed during its work is replaced, and the image is read", LIMIT, async (t) => {
  const house = await startHouse(t);
  const store = await openRows(t, house);
  for (let number = 1; ; number += 1) {
    const { pid, digest } = await hangWith(t, house, store, number);
    process.kill(pid, "SIGKILL");
    const row = await rowOf(store, digest, (each) => each.reason !== "" || isDone(each));
    // An image is held a moment before the process gets it: one that was killed by then had not begun.
    if (row.reason === "" && row.attempts === 1) continue;
    assert.match(row.reason, /^the process that read it ended: .* SIGKILL/);
    assert.equal((await rowOf(store, digest, isDone)).attempts, 2);
    break;
  }
  assert.ok(house.server.lines.some(({ kind }) => kind === "died"));
});

test("a server ends though a reader hangs, and the next one reads its image", LIMIT, async (t) => {
  const house = await startHouse(t);
  const { store, pid, digest } = await hang(t, house);
  assert.equal(await house.server.stop("SIGTERM"), 0);
  // Its attempt does not count.
  assert.deepEqual(await rowOf(store, digest, () => true).then(({ state, attempts }) => [state, attempts]), [1, 0]);
  await eventually(() => !isRunning(pid));
  assert.deepEqual(readdirSync(house.temp), []);
  await startProcess(t, house.env);
  assert.equal((await rowOf(store, digest, isDone)).attempts, 1);
});

test(
  "what a killed server leaves in the temporary folder goes with the next start, and its reader ends",
  LIMIT,
  async (t) => {
    const house = await startHouse(t);
    const { store, pid, digest } = await hang(t, house);
    await house.server.stop("SIGKILL");
    const left = readdirSync(house.temp);
    assert.equal(left.length, 1);
    process.kill(pid, "SIGCONT");
    await eventually(() => !isRunning(pid));
    await startProcess(t, house.env);
    assert.ok(!readdirSync(house.temp).includes(left[0] ?? ""));
    await rowOf(store, digest, isDone);
  },
);
