// Runs a command with a fresh PostgreSQL, in MOORAGE_DATABASE_URL, and stops it when the command ends:
//
//   node .ci/postgres.ts COMMAND…
import { spawn } from "node:child_process";
import { startPostgres } from "../packages/server/test/support/postgres.ts";

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  console.error("usage: node .ci/postgres.ts COMMAND…");
  process.exit(2);
}
const postgres = await startPostgres();
try {
  const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, MOORAGE_DATABASE_URL: postgres.url } });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("exit", (code) => resolve(code ?? 1));
  });
} finally {
  await postgres.close();
}
