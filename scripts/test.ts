// `npm test`: every test of the repository, by Node's own runner. Arguments are handed to it; those that are not options narrow
// the run to the test files whose path holds one of them: npm test -- distribution --test-name-pattern=history
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { dirname } from "node:path";

const FILES = ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "scripts/**/*.test.ts"];
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
const child = spawn(process.execPath, ["--test", `--test-concurrency=${FILES_AT_ONCE}`, "--test-reporter=spec", ...options, ...files], {
  cwd: root,
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
