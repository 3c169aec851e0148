// Contexts: named servers in the file of `moorage config`, and what goes before what.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { moorage, type Outcome, temporaryFolder } from "./commands.ts";
import { openQuick } from "./quick.ts";

interface Person {
  folder: string;
  file: string;
  run(args: readonly string[], env?: Record<string, string>): Promise<Outcome>;
}

/** A person without contexts and sign-ins. */
function person(t: TestContext): Person {
  const folder = temporaryFolder(t);
  const XDG_CONFIG_HOME = join(folder, "config");
  return {
    folder,
    file: join(XDG_CONFIG_HOME, "moorage", "config.json"),
    run: (args, env = {}) => moorage(args, { cwd: folder, env: { XDG_CONFIG_HOME, ...env } }),
  };
}

test("contexts are made, chosen, changed, shown and removed", async (t) => {
  const { run, file } = person(t);
  assert.deepEqual(await run(["config", "path"]), { code: 0, stdout: `${file}\n`, stderr: "" });
  assert.equal(
    (await run(["config", "set", "prod", "url=https://registry.example/", "output=json"])).stderr,
    "Using prod\n",
  );
  assert.equal(
    (await run(["config", "set", "stage", "url=https://stage.example", "group=acme/team"])).stderr,
    "Set stage\n",
  );
  const contexts = {
    prod: { url: "https://registry.example", output: "json" },
    stage: { url: "https://stage.example", group: "acme/team" },
  };
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { current: "prod", contexts });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse((await run(["config", "view"])).stdout), { current: "prod", contexts });
  assert.equal((await run(["config", "use", "stage"])).stderr, "Using stage\n");
  assert.equal(
    (await run(["config", "contexts"])).stdout,
    "  prod  https://registry.example\n* stage  https://stage.example\n",
  );
  assert.equal((await run(["config", "unset", "stage", "group"])).code, 0);
  assert.equal((await run(["config", "unset", "prod"])).code, 0);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), {
    current: "stage",
    contexts: { stage: { url: "https://stage.example" } },
  });
  for (const [args, words] of [
    [["use", "stag"], "moorage: there is no context stag; did you mean stage?\n"],
    [["set", "x", "ulr=https://x.example"], "moorage: ulr: is no value of a context; did you mean url?\n"],
    [["set", "x", "url=nonsense"], "moorage: --url: must be an http or https URL without a path, not nonsense\n"],
    [["set", "x", "url"], "moorage: values: must look like url=https://registry.example, not url\n"],
  ] as const) {
    const { code, stdout, stderr } = await run(["config", ...args]);
    assert.deepEqual([code, stdout, stderr], [2, "", words]);
  }
});

test("a flag goes before the environment, and that before the context", async (t) => {
  const server = await openQuick(t);
  const { run, folder } = person(t);
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, server.env.MOORAGE_TOKEN);
  await server.done("groups", "create", "acme/team");
  await server.done("repos", "create", "acme/team/app");
  await server.done("repos", "create", "acme/other");
  await run(["config", "set", "here", `url=${server.url}`, `tokenFile=${tokenFile}`, "group=acme/team", "output=name"]);
  await run(["config", "set", "elsewhere", "url=http://127.0.0.1:9", `tokenFile=${tokenFile}`]);
  const list = ["repos", "list"];
  // The current context: its server, its token, its group and its format.
  assert.deepEqual(await run(list), { code: 0, stdout: "acme/team/app\n", stderr: "" });
  assert.equal((await run([...list, "--in", "/"])).stdout, "acme/team/app\nacme/other\n");
  assert.match((await run([...list, "-o", "csv", "--no-headers"])).stdout, /^acme\/team\/app,/);
  // The environment before it.
  assert.equal((await run(list, { MOORAGE_CONTEXT: "elsewhere" })).code, 7);
  assert.equal((await run(list, { MOORAGE_TOKEN: "nonsense" })).code, 4);
  assert.match((await run(list, { MOORAGE_OUTPUT: "json" })).stdout, /^\{/);
  // A flag before both, wherever it stands. With another context nothing of the environment's server is used.
  const wrong = { MOORAGE_URL: "http://127.0.0.1:9", MOORAGE_TOKEN: "nonsense", MOORAGE_CONTEXT: "elsewhere" };
  for (const args of [
    [...list, "--context", "here"],
    ["--context", "here", ...list],
    ["--context=here", ...list],
  ])
    assert.deepEqual(await run(args, wrong), { code: 0, stdout: "acme/team/app\n", stderr: "" });
  assert.equal(
    (await run([...list, "--url", server.url, "--token", server.env.MOORAGE_TOKEN, "-o", "name"], wrong)).code,
    0,
  );
  // The token of a context goes to no other server.
  const other = await run([...list, "--url", "http://127.0.0.1:9"]);
  assert.deepEqual(
    [other.code, other.stderr],
    [4, "moorage: not signed in to http://127.0.0.1:9: moorage login --url http://127.0.0.1:9\n"],
  );
  const none = await run([...list, "--context", "her"]);
  assert.deepEqual([none.code, none.stderr], [2, "moorage: --context: there is no context her; did you mean here?\n"]);
  writeFileSync(tokenFile, "");
  assert.match((await run(list)).stderr, /^moorage: the context's token file \S+ is empty\n$/);
});

test("a file with broken content is named, with what is wrong in it", async (t) => {
  const { run, file } = person(t);
  mkdirSync(join(file, ".."), { recursive: true });
  for (const [content, words] of [
    ["{", /config\.json is not JSON: .*; correct it, or remove it/],
    ["[]", /config\.json: the whole: must be an object/],
    ['{"contexts": {"a": {"ulr": "x"}}}', /config\.json: contexts\.a\.ulr: is no setting; did you mean url\?/],
    ['{"curent": "a"}', /config\.json: curent: is no setting; did you mean current\?/],
    ['{"contexts": {"a": {"url": 1}}}', /config\.json: contexts\.a\.url: must be text/],
    [
      '{"current": "a", "contexts": {"a": {"url": "nonsense"}}}',
      /config\.json: contexts\.a\.url: must be an http or https URL/,
    ],
    ['{"current": "b", "contexts": {"a": {}}}', /config\.json: there is no context b/],
  ] as const) {
    writeFileSync(file, content);
    const { code, stdout, stderr } = await run(["repos", "list"]);
    assert.ok(code === 1 || code === 2, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, /^moorage: [^\n]+\n$/);
    assert.match(stderr, words);
  }
  // Help and what needs no server do not read it.
  writeFileSync(file, "{");
  assert.equal((await run(["help", "repos"])).code, 0);
});

test(
  "sign-ins that others can read are not used",
  { skip: process.platform === "win32" && "no modes on Windows" },
  async (t) => {
    const { run, file } = person(t);
    const credentials = join(file, "..", "credentials.json");
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(credentials, '{"servers": {}}');
    chmodSync(credentials, 0o644);
    for (const args of [["repos", "list"], ["whoami"]]) {
      const { code, stdout, stderr } = await run(args);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.equal(stderr, `moorage: ${credentials} can be read by others of this machine; chmod 600 ${credentials}\n`);
    }
    chmodSync(credentials, 0o600);
    assert.equal((await run(["whoami"])).code, 4);
    writeFileSync(credentials, "null");
    assert.match((await run(["whoami"])).stderr, /credentials\.json is damaged: remove it and sign in again\n$/);
  },
);
