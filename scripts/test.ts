// `npm test`: every test of the repository, by Node's own runner, and then the server's suites once more on a
// PostgreSQL of its own (MOORAGE_TEST_ENGINES=sqlite or postgres: on that one alone). Arguments are handed to it; those
// that are not options narrow the run to the test files whose path holds one of them: npm test -- distribution
// --test-name-pattern=history
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { startPostgres } from "../packages/server/test/support/postgres.ts";

const FILES = [
  "packages/*/src/**/*.test.ts",
  "packages/*/test/**/*.test.ts",
  "scripts/**/*.test.ts",
  "bench/**/*.test.ts",
];
const FILES_AT_ONCE = 2;

const root = dirname(import.meta.dirname);
const options = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const words = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const files = globSync(FILES, { cwd: root })
  .filter((path) => !path.includes("node_modules") && (words.length === 0 || words.some((word) => path.includes(word))))
  .sort();
if (files.length === 0) {
  console.error(`no test file's path holds ${words.join(" or ")}`);
  process.exit(1);
}
const postgresFiles = files.filter((path) => /^packages\/server\/test\/|^packages\/server\/src\/.*store/.test(path));
const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupt());

for (const engine of (process.env.MOORAGE_TEST_ENGINES ?? "sqlite,postgres").split(",")) {
  const status = engine === "postgres" ? await onPostgres() : await onSqlite();
  if (status !== 0) process.exit(status);
}

async function onSqlite(): Promise<number> {
  console.log("# on SQLite and files");
  return run(files, {});
}

async function onPostgres(): Promise<number> {
  if (postgresFiles.length === 0) return 0;
  const postgres = await startPostgres();
  try {
    process.env.MOORAGE_TEST_POSTGRES_URL = postgres.url;
    const { prepareTemplate } = await import("../packages/server/test/support/database.ts");
    console.log(`\n# the server's suites on PostgreSQL ${await prepareTemplate()}`);
    return await run(postgresFiles, { MOORAGE_TEST_POSTGRES_URL: postgres.url });
  } finally {
    await postgres.close();
  }
}

async function run(paths: string[], env: Record<string, string>): Promise<number> {
  const child = spawn(
    process.execPath,
    ["--test", `--test-concurrency=${FILES_AT_ONCE}`, "--test-reporter=spec", ...options, ...paths],
    {
      // Hundreds of processes load the same code: the first to do so compiles it for all.
      cwd: root,
      stdio: "inherit",
      env: { NODE_COMPILE_CACHE: join(root, "build", "compile-cache"), ...process.env, ...env },
    },
  );
  const ended = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
  void interrupted.then(() => child.kill("SIGTERM"));
  return ended;
}
