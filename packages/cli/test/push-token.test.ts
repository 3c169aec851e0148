import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { LAUNCHER, moorage, type Outcome, run, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

interface Made {
  registry: string;
  username: string;
  password: string;
  expirationTime: string;
}

/** A server with the image acme/app, and the command as its owner. */
async function start(t: TestContext) {
  const cwd = temporaryFolder(t);
  const { url } = await serveHere(t, cwd);
  const pushToken = (...args: string[]): Promise<Outcome> => moorage(["push-token", ...args], { cwd });
  const create = async (...args: string[]): Promise<Made> => {
    const { code, stdout, stderr } = await pushToken("create", "--json", ...args);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Made;
  };
  /** Pushes the sample image with the password. */
  const push = async ({ username, password }: Made, image: string): Promise<Outcome> => {
    const command = `printf %s "$PASSWORD" | "${process.execPath}" "${LAUNCHER}" sample --push ${url}/${image} --user ${username} --password-stdin`;
    return run("bash", ["-c", command], { cwd, env: { PASSWORD: password } });
  };
  assert.equal((await moorage(["sample", "--push", `${url}/acme/app:v1`], { cwd })).code, 0);
  const { organization } = JSON.parse(readFileSync(join(cwd, "data", "bootstrap.json"), "utf8")) as {
    organization: { uid: string };
  };
  return { cwd, url, acme: organization.uid, pushToken, create, push };
}

test("a push token pushes to its group, is listed, and ends when it is revoked", async (t) => {
  const { acme, url, pushToken, create, push } = await start(t);
  const made = await create("--group", "acme", "--name", "builder");
  assert.equal(made.registry, new URL(url).host);
  assert.ok(made.username.startsWith(`${acme}/`));
  const days = (Date.parse(made.expirationTime) - Date.now()) / 86_400_000;
  assert.ok(days > 6 && days <= 7, made.expirationTime);
  const pushed = await push(made, "acme/new:v1");
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.notEqual((await push(made, "public/new:v1")).code, 0, "another organization");

  const listed = await pushToken("list", "--group", acme);
  assert.match(listed.stdout, new RegExp(`\nbuilder +acme +${made.expirationTime} +\\S+ +${made.username}\n$`));
  const revoked = await pushToken("revoke", made.username);
  assert.deepEqual([revoked.code, revoked.stdout], [0, "push token builder is revoked\n"]);
  const after = await push(made, "acme/new:v2");
  assert.equal(after.code, 4);
  assert.match(after.stderr, /the credentials were not accepted/);
});

test("a push token for one image pushes that one alone, and says so in the list", async (t) => {
  const { pushToken, create, push } = await start(t);
  const made = await create("--repo", "acme/app", "--name", "builder");
  const pushed = await push(made, "acme/app:v2");
  assert.equal(pushed.code, 0, pushed.stderr);
  for (const image of ["acme/other:v1", "acme/app/below:v1"]) assert.equal((await push(made, image)).code, 5, image);
  assert.match(
    (await pushToken("list")).stdout,
    /^NAME +FOR +ENDS +LAST USED +USER NAME\nbuilder +acme\/app +20\S+Z +20\S+Z /,
  );
});

test("what is made is one line for docker, and the advice to use no password stands beside it", async (t) => {
  const { pushToken } = await start(t);
  const { stdout, stderr } = await pushToken("create", "--group", "acme", "--name", "builder", "--ttl", "12h");
  assert.match(stdout, /^printf %s '[\w.-]+' \| docker login \S+ --username '?\S+'? --password-stdin\n$/);
  assert.match(stderr, /^push token builder, good until \S+Z; it is shown this once\n.*keyless\.md\n$/);
});

test("a flag that does not fit, and a pull token in its place, are refused in one line", async (t) => {
  const { acme, cwd, pushToken } = await start(t);
  const pull = await moorage(["pull-token", "create", "--json", "--group", "acme", "--name", "puller"], { cwd });
  const { username } = JSON.parse(pull.stdout) as Made;
  for (const [args, exit, message] of [
    [["create", "--name", "x"], 2, "name either --group or --repo"],
    [["create", "--name", "x", "--group", acme, "--repo", "acme/app"], 2, "name either --group or --repo"],
    [
      ["create", "--name", "x", "--group", acme, "--ttl", "91d"],
      2,
      "--ttl: must be a duration such as 12h or 30d, at most 90d",
    ],
    [["create", "--name", "x", "--repo", "acme/none"], 3, "there is no repo acme/none"],
    [["create", "--name", "x", "--repo", "app"], 2, "--repo: must look like acme/app"],
    [["create", "--name", "x", "--group", "acme/none"], 3, "there is no group acme/none"],
    [["revoke", username], 1, `identity ${username} is no push token`],
  ] as [string[], number, string][]) {
    const { code, stdout, stderr } = await pushToken(...args);
    assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").length], [exit, "", 1], stderr);
    assert.ok(stderr.startsWith(`moorage: ${message}`), stderr);
  }
  assert.equal((await pushToken("list")).stdout, "");
});
