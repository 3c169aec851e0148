// Clients that are on the machine log in with a personal token, as its page says.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { pushImage } from "../../../server/test/support/image.ts";
import { openNpm, publishNpm } from "../../../server/test/support/npm.ts";
import { makeToken } from "../../../server/test/support/personal-tokens.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 120_000;
let platform: Platform;
let host: string;
before(async () => {
  platform = await startPlatform();
  host = new URL(platform.url).host;
  await pushImage(platform, "acme/app", "v1");
  await publishNpm(platform, "acme", "left", "1.0.0");
});
after(() => platform?.close());

/** The capabilities of the built-in role, to which the console narrows a token. */
async function tokenOf(role: string): Promise<string> {
  const { capabilities } = await platform.ok("GET", `/iam/v2/roles/${await platform.role(role)}`);
  return (await makeToken(platform, await platform.token(), { capabilities })).token;
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "moorage-personal-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** Whether the program is there; the test is left out with a line otherwise. */
async function has(t: TestContext, program: string): Promise<boolean> {
  const found = await run(program, ["--version"], { timeout: TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
  if (!found) t.skip(`no ${program} on this machine`);
  return found;
}

test("npm installs with a token that pulls, and publishes with one that pushes alone", async (t) => {
  const npm = openNpm(t, `${platform.url}/npm/acme/`, () => "");
  const set = async (token: string): Promise<void> => {
    const { code, stderr } = await npm.run(["config", "set", `//${host}/npm/acme/:_authToken=${token}`]);
    assert.equal(code, 0, stderr);
  };
  const folder = npm.folderOf("mine", { name: "mine", version: "1.0.0", license: "MIT" });
  await set(await tokenOf("registry.pull"));
  const installed = await npm.run(["install", "left@1.0.0", "--no-audit", "--no-save"]);
  assert.equal(installed.code, 0, installed.stderr);
  assert.notEqual((await npm.run(["publish"], { cwd: folder })).code, 0);
  await set(await tokenOf("registry.push"));
  const published = await npm.run(["publish"], { cwd: folder });
  assert.equal(published.code, 0, published.stderr);
});

test("skopeo inspects with a token that pulls, and copies with one that pushes alone", async (t) => {
  if (!(await has(t, "skopeo"))) return;
  const folder = folderOf(t);
  const env = { ...process.env, HOME: folder, REGISTRY_AUTH_FILE: join(folder, "auth.json") };
  const policy = join(folder, "policy.json");
  writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
  const skopeo = (...args: string[]) => run("skopeo", ["--policy", policy, ...args], { env, timeout: TIMEOUT_MS });
  const image = `docker://${host}/acme/app`;
  const logIn = (token: string) =>
    skopeo("login", "--tls-verify=false", "--username", "anything", "--password", token, host);
  const copy = () =>
    skopeo("copy", "--src-tls-verify=false", "--dest-tls-verify=false", `${image}:v1`, `${image}:copied`);
  await assert.rejects(logIn(`mrg_pat_${"x".repeat(40)}`));
  await logIn(await tokenOf("registry.pull"));
  const { stdout } = await skopeo("inspect", "--raw", "--tls-verify=false", `${image}:v1`);
  assert.match(stdout, /schemaVersion/);
  await assert.rejects(copy());
  await logIn(await tokenOf("registry.push"));
  await copy();
});

test("pip downloads with the token in the URL of the index", async (t) => {
  if (!(await has(t, "pip3"))) return;
  const wheel = { name: "demo", version: "1.0" };
  await uploadPypi(platform, "acme", { ...wheel, ...wheelOf(wheel) });
  const index = `http://any:${await tokenOf("registry.pull")}@${host}/pypi/acme/simple/`;
  const folder = folderOf(t);
  const args = ["download", "--no-deps", "--disable-pip-version-check", "--index-url", index, "-d", folder, "demo"];
  const { stdout } = await run("pip3", args, {
    timeout: TIMEOUT_MS,
    env: { ...process.env, PIP_CONFIG_FILE: "/dev/null" },
  });
  assert.match(stdout, /demo-1\.0/);
});
