// What the commands begin with. Plain JavaScript that old versions of Node can read: a packed TypeScript file would not
// run (Node strips no types below node_modules), and the machine's own Node may be older than the one Moorage needs.
import { existsSync } from "node:fs";
import * as modules from "node:module";
import { constants, homedir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const LEAST_NODE_MAJOR = 24;

/**
 * The binary of the `node` npm package when it is installed beside Moorage (it is a dev dependency of the repository).
 */
function nodeFromPackages() {
  try {
    const folder = dirname(modules.createRequire(import.meta.url).resolve("node/package.json"));
    return [join(folder, "bin", "node"), join(folder, "bin", "node.exe")].find((path) => existsSync(path));
  } catch {
    return undefined; // not installed
  }
}

/** Runs the same command line under another Node and ends as it ends. */
async function runUnder(binary) {
  const { spawn } = await import("node:child_process");
  const child = spawn(binary, process.argv.slice(1), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", () => {
    console.error(`moorage: ${binary} could not be run`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/**
 * Has Node cache compiled code for later starts, below `XDG_CACHE_HOME` or `~/.cache`, unless its own variables
 * NODE_COMPILE_CACHE or NODE_DISABLE_COMPILE_CACHE say otherwise. Worker threads and child processes find the folder
 * by the variable. Where the folder cannot be written, nothing is cached. Returns the folder when it is this one.
 */
function cacheCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "moorage");
    if (modules.enableCompileCache(folder).status !== modules.constants.compileCacheStatus.ENABLED) return undefined;
    return (process.env.NODE_COMPILE_CACHE = folder);
  } catch {
    return undefined; // A user without a home folder.
  }
}

/** What bundling fails with where it cannot be done at all: its tools are not installed, or nothing may be written. */
const NO_BUNDLE = new Set(["ERR_MODULE_NOT_FOUND", "EACCES", "EPERM", "EROFS"]);

/**
 * In the repository: the folder of the bundle of the sources as they are, which is made when there is none yet, or the
 * one in MOORAGE_BUNDLE. Undefined when the sources themselves run: with MOORAGE_BUNDLE=0, and when they cannot be
 * bundled.
 */
async function bundleOfSources(compiled) {
  if (process.env.MOORAGE_BUNDLE === "0") {
    const { makeIfStale } = await import("../../../scripts/gen/if-stale.ts");
    await makeIfStale();
    return undefined;
  }
  if (process.env.MOORAGE_BUNDLE) return process.env.MOORAGE_BUNDLE;
  try {
    const { bundleFolder } = await import("../../../scripts/bundle/folder.ts");
    return await bundleFolder({ compiled });
  } catch (error) {
    if (!NO_BUNDLE.has(error.code))
      console.error(`moorage: the sources run as they are, since they cannot be bundled: ${error.message}`);
    return undefined;
  }
}

/** The file to run: a source, or compiled from it. */
async function fileOf(program, compiled) {
  const source = new URL(`../src/${program}.ts`, import.meta.url);
  if (!existsSync(source)) return new URL(`../dist/${program}.js`, import.meta.url);
  const bundle = await bundleOfSources(compiled);
  // What the program starts, threads and processes, runs from there, too.
  process.env.MOORAGE_BUNDLE = bundle ?? "0";
  return bundle === undefined ? source : pathToFileURL(join(bundle, `${program}.js`));
}

/**
 * Runs a program of this package by its path below src, without the ending; under a newer Node where this one is too
 * old.
 */
export async function launch(program) {
  if (Number(process.versions.node.split(".")[0]) >= LEAST_NODE_MAJOR) {
    const compiled = cacheCompiledCode();
    const file = await fileOf(program, compiled);
    await import(file.href);
    return;
  }
  const binary = nodeFromPackages();
  if (binary) {
    await runUnder(binary);
  } else {
    console.error(
      `moorage needs Node ${LEAST_NODE_MAJOR} or later, this is ${process.version}: ` +
        "get one from https://nodejs.org, or install it beside moorage with: npm install node@26",
    );
    process.exit(1);
  }
}
