// Runs the commands of documents: of README.md and docs/tutorial.md in readme.test.ts, of all others in docs.*.ts.
// The rules for a document:
// - Every ```sh block is run: all of them in order, unchanged, in one `bash -eu` (a failing command ends the document;
//   the left side of a pipe does not). ```console, ```json, ```yaml and others are not run.
// - A ```text block right after an sh block (blank lines may be between) must be what that block printed to standard
//   output. `…` matches anything within a line, a line of `…` alone any number of lines. An sh block without a text
//   block may print anything.
// - A block of "sh pip3" is left out, with the text block after it, on a machine that does not have pip3.
// - Every document with an sh block is found without registration. Only one that needs more than a server with the
//   usual settings has an entry in NEEDS.
// - The shell's folder looks like a checkout of this repository in which `npm start` runs: its programs are on the PATH
//   that the first block sets, `moorage` finds the server's ./data, files may be written there, and node_modules/,
//   packages/ and examples/ exist. It is empty otherwise, and the server is new: organizations acme and public.
// - The variables given are MOORAGE_URL and those of NEEDS. A reader has none of them, so each is used once, with the
//   reader's value as its default.
// - What a document writes goes to scratch/, which git ignores: files outside it that git would take are a fault.
// - `moorage` runs in processes that are there already (shell-commands.ts), and the server in this one
//   (server-here.ts), which a document does not notice; with MOORAGE_TEST_PROGRAMS=1, as each night, each is a process
//   of its own.
// - A document may use bash, curl, node, moorage, and the programs that every Linux has. A command that waits must have
//   a time limit.
// A document begins like this, and says so to its reader: "You need a server (`npm start`) and, in another terminal in
// the same folder:"
//     export PATH=$PWD/node_modules/.bin:$PATH
//     URL=${MOORAGE_URL:-http://127.0.0.1:8080}
//     TOKEN=$(moorage token)
//     json() { node -p "JSON.parse(require('fs').readFileSync(0, 'utf8'))$1"; }
//     ORG=$(curl -fsS "$URL/iam/v2/groups?name=acme" -H "Authorization: Bearer $TOKEN" | json .groups[0].uid)
// One document alone: node --test --test-name-pattern=tags.md packages/cli/test/docs.test.ts
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, relative } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { LAUNCHER, run, startServing, temporaryFolder } from "./commands.ts";
import { indexWithSix, npmWithLeftPad } from "./public-registries.ts";
import { publishedFeeds } from "./published-feeds.ts";
import { type Block, blocksOf, faultOf, play, type Stage } from "./document.ts";
import { serveHere } from "./server-here.ts";
import { RUNS_PROGRAMS, shellCommands } from "./shell-commands.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const DOCUMENT_TIMEOUT_MS = 300_000;

/**
 * What a document needs beside the server: settings of that server, files in its folder, and other programs, by the
 * variable with their URL.
 */
interface Needs {
  /** For its commands in all; five minutes unless it has many. */
  readonly timeoutMs?: number;
  readonly settings?: Record<string, string>;
  readonly files?: Record<string, string>;
  readonly others?: Record<string, (t: TestContext, folder: string) => Promise<string>>;
}

/**
 * Another server, with its data in a subfolder of the shell's folder: `moorage token --data-dir <dataDir>` issues its
 * tokens.
 */
const anotherServer =
  (dataDir: string) =>
  (t: TestContext, folder: string): Promise<string> =>
    startMoorage(t, folder, dataDir);

/** A URL on which the document may start a server: the port is free. */
const freeUrl = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
};

/** An OpenID provider on loopback, a program of packages/cli/src/demo. */
const provider =
  (program: string) =>
  async (t: TestContext): Promise<string> =>
    (await startServing(t, process.execPath, [join(ROOT, "packages/cli/src/demo", program), "0"])).url;

const TERMS = JSON.stringify([
  { id: "privacy", label: "Privacy notice", url: "https://moorage.example.com/privacy", required: false },
]);

const NEEDS: Readonly<Record<string, Needs>> = {
  "cli.md": {
    timeoutMs: 900_000,
    files: { "scratch/terms.json": TERMS },
    settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_TERMS_FILE: "scratch/terms.json" },
  },
  "credentials.md": {
    settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
    others: { PROVIDER_URL: provider("ci-provider.ts") },
  },
  "events.md": { settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" }, others: { RECEIVER_URL: freeUrl } },
  "keyless.md": {
    settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
    others: { PROVIDER_URL: provider("ci-provider.ts") },
  },
  "image-contents.md": { settings: { MOORAGE_VEX_REFERRERS: "1" } },
  "security-data.md": {
    others: { MOORAGE_FEEDS_MIRROR: publishedFeeds, MOORAGE_ALLOW_PRIVATE_NETWORK: () => Promise.resolve("1") },
  },
  "libraries.md": {
    settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
    others: { NPM_UPSTREAM_URL: npmWithLeftPad, PYPI_UPSTREAM_URL: indexWithSix },
  },
  "api/deliveries.md": { settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" } },
  "api/subscriptions.md": { settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" } },
  "api/terms.md": {
    files: { "scratch/terms.json": TERMS },
    settings: { MOORAGE_TERMS_FILE: "scratch/terms.json" },
  },
  "mirroring.md": {
    settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
    others: { UPSTREAM_URL: anotherServer("scratch/upstream") },
  },
  "moving.md": {
    settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
    others: { OLD_URL: anotherServer("scratch/old") },
  },
  "tutorial.md": {
    settings: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" },
    others: { PROVIDER_URL: provider("provider.ts") },
  },
};

/** A test for each of the documents that have commands; the paths are patterns below the repository's root. */
export function testDocuments(paths: readonly string[]): void {
  for (const path of globSync(paths, { cwd: ROOT }).sort()) {
    const text = readFileSync(join(ROOT, path), "utf8");
    if (/^```sh *$/m.test(text)) testDocument(relative("docs", path), text);
  }
}

/** A test for a document, by its name below docs/ and its text. */
export function testDocument(name: string, text: string): void {
  const { timeoutMs = DOCUMENT_TIMEOUT_MS } = NEEDS[name] ?? {};
  test(`${name}: its commands run and print what it shows`, { timeout: timeoutMs + 120_000 }, async (t) => {
    const missing = await missingPrograms();
    if (missing.length > 0) return t.skip(`not on this machine: ${missing.join(", ")}`);
    const blocks = await possible(t, blocksOf(name, text));
    const stage = await setStage(t, name);
    const fault = faultOf(name, blocks, await play(blocks, stage));
    if (fault !== undefined) assert.fail(fault);
    assert.deepEqual(await unignored(stage.folder), [], "files that git would take: write them to scratch/");
  });
}

async function setStage(t: TestContext, name: string): Promise<Stage> {
  const { settings = {}, files = {}, others = {}, timeoutMs = DOCUMENT_TIMEOUT_MS } = NEEDS[name] ?? {};
  const folder = temporaryFolder(t);
  for (const link of ["node_modules", "packages", "examples"]) symlinkSync(join(ROOT, link), join(folder, link));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  const env: Record<string, string> = {
    MOORAGE_URL: await startMoorage(t, folder, "data", settings),
    PATH: `${join(ROOT, "node_modules", ".bin")}:${process.env.PATH ?? ""}`,
    ...(await shellCommands(t)),
    // npx must not ask the registry for a command that is not installed.
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
    // Nor does it read its user's settings.
    npm_config_userconfig: join(folder, "scratch", "no-npmrc"),
  };
  for (const [variable, start] of Object.entries(others)) env[variable] = await start(t, folder);
  return { name, folder, env, timeoutMs };
}

/**
 * The files below a folder that the repository's .gitignore does not name: a document that leaves secrets there leads
 * its reader to commit them.
 */
async function unignored(folder: string): Promise<string[]> {
  copyFileSync(join(ROOT, ".gitignore"), join(folder, ".gitignore"));
  const git = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run("git", ["-C", folder, ...args]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await git("init", "--quiet");
  const files = await git("ls-files", "--others", "--exclude-standard");
  const given = /^(\.gitignore|\.printed\/.*|node_modules|packages|examples)$/;
  return files.split("\n").filter((file) => file !== "" && !given.test(file));
}

/** A server on a subfolder of the shell's folder; each night it is a process of its own, as its reader has it. */
async function startMoorage(
  t: TestContext,
  folder: string,
  dataDir = "data",
  env: Record<string, string> = {},
): Promise<string> {
  if (!RUNS_PROGRAMS) {
    const { MOORAGE_TERMS_FILE: terms } = env;
    const paths = {
      MOORAGE_DATA_DIR: join(folder, dataDir),
      ...(terms && { MOORAGE_TERMS_FILE: join(folder, terms) }),
    };
    return (await serveHere(t, folder, { ...env, ...paths })).url;
  }
  const args = [LAUNCHER, "serve", "--port", "0", "--data-dir", dataDir];
  return (await startServing(t, process.execPath, args, { cwd: folder, env })).url;
}

export async function missingPrograms(): Promise<string[]> {
  const missing: string[] = [];
  for (const program of ["bash", "curl", "git"]) if (!(await isThere(program))) missing.push(program);
  return missing;
}

async function isThere(program: string): Promise<boolean> {
  return (await run(program, ["--version"])).code === 0;
}

/** The blocks whose programs are on this machine; a diagnostic of the test names those that are not. */
export async function possible(t: TestContext, blocks: readonly Block[]): Promise<Block[]> {
  const there = new Map<string, boolean>();
  for (const { program } of blocks)
    if (program !== undefined && !there.has(program)) there.set(program, await isThere(program));
  for (const [program, is] of there) if (!is) t.diagnostic(`blocks for ${program} are not run: install it to run them`);
  return blocks.filter(({ program }) => program === undefined || there.get(program) === true);
}
