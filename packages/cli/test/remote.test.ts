import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makePassword } from "../src/password-key.ts";
import { helper, moorage, type Outcome, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

// Commands on a machine that has no data folder: with the sign-in of `moorage login`, or with a token that is given.

interface Laptop {
  url: string;
  host: string;
  /** The server's folder. */
  house: string;
  /** The uid of the person's identity, who may push to acme. */
  identity: string;
  token: string;
  credentials: string;
  /** Runs a command in an empty folder, with the sign-in when `env` has no other place for it. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Outcome>;
}

/** A server, and a folder elsewhere with a sign-in to it, as `moorage login` leaves it. */
async function open(t: TestContext, extra: object = {}): Promise<Laptop> {
  const folder = temporaryFolder(t);
  const house = join(folder, "house");
  mkdirSync(house);
  const { url } = await serveHere(t, house);
  const owner = async (method: string, request: object): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await moorage(["call", method, JSON.stringify(request)], { cwd: house });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const { organization } = JSON.parse(readFileSync(join(house, "data", "bootstrap.json"), "utf8")) as {
    organization: { uid: string };
  };
  const nowMs = Date.now();
  const key = makePassword({ issuer: "https://ci.example.com", audience: url, nowMs, endMs: nowMs + 3_600_000 });
  const staticKeys = { issuer: key.issuer, subject: key.subject, issuerKeys: key.issuerKeys, audiences: [url] };
  const { uid: identity } = (await owner("IdentitiesService/CreateIdentity", {
    parent: organization.uid,
    identity: { name: "ada", staticKeys },
  })) as { uid: string };
  const { roles } = (await owner("RolesService/ListRoles", { name: "editor" })) as { roles: { uid: string }[] };
  await owner("RoleBindingsService/CreateRoleBinding", {
    parent: organization.uid,
    roleBinding: { identityUid: identity, roleUid: roles[0]?.uid },
  });
  const exchanged = await fetch(`${url}/sts/exchange?identity=${identity}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.token}` },
  });
  const { token, refreshToken, expiry } = (await exchanged.json()) as Record<string, string>;
  const credentials = join(folder, "config", "moorage", "credentials.json");
  mkdirSync(join(folder, "config", "moorage"), { recursive: true });
  const login = { accessToken: token, refreshToken, expiresAtMs: Date.parse(expiry ?? ""), identityProvider: "p" };
  writeFileSync(credentials, JSON.stringify({ servers: { [url]: { ...login, ...extra } } }), { mode: 0o600 });
  const cwd = join(folder, "elsewhere");
  mkdirSync(cwd);
  return {
    url,
    host: new URL(url).host,
    house,
    identity,
    token: token ?? "",
    credentials,
    run: (args, env = {}) => moorage(args, { cwd, env: { XDG_CONFIG_HOME: join(folder, "config"), ...env } }),
  };
}

function subjectOf(token: string): unknown {
  return (JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { sub: unknown }).sub;
}

test("with a sign-in, every command works without a data folder, and `token` trades for the registry", async (t) => {
  const { url, host, identity, run } = await open(t);
  const platform = await run(["token"]);
  assert.equal(platform.code, 0, platform.stderr);
  assert.match(platform.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  assert.equal(subjectOf(platform.stdout), identity);
  const bearer = { authorization: `Bearer ${platform.stdout.trim()}` };
  assert.equal((await fetch(`${url}/registry/v2/repos`, { headers: bearer })).status, 200);
  // As a password it logs in, as `docker login` sends it.
  const basic = { authorization: `Basic ${Buffer.from(`any:${platform.stdout.trim()}`).toString("base64")}` };
  assert.equal((await fetch(`${url}/token?service=${host}`, { headers: basic })).status, 200);

  const registry = await run(["token", "--audience", "registry"]);
  assert.equal(registry.code, 0, registry.stderr);
  const headers = { authorization: `Bearer ${registry.stdout.trim()}` };
  assert.equal(subjectOf(registry.stdout), identity);
  assert.equal((await fetch(`${url}/v2/`, { headers })).status, 200);
  assert.ok([401, 403].includes((await fetch(`${url}/registry/v2/repos`, { headers })).status), "not for the platform");

  for (const args of [
    ["call", "ReposService/ListRepos"],
    ["pull-token", "list"],
    ["sample", "--push", `${url}/acme/hello:v1`],
    ["whoami"],
  ]) {
    const { code, stderr } = await run(args);
    assert.deepEqual([code, stderr.replace("no pull tokens\n", "")], [0, ""], args.join(" "));
  }
  for (const flag of ["--ttl", "--identity"]) {
    const { code, stdout, stderr } = await run(["token", flag, "1h"]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, new RegExp(`^moorage: ${flag}: is for the data folder of a server`));
  }
});

test("the token of a sign-in that is about to end is replaced before it is printed", async (t) => {
  const { credentials, run, token } = await open(t, { expiresAtMs: Date.now() + 200_000 });
  const { code, stdout, stderr } = await run(["token"]);
  assert.equal(code, 0, stderr);
  assert.notEqual(stdout.trim(), token);
  assert.ok(readFileSync(credentials, "utf8").includes(stdout.trim()));
});

test("a token that is given is used, from the flag or MOORAGE_TOKEN, at the server of --url or MOORAGE_URL", async (t) => {
  const { url, host, identity, token, run } = await open(t);
  const nowhere = { XDG_CONFIG_HOME: join(temporaryFolder(t), "none") };
  const commands = [
    ["call", "ReposService/ListRepos"],
    ["pull-token", "list"],
    ["token"],
    ["token", "--audience", "registry"],
    ["whoami"],
  ];
  for (const args of commands) {
    const outcomes = [
      await run(args, { ...nowhere, MOORAGE_TOKEN: token, MOORAGE_URL: url }),
      await run([...args, "--url", url, "--token", token], nowhere),
    ];
    for (const { code, stderr } of outcomes)
      assert.deepEqual([code, stderr.replace("no pull tokens\n", "")], [0, ""], args.join(" "));
  }
  assert.match(
    (await run(["whoami"], { ...nowhere, MOORAGE_TOKEN: token })).stdout,
    new RegExp(`^server: ${url}\nidentity: ${identity}\ntoken ends: \\S+\n$`),
  );
  const push = ["sample", "--push", `http://${host}/acme/given:v1`];
  assert.equal((await run([...push, "--token", token], nowhere)).code, 0);
  assert.equal((await run(push, { ...nowhere, MOORAGE_TOKEN: token })).code, 0);
});

test("what is missing is said in one line, with the command that helps", async (t) => {
  const { run, url, token } = await open(t);
  const nowhere = { XDG_CONFIG_HOME: join(temporaryFolder(t), "none") };
  for (const [args, env, exit, words] of [
    [["token", "--url", url], nowhere, 4, `moorage: not signed in to ${url}: moorage login --url ${url}\n`],
    [["call", "ReposService/ListRepos"], { ...nowhere, MOORAGE_URL: url }, 4, `moorage: not signed in to ${url}: `],
    [["sample", "--push", `${url}/acme/x:1`], nowhere, 4, `moorage: not signed in to ${url}: `],
    [["token"], { ...nowhere, MOORAGE_TOKEN: token }, 2, "moorage: --url: is required, or MOORAGE_URL: "],
    [["token", "--url", `${url}/path`], {}, 2, "moorage: --url: must be an http or https URL without a path"],
    [["whoami"], { ...nowhere, MOORAGE_TOKEN: "nonsense" }, 1, "moorage: the token is no access token"],
    [["token", "--audience", "https://elsewhere.example.com"], {}, 1, "moorage: 127.0.0.1:"],
    [["token"], nowhere, 4, "moorage: not signed in to any server, and there is no data folder "],
  ] as [string[], Record<string, string>, number, string][]) {
    const { code, stdout, stderr } = await run(args, env);
    assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").length], [exit, "", 1], stderr);
    assert.ok(stderr.startsWith(words), `${args.join(" ")}: ${stderr}`);
  }
});

test("the owner's token of ./data is sent to no server but that of the folder", async (t) => {
  const { house, url } = await open(t);
  const asked: (string | undefined)[] = [];
  const stranger = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(401, { "www-authenticate": `Bearer realm="http://${request.headers.host}/token"` }).end();
  }).listen(0, "127.0.0.1");
  await once(stranger, "listening");
  t.after(() => stranger.close());
  const other = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const env = { XDG_CONFIG_HOME: join(house, "none") };
  for (const args of [
    ["call", "ReposService/ListRepos", "--url", other],
    ["pull-token", "list", "--url", other],
    ["token", "--audience", "registry", "--url", other],
    ["sample", "--push", `${other}/acme/x:1`],
  ]) {
    const { code, stderr } = await moorage(args, { cwd: house, env });
    assert.equal(code, 4, args.join(" "));
    assert.match(stderr, /^moorage: not signed in to /);
  }
  assert.deepEqual(asked, []);
  // Under another name of this machine it is the same server.
  const local = url.replace("127.0.0.1", "localhost");
  assert.equal((await moorage(["token", "--url", local], { cwd: house, env })).code, 0);
});

test("docker-credential-moorage logs in as the person who is signed in, refreshes, and knows no other registry", async (t) => {
  const { url, host, identity, token, credentials } = await open(t);
  const env = { XDG_CONFIG_HOME: join(credentials, "..", "..") };
  const given = await helper("get", `https://${host}/v1/`, env);
  assert.equal(given.code, 0, given.stdout);
  assert.deepEqual(JSON.parse(given.stdout), { ServerURL: `https://${host}/v1/`, Username: identity, Secret: token });
  assert.deepEqual(JSON.parse((await helper("list", "", env)).stdout), { [host]: identity });
  assert.equal((await helper("get", "registry.example.com", env)).stdout, "credentials not found in native keychain\n");
  const stored = await helper("store", JSON.stringify({ ServerURL: host, Username: "u", Secret: "s" }), env);
  assert.deepEqual([stored.code, stored.stdout], [0, ""]);
  assert.match(stored.stderr, /nothing is stored; the sign-in of moorage login is used/);

  // A token that has ended is replaced, by one process for all that ask side by side.
  const file = JSON.parse(readFileSync(credentials, "utf8")) as { servers: Record<string, Record<string, unknown>> };
  file.servers[url] = { ...file.servers[url], expiresAtMs: Date.now() };
  writeFileSync(credentials, JSON.stringify(file));
  const answers = await Promise.all([1, 2, 3].map(() => helper("get", host, env)));
  const secrets = new Set(answers.map(({ stdout }) => (JSON.parse(stdout) as { Secret: string }).Secret));
  assert.equal(secrets.size, 1);
  assert.ok(!secrets.has(token));
  const [secret = ""] = secrets;
  const basic = { authorization: `Basic ${Buffer.from(`${identity}:${secret}`).toString("base64")}` };
  const answered = await fetch(`${url}/token?scope=repository:acme/app:pull,push`, { headers: basic });
  assert.equal(answered.status, 200);

  // A sign-in that has ended is said to have, rather than left out: the client would go on without credentials.
  file.servers[url] = { ...file.servers[url], expiresAtMs: 0, refreshToken: "moorage_rt_unknown" };
  writeFileSync(credentials, JSON.stringify(file));
  const ended = await helper("get", host, env);
  assert.deepEqual([ended.code, ended.stdout], [1, `the sign-in to ${url} has ended: moorage login --url ${url}\n`]);
});

test("docker-credential-moorage takes the registry's own name, where that is not the server's", async (t) => {
  const { host, identity, credentials } = await open(t, { registry: "images.example.com" });
  const env = { XDG_CONFIG_HOME: join(credentials, "..", "..") };
  const given = await helper("get", "images.example.com", env);
  assert.equal((JSON.parse(given.stdout) as { Username: string }).Username, identity);
  assert.equal((await helper("get", host, env)).code, 1);
});
