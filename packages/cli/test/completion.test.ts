// What `moorage __complete` answers to the scripts of shells.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { LAUNCHER, moorage, program, run, temporaryFolder } from "./commands.ts";
import { placeFor, placeWithServer } from "./completion.ts";

/** The words that are offered for the last one. Nothing may be printed on standard error. */
async function offered(env: Record<string, string>, cwd: string, ...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await program(["__complete", "fish", "--", ...words], { cwd, env });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t")[0] ?? "");
}

test("commands, flags and fixed values are offered, each with what it is", async (t) => {
  const { env, folder } = placeFor(t);
  for (const [words, expected] of [
    [["repo"], ["repos"]],
    [["repos", "l"], ["list"]],
    // After flags that stand before the command, and by an alias.
    [["--context", "prod", "repos", "l"], ["list"]],
    [["--url=http://localhost", "--debug", "repo", "l"], ["list"]],
    [["help", "repo"], ["repos"]],
    [["help", "repos", "cre"], ["create"]],
    [["repos", "list", "--out"], ["--output"]],
    [
      ["repos", "list", "-o", "js"],
      ["json", "jsonpath="],
    ],
    [
      ["repos", "list", "--output=js"],
      ["--output=json", "--output=jsonpath="],
    ],
    [["repos", "list", "-ojson", "--page"], ["--page-size"]],
    // A flag that was given is not offered again; nor are flags after `--`.
    [["repos", "list", "--page-size", "3", "--page"], []],
    [["repos", "list", "--", "--page"], []],
    // Neither a value that is free text, nor a command that is not there, has words.
    [["repos", "list", "--page-size", ""], []],
    [["nothing", "l"], []],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "powershell"],
    ],
    [["serve", "--registry-u"], ["--registry-url"]],
    [["repos", "create", "acme/app", "--file", ""], [":files"]],
    [["serve", "--data-dir", ""], [":folders"]],
  ] as [string[], string[]][])
    assert.deepEqual(await offered(env, folder, ...words), expected, words.join(" "));
  const { stdout } = await program(["__complete", "zsh", "--", "comple"], { cwd: folder, env });
  assert.equal(stdout, "completion\tprint the script by which a shell completes this command\n");
});

test("contexts come from their file, and a broken file is no error on the line that is typed", async (t) => {
  const { env, folder } = placeFor(t);
  assert.equal((await moorage(["config", "set", "prod", "url=https://registry.example"], { env })).code, 0);
  assert.deepEqual(await offered(env, folder, "repos", "list", "--context", ""), ["prod"]);
  writeFileSync(join(folder, "config", "moorage", "config.json"), "{");
  assert.deepEqual(await offered(env, folder, "repos", "list", "--context", ""), []);
  assert.deepEqual(await offered(env, folder, "repos", "get", "ac"), []);
});

test("names come from the server, a level of a path at a time, and from the cache when it is gone", async (t) => {
  const { env, folder, stop } = await placeWithServer(t);
  const expected: [string[], string[]][] = [
    [["repos", "get", "a"], ["acme/"]],
    [
      ["repos", "get", "acme/"],
      ["acme/team/", "acme/two words/", "acme/api"],
    ],
    [["repos", "get", "acme/team/a"], ["acme/team/app"]],
    [
      ["groups", "get", "acme/t"],
      ["acme/team", "acme/team/", "acme/two words", "acme/two words/"],
    ],
    [["groups", "get", "acme/te"], ["acme/team"]],
    [["tags", "history", "acme/a"], ["acme/api"]],
    [
      ["tags", "history", "acme/team/app:"],
      ["acme/team/app:1.0", "acme/team/app:1.1"],
    ],
    [["tags", "get", "acme/team/app:1.1"], ["acme/team/app:1.1"]],
    [
      ["libraries", "get", "acme/t"],
      ["acme/team/", "acme/team:", "acme/two words/", "acme/two words:"],
    ],
    [["libraries", "get", "acme/team:org"], ["acme/team:org.example:app"]],
    [["libraries", "get-version", "acme/team:"], ["acme/team:org.example:app@"]],
    [["libraries", "get-version", "acme/team:org.example:app@"], ["acme/team:org.example:app@1.0"]],
    [["roles", "get", "acme/dep"], ["acme/deployer"]],
    [
      ["roles", "get", "registry."],
      ["registry.pull", "registry.pull_token_creator", "registry.push"],
    ],
    [
      ["repos", "list", "--in=acme/t"],
      ["--in=acme/team", "--in=acme/team/", "--in=acme/two words", "--in=acme/two words/"],
    ],
  ];
  for (const [words, names] of expected) {
    const found = await offered(env, folder, ...words);
    assert.deepEqual(found.sort(), names.toSorted(), words.join(" "));
  }
  const cache = join(folder, "cache", "moorage", "completion");
  const files = readdirSync(cache);
  assert.ok(files.length > 0);
  for (const file of files) assert.equal(statSync(join(cache, file)).mode & 0o777, 0o600);
  await stop();
  for (const [words, names] of expected)
    assert.deepEqual((await offered(env, folder, ...words)).sort(), names.toSorted(), `gone: ${words.join(" ")}`);
  // Another caller of the same server is not answered from this one's cache.
  assert.deepEqual(await offered({ ...env, MOORAGE_TOKEN: "another" }, folder, "repos", "get", "a"), []);
});

test("a server that does not answer is not waited for", async (t) => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  t.after(() => silent.close());
  await once(silent, "listening");
  const { env, folder } = placeFor(t, {
    MOORAGE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    MOORAGE_TOKEN: "token",
    MOORAGE_COMPLETION_MS: "300",
  });
  assert.deepEqual(await offered(env, folder, "repos", "get", "a"), []);
});

test("the owner of a data folder has its names too, once a process in the background has signed", async (t) => {
  const { env, folder } = await placeWithServer(t);
  const { MOORAGE_URL: _, MOORAGE_TOKEN: __, ...own } = env;
  const found = await eventually(async () => {
    const names = await offered(own, folder, "repos", "get", "a");
    return names.length > 0 && names;
  });
  assert.deepEqual(found, ["acme/"]);
});

test("completion loads neither the parser nor anything of the server or of protobuf", async (t) => {
  const { env, folder } = placeFor(t);
  for (const words of [
    ["--version"],
    ["__complete", "bash", " :=", "9", "80", "--", "moorage repos list --out"],
    ["__complete", "zsh", "--", "repos", "get", ""],
  ]) {
    const modules = await loadedBy(t, folder, words, {
      ...env,
      MOORAGE_TOKEN: "t",
      MOORAGE_URL: "http://127.0.0.1:1",
      MOORAGE_BUNDLE: "0",
    });
    assert.ok(modules.some((url) => url.endsWith("/src/main.ts")));
    const heavy = modules.filter((url) =>
      /commander|bufbuild|connectrpc|\/packages\/(?:server(?!\/src\/lib\/near\.ts)|api)\/|resources\//.test(url),
    );
    assert.deepEqual(heavy, [], words.join(" "));
  }
});

async function loadedBy(
  t: TestContext,
  cwd: string,
  words: readonly string[],
  env: Record<string, string>,
): Promise<string[]> {
  const folder = temporaryFolder(t);
  const [list, hooks] = [join(folder, "modules.txt"), join(folder, "hooks.mjs")];
  writeFileSync(
    hooks,
    `import { appendFileSync } from "node:fs";
    import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) {
      appendFileSync(${JSON.stringify(list)}, url + "\\n");
      return next(url, context);
    } });`,
  );
  mkdirSync(folder, { recursive: true });
  const { code } = await run(process.execPath, ["--import", hooks, LAUNCHER, ...words], { cwd, env });
  assert.equal(code, 0);
  const { readFileSync } = await import("node:fs");
  return readFileSync(list, "utf8").trimEnd().split("\n");
}
