// What the commands begin with. Plain JavaScript that old versions of Node can read: a packed TypeScript file would not
// run (Node strips no types below node_modules), and the machine's own Node may be older than the one Moorage needs.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const LEAST_NODE_MAJOR = 24;

/**
 * The binary of the `node` npm package when it is installed beside Moorage (it is a dev dependency of the repository).
 */
function nodeFromPackages() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve("node/package.json"));
    return [join(folder, "bin", "node"), join(folder, "bin", "node.exe")].find((path) => existsSync(path));
  } catch {
    return undefined; // not installed
  }
}

/** Runs the same command line under another Node and ends as it ends. */
function runUnder(binary) {
  const child = spawn(binary, process.argv.slice(1), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", () => {
    console.error(`moorage: ${binary} could not be run`);
    process.exit(1);
  });
  child.on("exit", (code) => process.exit(code ?? 1));
}

/**
 * Runs a program of this package by its path below src, without the ending; under a newer Node where this one is too
 * old.
 */
export async function launch(program) {
  if (Number(process.versions.node.split(".")[0]) >= LEAST_NODE_MAJOR) {
    const source = new URL(`../src/${program}.ts`, import.meta.url);
    await import((existsSync(source) ? source : new URL(`../dist/${program}.js`, import.meta.url)).href);
    return;
  }
  const binary = nodeFromPackages();
  if (binary) {
    runUnder(binary);
  } else {
    console.error(
      `moorage needs Node ${LEAST_NODE_MAJOR} or later, this is ${process.version}: ` +
        "get one from https://nodejs.org, or install it beside moorage with: npm install node@26",
    );
    process.exit(1);
  }
}
