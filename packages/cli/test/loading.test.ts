// The modules that commands load. The server's modules take most of a second to load, and the API's descriptors a good
// part of it: a command that needs neither answers without delay, and one import at the top of a file of commands would
// slow them all down without any other test noticing.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { LAUNCHER, type Outcome, run, startServing, temporaryFolder, terminate } from "./commands.ts";

/** The command as it runs from the sources, file by file. */
const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const FROM_SOURCES = { MOORAGE_BUNDLE: "" };

// Resolved to their real paths, workspace packages are below packages/, and the others below node_modules/.
// Names near to a wrong one, which import nothing, cost nothing.
const SERVER = /\/packages\/(?:kernel|platform|registry|security|libraries|server)\/(?!src\/lib\/near\.ts)/;
const API = /\/packages\/api\/|\/node_modules\/@(?:bufbuild|connectrpc)\//;
// What only a running server needs.
const SERVING =
  /\/packages\/(?!cli\/)\w+\/src\/(?:transport|oci|admin|webhooks|mirroring|runtime)\/|\/node_modules\/pino\//;

// What a server loads at its first use, if at all: each costs memory in every server, most of it in two threads.
const AT_FIRST_USE =
  /\/packages\/api\/src\/(?:client|index)|\/node_modules\/(?:@connectrpc|@aws-sdk|@fastify|@modelcontextprotocol|ae-cvss-calculator|ajv|htmlparser2|jose|pg|sax|tar|undici|yaml|yauzl|zod)\/|deps\/undici/;

const SERVER_URL = "https://moorage.example";

/**
 * Options of Node by which a process writes down the URL of every module that it loads, in all its threads, and at the
 * end the names of Node's own.
 */
function recorder(t: TestContext): { options: string[]; modules(): string[] } {
  const folder = temporaryFolder(t);
  const [list, hooks] = [join(folder, "modules.txt"), join(folder, "hooks.mjs")];
  writeFileSync(list, "");
  writeFileSync(
    hooks,
    `import { appendFileSync } from "node:fs";
    import { registerHooks } from "node:module";
    registerHooks({
      load(url, context, next) {
        appendFileSync(${JSON.stringify(list)}, url + "\\n");
        return next(url, context);
      },
    });
    process.on("exit", () => appendFileSync(${JSON.stringify(list)}, process.moduleLoadList.join("\\n") + "\\n"));`,
  );
  return {
    options: ["--import", pathToFileURL(hooks).href],
    modules: () => readFileSync(list, "utf8").trimEnd().split("\n"),
  };
}

/** Runs a command. Returns its exit code, with what it loaded. */
async function loadedBy(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome & { modules: string[] }> {
  const folder = temporaryFolder(t);
  const { options, modules } = recorder(t);
  // Some commands read their input to its end.
  const emptyInput = ["-c", 'exec "$0" "$@" </dev/null', process.execPath];
  const outcome = await run("sh", [...emptyInput, ...options, MAIN, ...args], {
    cwd: folder,
    env: { XDG_CONFIG_HOME: folder, ...FROM_SOURCES, ...env },
  });
  return { ...outcome, modules: modules() };
}

/** The sources that are in the parts of the bundle that a command loads. */
async function loadedFromBundle(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string[]> {
  const folder = temporaryFolder(t);
  const { options, modules } = recorder(t);
  await run(process.execPath, [...options, LAUNCHER, ...args], {
    cwd: folder,
    env: { XDG_CONFIG_HOME: folder, ...env },
  });
  const parts = matching(modules(), /\/bundles\/.*\/parts\//).map((url) => fileURLToPath(url));
  return parts.flatMap((part) => {
    // Some have nothing but exports of others.
    if (!existsSync(`${part}.map`)) return [];
    const { sources } = JSON.parse(readFileSync(`${part}.map`, "utf8")) as { sources: string[] };
    return sources.map((source) => join(dirname(part), source));
  });
}

function matching(modules: readonly string[], pattern: RegExp): string[] {
  return modules.filter((url) => pattern.test(url));
}

test("whoami after a sign-in loads nothing of the server and nothing of the API", async (t) => {
  const config = temporaryFolder(t);
  const claims = { sub: "somebody", exp: Math.floor(Date.now() / 1000) + 3600 };
  const login = {
    accessToken: `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.e30`,
    expiresAtMs: claims.exp * 1000,
    refreshToken: "unused",
    identityProvider: "provider",
  };
  mkdirSync(join(config, "moorage"));
  writeFileSync(join(config, "moorage", "credentials.json"), JSON.stringify({ servers: { [SERVER_URL]: login } }), {
    mode: 0o600,
  });
  const { code, stdout, stderr, modules } = await loadedBy(t, ["whoami"], { XDG_CONFIG_HOME: config });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /identity: somebody/);
  assert.ok(matching(modules, /\/packages\/cli\/src\/whoami\.ts$/).length > 0, "the list holds what was loaded");
  assert.deepEqual(matching(modules, SERVER), []);
  assert.deepEqual(matching(modules, API), []);
});

test("the list of commands and a sign-in load nothing of the server and nothing of the API", async (t) => {
  // Nothing listens at this port: the sign-in ends with its first request.
  for (const args of [["--help"], ["login", "--url", "http://127.0.0.1:1", "--identity-provider", "uid"]]) {
    const { modules } = await loadedBy(t, args);
    assert.deepEqual(matching(modules, SERVER), [], args.join(" "));
    assert.deepEqual(matching(modules, API), [], args.join(" "));
  }
});

test("a call with a valid stored token loads the API and nothing of the server", async (t) => {
  const args = ["call", "ReposService/ListRepos", "--url", "http://127.0.0.1:1"];
  const { code, stderr, modules } = await loadedBy(t, args, { MOORAGE_TOKEN: "token" });
  assert.equal(code, 7);
  assert.match(stderr, /UNAVAILABLE/);
  assert.ok(matching(modules, API).length > 0);
  assert.deepEqual(matching(modules, SERVER), []);
});

test("an MCP bridge with a token loads nothing of the server, of the API and of the SDK", async (t) => {
  const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 3600 })).toString("base64url");
  const env = { MOORAGE_TOKEN: `e30.${claims}.e30` };
  const { code, stderr, modules } = await loadedBy(t, ["mcp", "--url", "http://127.0.0.1:1"], env);
  assert.equal(code, 0, stderr);
  assert.ok(matching(modules, /\/mcp-bridge\.ts$/).length > 0);
  for (const pattern of [SERVER, API, /@modelcontextprotocol/]) assert.deepEqual(matching(modules, pattern), []);
});

test("commands of the API, contexts and the version load what they need", async (t) => {
  const env = { MOORAGE_TOKEN: "token", MOORAGE_URL: "http://127.0.0.1:1" };
  for (const args of [
    ["repos", "list"],
    ["repos", "create", "acme/app", "--description", "x"],
    ["groups", "delete", "acme", "--yes"],
    ["api", "/registry/v2/repos"],
    ["config", "contexts"],
    ["help", "repos", "update"],
  ]) {
    const { stderr, modules } = await loadedBy(t, args, env);
    // Times are read as the server reads them, by a file without imports.
    const server = matching(modules, SERVER).filter((url) => !url.endsWith("/lib/iso8601.ts"));
    assert.deepEqual([server, matching(modules, API)], [[], []], `${args.join(" ")}: ${stderr}`);
    // One command, and of the API's nouns its own.
    const nouns = matching(modules, /\/gen\/resources\/\w+\.ts$/);
    assert.ok(nouns.length <= 1, nouns.join());
  }
  const { stdout, modules } = await loadedBy(t, ["--version"]);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual(matching(modules, /\/node_modules\//), []);
});

test("signing a token loads the code for signing, and nothing of the running server", async (t) => {
  const { code, stderr, modules } = await loadedBy(t, ["token", "--data-dir", "data"]);
  assert.equal(code, 1);
  assert.match(stderr, /there is no data folder/);
  assert.ok(matching(modules, /\/sign-token\.ts$/).length > 0);
  assert.deepEqual(matching(modules, SERVING), []);
});

test("a token of a data folder takes the settings, a statement and a signature, no package and no store", async (t) => {
  const folder = temporaryFolder(t);
  const server = await startServing(t, process.execPath, [LAUNCHER, "serve", "--port", "0"], { cwd: folder });
  const { code, stdout, stderr, modules } = await loadedBy(t, ["token", "--data-dir", join(folder, "data")]);
  assert.equal(code, 0, stderr);
  const { status } = await fetch(`${server.url}/iam/v2/groups`, {
    headers: { authorization: `Bearer ${stdout.trim()}` },
  });
  assert.equal(status, 200);
  const ofServer = matching(modules, SERVER).map((url) => url.replace(/^.*\/packages\/\w+\/src\/(\w+)\/.*$/, "$1"));
  assert.deepEqual([...new Set(ofServer)].toSorted(), ["boot", "config", "installation", "lib", "signing"]);
  assert.deepEqual(matching(modules, /\/node_modules\/(?!commander\/)|\/packages\/api\//), []);
  const fromBundle = await loadedFromBundle(t, ["token", "--data-dir", join(folder, "data")]);
  assert.ok(matching(fromBundle, /\/sign-token\.ts$/).length > 0);
  assert.deepEqual(
    matching(fromBundle, SERVER).filter((path) => /\/src\/(?:store|auth)\//.test(path)),
    [],
  );
  for (const pattern of [SERVING, API]) assert.deepEqual(matching(fromBundle, pattern), []);
  assert.equal(await terminate(server), 0);
});

test("parts of the bundle hold no more than a version and a list need", async (t) => {
  const ofVersion = await loadedFromBundle(t, ["--version"]);
  assert.ok(matching(ofVersion, /\/packages\/cli\/src\/version\.ts$/).length > 0, "the list holds what was loaded");
  assert.deepEqual(matching(ofVersion, /\/node_modules\/|\/packages\/(?!cli\/)/), []);

  const env = { MOORAGE_TOKEN: "token", MOORAGE_URL: "http://127.0.0.1:1" };
  const ofList = await loadedFromBundle(t, ["repos", "list"], env);
  assert.deepEqual(matching(ofList, /\/gen\/resources\/\w+\.ts$/).length, 1);
  for (const pattern of [SERVING, API]) assert.deepEqual(matching(ofList, pattern), []);
});

test("the help of serve has a flag for each setting, and only the settings are loaded for it", async (t) => {
  const { stdout, modules } = await loadedBy(t, ["serve", "--help"]);
  assert.match(stdout, /--data-dir <value>/);
  assert.deepEqual(matching(modules, SERVING), []);
  const asked = await loadedBy(t, ["help", "serve"]);
  assert.equal(asked.stdout, stdout);
});

test("a server that nobody has asked for anything has not loaded what waits for its first use", async (t) => {
  const { options, modules } = recorder(t);
  const args = [...options, MAIN, "serve", "--port", "0"];
  const server = await startServing(t, process.execPath, args, { cwd: temporaryFolder(t), env: FROM_SOURCES });
  // What answers also handles signals.
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  assert.equal(await terminate(server), 0);
  const loaded = modules();
  assert.equal(matching(loaded, /\/sqlite-writer-thread\.ts$/).length, 1, "the list holds what the thread loaded");
  assert.equal(matching(loaded, /^NativeModule _http_server$/).length, 1, "the list holds Node's own modules");
  assert.deepEqual(matching(loaded, AT_FIRST_USE), []);
});

test("compiled code is cached for the next start, unless Node is set not to", async (t) => {
  const cachedBy = async (env: Record<string, string>): Promise<boolean> => {
    const cache = temporaryFolder(t);
    const { code, stderr } = await run(process.execPath, [LAUNCHER, "--help"], {
      env: { NODE_COMPILE_CACHE: "", XDG_CACHE_HOME: cache, ...env },
    });
    assert.equal(code, 0, stderr);
    return existsSync(join(cache, "moorage"));
  };
  assert.equal(await cachedBy({}), true);
  assert.equal(await cachedBy({ NODE_DISABLE_COMPILE_CACHE: "1" }), false);
});
