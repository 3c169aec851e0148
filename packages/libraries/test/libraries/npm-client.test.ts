// The npm that comes with Node, against the server alone: its own home, cache and configuration.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openNpm, type Npm } from "../../../server/test/support/npm.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let registry = "";
before(async () => {
  platform = await startPlatform();
  await platform.group(platform.organization, { name: "team" });
  registry = `${platform.url}/npm/acme/team/`;
});
after(() => platform.close());

async function ok(npm: Npm, args: readonly string[], cwd?: string): Promise<string> {
  const { code, stdout, stderr } = await npm.run(args, cwd === undefined ? {} : { cwd });
  assert.equal(code, 0, `npm ${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

test("npm publishes, shows, tags, deprecates, finds and installs, by name and by lock file", async (t) => {
  const identity = await platform.identity(platform.organization, "editor");
  const token = await platform.token(identity);
  const npm = openNpm(t, registry, (place) => `${place}:_authToken=${token}`);
  const { name: who } = await platform.ok("GET", `/iam/v2/identities/${identity}`);
  assert.equal((await ok(npm, ["whoami"])).trim(), who);
  await ok(npm, ["ping"]);

  const base = { description: "says hello", main: "index.js", license: "MIT", readme: "" };
  const hello = npm.folderOf(
    "hello",
    { ...base, name: "@acme/hello", version: "1.0.0" },
    {
      "index.js": "module.exports = () => 'hello';\n",
      "README.md": "# Hello\n",
    },
  );
  await ok(npm, ["publish"], hello);
  await ok(npm, ["version", "--no-git-tag-version", "1.1.0"], hello);
  await ok(npm, ["publish"], hello);
  const again = await npm.run(["publish"], { cwd: hello });
  assert.notEqual(again.code, 0);
  assert.match(again.stderr, /cannot publish over the previously published versions/);

  const user = npm.folderOf(
    "user",
    { ...base, name: "user", version: "2.0.0", dependencies: { "@acme/hello": "^1.0.0" } },
    { "index.js": "module.exports = require('@acme/hello')() + ' user';\n" },
  );
  await ok(npm, ["publish", "--tag", "next"], user);

  assert.deepEqual(JSON.parse(await ok(npm, ["view", "@acme/hello", "versions", "--json"])), ["1.0.0", "1.1.0"]);
  assert.equal((await ok(npm, ["view", "user@next", "version"])).trim(), "2.0.0");
  await ok(npm, ["dist-tag", "add", "@acme/hello@1.0.0", "stable"]);
  assert.match(await ok(npm, ["dist-tag", "ls", "@acme/hello"]), /stable: 1\.0\.0/);
  await ok(npm, ["dist-tag", "rm", "@acme/hello", "stable"]);
  await ok(npm, ["deprecate", "@acme/hello@1.0.0", "has a hole"]);
  assert.equal((await ok(npm, ["view", "@acme/hello@1.0.0", "deprecated"])).trim(), "has a hole");
  const found = JSON.parse(await ok(npm, ["search", "hel", "--json"])) as { name: string }[];
  assert.deepEqual(
    found.map(({ name }) => name),
    ["@acme/hello"],
  );

  const app = npm.folderOf("app", { name: "app", version: "1.0.0", private: true });
  await ok(npm, ["install", "user", "--no-audit"], app);
  const installed = readFileSync(join(app, "node_modules/@acme/hello/package.json"), "utf8");
  assert.equal((JSON.parse(installed) as { version: string }).version, "1.1.0");
  const lock = readFileSync(join(app, "package-lock.json"), "utf8");
  assert.ok(lock.includes(`${registry}@acme/hello/-/hello-1.1.0.tgz`), lock);
  assert.match(lock, /"integrity": "sha512-/);

  // From an empty cache, by the lock file, as somebody who may only install.
  const reader = await platform.token(await platform.identity(platform.organization, "registry.pull"));
  const other = openNpm(t, registry, (place) => `${place}:_auth=${Buffer.from(`ci:${reader}`).toString("base64")}`);
  const clone = other.folderOf("app", {
    name: "app",
    version: "1.0.0",
    private: true,
    dependencies: { user: "^2.0.0" },
  });
  writeFileSync(join(clone, "package-lock.json"), lock);
  await ok(other, ["ci"], clone);
  assert.ok(existsSync(join(clone, "node_modules/user/index.js")));
  const refused = await other.run(["publish"], {
    cwd: other.folderOf("mine", { ...base, name: "mine", version: "1.0.0" }),
  });
  assert.match(refused.stderr, /E403|403 Forbidden/);
  assert.match(refused.stderr, /lacks CAP_LIBRARIES_JAVASCRIPT_PUBLISH for acme\/team/);

  await ok(npm, ["unpublish", "@acme/hello@1.1.0"]);
  // One version is a text to some versions of npm, and a list to others.
  const left: unknown = JSON.parse(await ok(npm, ["view", "@acme/hello", "versions", "--json"]));
  assert.deepEqual([left].flat(), ["1.0.0"]);
  await ok(npm, ["unpublish", "user", "--force"]);
  const gone = await npm.run(["view", "user"]);
  assert.match(gone.stderr, /E404/);
  rmSync(join(npm.folder, "cache"), { recursive: true, force: true });
});

test("npm login is answered with what to do instead, and a wrong token with why", async (t) => {
  const npm = openNpm(t, registry, (place) => `${place}:_authToken=nonsense`);
  const shown = await npm.run(["view", "anything"]);
  assert.notEqual(shown.code, 0);
  assert.match(shown.stderr, /E401/);
  const login = await platform.call("PUT", "/npm/acme/team/-/user/org.couchdb.user:ann", { body: { name: "ann" } });
  assert.deepEqual([login.status, /pull or push token/.test(login.text)], [400, true]);
});
