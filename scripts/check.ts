// `npm run check`: the checks of the repository, as many of them side by side as there are processors. The output of
// each is printed when it has ended; all are run, also when one has failed.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

/** Scripts of package.json, those that take longest first. */
const CHECKS = [
  "typecheck",
  "check:patterns",
  "check:generated",
  "check:words",
  "check:exports",
  "check:v1",
  "lint",
  "check:format",
  "check:layers",
];

async function run(check: string): Promise<{ passed: boolean; output: string }> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn("npm", ["run", check], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => (output += text));
  }
  child.on("error", (error) => {
    output += `${error.message}\n`;
    resolve(false);
  });
  child.on("close", (code) => resolve(code === 0));
  return { passed: await promise, output };
}

const waiting = [...CHECKS];
const failed: string[] = [];
const worker = async (): Promise<void> => {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const { passed, output } = await run(check);
    process.stdout.write(output);
    if (!passed) failed.push(check);
  }
};
await Promise.all(Array.from({ length: availableParallelism() }, worker));
console.log(
  failed.length === 0 ? `\n${CHECKS.length} checks passed` : `\nfailed: npm run ${failed.join(", npm run ")}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
