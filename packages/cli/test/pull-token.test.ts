import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test, type TestContext } from "node:test";
import { moorage, type Outcome, run, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

const CONTENT = "a layer";
const DIGEST = `sha256:${createHash("sha256").update(CONTENT).digest("hex")}`;
const MANIFEST = JSON.stringify({
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: DIGEST, size: CONTENT.length },
  layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: DIGEST, size: CONTENT.length }],
});

interface Made {
  registry: string;
  username: string;
  password: string;
  expirationTime: string;
}
interface Identity {
  uid: string;
  staticKeys: { subject: string; issuerKeys: string; audiences: string[]; expirationTime: string };
}

/** A server with the images acme/team/app and acme/other/app, and requests to it with the owner's tokens. */
async function start(t: TestContext) {
  const cwd = temporaryFolder(t);
  const { url } = await serveHere(t, cwd);
  const token = (await moorage(["token"], { cwd })).stdout.trim();
  const registry = (await moorage(["token", "--audience", "registry"], { cwd })).stdout.trim();
  const ask = (
    method: string,
    path: string,
    bearer: string,
    body?: string,
    type = "application/json",
  ): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body !== undefined && { "content-type": type }) },
      ...(body !== undefined && { body }),
    });
  /** Calls the platform API as the owner. Fails the test when the answer is not 200. */
  const api = async <T = { uid: string }>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await ask(method, path, token, body && JSON.stringify(body));
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as T;
  };
  for (const name of ["acme/team/app", "acme/other/app"]) {
    assert.equal(
      (await ask("POST", `/v2/${name}/blobs/uploads/?digest=${DIGEST}`, registry, CONTENT, "application/octet-stream"))
        .status,
      201,
    );
    assert.equal(
      (await ask("PUT", `/v2/${name}/manifests/v1`, registry, MANIFEST, "application/vnd.oci.image.manifest.v1+json"))
        .status,
      201,
    );
  }
  const group = async (name: string): Promise<string> =>
    (await api<{ groups: [{ uid: string }] }>("GET", `/iam/v2/groups?name=${name}`)).groups[0].uid;
  const [acme, team] = [await group("acme"), await group("team")];
  const pullToken = (args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
    moorage(["pull-token", ...args], { cwd, env });
  const create = async (...args: string[]): Promise<Made> => {
    const { code, stdout, stderr } = await pullToken(["create", "--json", ...args]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Made;
  };
  const log = (user: string, password: string, scope: string): Promise<Response> =>
    fetch(`${url}/token?scope=repository:${scope}`, {
      headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` },
    });
  const granted = async (made: Made, scope: string): Promise<string[]> => {
    const answer = await log(made.username, made.password, scope);
    assert.equal(answer.status, 200, await answer.clone().text());
    const { token: registryToken } = (await answer.json()) as { token: string };
    const claims = JSON.parse(Buffer.from(registryToken.split(".")[1] ?? "", "base64url").toString()) as {
      access: { actions: string[] }[];
    };
    return claims.access.flatMap(({ actions }) => actions);
  };
  const registryToken = async ({ username, password }: Made, scope: string): Promise<string> =>
    ((await (await log(username, password, scope)).json()) as { token: string }).token;
  const pull = async (bearer: string, name: string): Promise<number> => {
    const answer = await ask("GET", `/v2/${name}/manifests/v1`, bearer);
    if (answer.status === 200) assert.equal(await answer.text(), MANIFEST);
    return answer.status;
  };
  const identities = async (): Promise<Identity[]> =>
    (await api<{ identities: Identity[] }>("GET", "/iam/v2/identities?relationship_type=RELATIONSHIP_TYPE_STATIC"))
      .identities;
  return { cwd, url, token, acme, team, api, pullToken, create, log, granted, registryToken, pull, identities };
}

test("a pull token logs in and pulls the images of its group, and no others", async (t) => {
  const server = await start(t);
  const made = await server.create("--group", server.team, "--name", "cluster");
  assert.equal(made.registry, new URL(server.url).host);
  assert.deepEqual(await server.granted(made, "acme/team/app:pull,push,delete"), ["pull"]);
  assert.deepEqual(await server.granted(made, "acme/other/app:pull"), [], "another group");
  const token = await server.registryToken(made, "acme/team/app:pull");
  assert.equal(await server.pull(token, "acme/team/app"), 200);
  assert.equal(await server.pull(token, "acme/other/app"), 403);
  // The password is for the registry's token endpoint: it is no token for other requests, and refused under another
  // name.
  assert.equal(
    (await fetch(`${server.url}/registry/v2/repos`, { headers: { authorization: `Bearer ${made.password}` } })).status,
    401,
  );
  for (const user of [server.acme, `${server.team}/0123456789abcdef`]) {
    assert.equal((await server.log(user, made.password, "acme/team/app:pull")).status, 401, user);
  }
  const [identity] = await server.identities();
  assert.deepEqual(
    [identity?.uid, identity?.staticKeys.audiences, identity?.staticKeys.expirationTime],
    [made.username, [made.registry], made.expirationTime],
  );
  assert.ok(!identity?.staticKeys.issuerKeys.includes('"d"'), "the server never sees the private key");
  const days = (Date.parse(made.expirationTime) - Date.now()) / 86_400_000;
  assert.ok(days > 29 && days <= 30, made.expirationTime);
});

test("a pull token is listed as never seen until it logged in, and then with that time", async (t) => {
  const server = await start(t);
  const made = await server.create("--group", server.team, "--name", "cluster");
  const lastSeen = async (): Promise<string | undefined> => {
    const { code, stdout, stderr } = await server.pullToken(["list", "--group", server.team]);
    assert.equal(code, 0, stderr);
    return /^cluster +acme\/team +\S+ +(\S+)/m.exec(stdout)?.[1];
  };
  assert.equal(await lastSeen(), "never");
  const beforeMs = Date.now();
  await server.granted(made, "acme/team/app:pull");
  assert.ok(Date.parse((await lastSeen()) ?? "") >= beforeMs, "soon after it was made");
});

test("standard output is one shell command with the password in it, and nothing else", async (t) => {
  const server = await start(t);
  const { code, stdout, stderr } = await server.pullToken([
    "create",
    "--group",
    server.team,
    "--name",
    "ci",
    "--ttl",
    "12h",
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^pull token ci, good until \S+Z; it is shown this once\n$/);
  // What docker would get.
  const played = await run("bash", ["-c", `docker() { echo "$@"; cat; }; ${stdout}`]);
  const [, registry, user, password] =
    /^login (\S+) --username (\S+) --password-stdin\n([\w.-]+)$/.exec(played.stdout) ?? [];
  assert.equal(registry, new URL(server.url).host);
  assert.equal((await server.log(user ?? "", password ?? "", "acme/team/app:pull")).status, 200);
});

test("a pull token can be listed and revoked: then the password and the tokens issued for it end immediately", async (t) => {
  const server = await start(t);
  const one = await server.create("--group", server.team, "--name", "one");
  const two = await server.create("--group", server.acme, "--name", "two", "--role", "registry.push");
  assert.deepEqual(await server.granted(two, "acme/other/app:pull,push"), ["pull", "push"]);
  // Other identities with static keys are no pull tokens.
  const [first] = await server.identities();
  const { uid: foreign } = await server.api("POST", `/iam/v2/identities/${server.team}`, {
    name: "foreign",
    staticKeys: { issuer: "https://ci.example.com", subject: "x", issuerKeys: first?.staticKeys.issuerKeys },
  });
  const listed = async (...args: string[]): Promise<string[][]> =>
    (await server.pullToken(["list", ...args])).stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/ {2,}/));
  const all = await listed();
  const [, second] = all;
  assert.deepEqual(
    all.map(([name, place, , , uid]) => [name, place, uid]),
    [
      ["one", "acme/team", one.username],
      ["two", "acme", two.username],
    ],
  );
  assert.equal(second?.[2], two.expirationTime);
  assert.deepEqual(
    (await listed("--group", server.team)).map(([name]) => name),
    ["one"],
  );

  const token = await server.registryToken(one, "acme/team/app:pull");
  assert.equal(await server.pull(token, "acme/team/app"), 200);
  const revoked = await server.pullToken(["revoke", one.username]);
  assert.deepEqual([revoked.code, revoked.stdout], [0, "pull token one is revoked\n"]);
  assert.equal(await server.pull(token, "acme/team/app"), 401);
  assert.equal((await server.log(one.username, one.password, "acme/team/app:pull")).status, 401);
  assert.equal((await server.log("any", one.password, "acme/team/app:pull")).status, 401);
  const again = await server.pullToken(["revoke", one.username]);
  assert.deepEqual([again.code, again.stderr], [3, `moorage: NOT_FOUND: Identity not found: ${one.username}\n`]);
  const other = await server.pullToken(["revoke", foreign]);
  assert.deepEqual([other.code, other.stderr], [1, `moorage: identity ${foreign} is no pull token\n`]);
});

test("a pull token expires, and the tokens issued for it do not outlive it", async (t) => {
  const server = await start(t);
  const brief = await server.create("--group", server.team, "--name", "brief", "--ttl", "1s");
  const made = await server.create("--group", server.team, "--name", "longer", "--ttl", "60s");
  const token = await server.registryToken(made, "acme/team/app:pull");
  const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { exp: number };
  assert.ok(exp * 1000 <= Date.parse(made.expirationTime), made.expirationTime);
  const endMs = Date.parse(brief.expirationTime);
  while (Date.now() <= endMs) await new Promise((resolve) => setTimeout(resolve, endMs - Date.now() + 1));
  const { status, headers } = await server.log(brief.username, brief.password, "acme/team/app:pull");
  assert.equal(status, 401);
  assert.match(headers.get("www-authenticate") ?? "", /^Basic /);
});

describe("creating a pull token is all or nothing", () => {
  let count = 0;

  test("when the caller may not give the role, the new identity is removed, or named when the caller may not remove it", async (t) => {
    const server = await start(t);
    const holder = async (capabilities: string[]): Promise<string> => {
      const { uid: role } = await server.api("POST", `/iam/v2/roles/${server.acme}`, {
        name: `custom ${(count += 1)}`,
        capabilities,
      });
      const { uid } = await server.api("POST", `/iam/v2/identities/${server.acme}`, { name: "maker" });
      await server.api("POST", `/iam/v2/roleBindings/${server.acme}`, { identityUid: uid, roleUid: role });
      return (await moorage(["token", "--identity", uid], { cwd: server.cwd })).stdout.trim();
    };
    const makes = [
      "CAP_IAM_GROUPS_LIST",
      "CAP_IAM_IDENTITY_CREATE",
      "CAP_IAM_IDENTITY_LIST",
      "CAP_IAM_ROLE_BINDINGS_CREATE",
    ];
    const args = ["create", "--group", server.team, "--name", "ci", "--url", server.url];
    const refused = await server.pullToken(args, {
      MOORAGE_TOKEN: await holder([...makes, "CAP_IAM_IDENTITY_DELETE"]),
    });
    assert.equal(refused.code, 5);
    assert.match(
      refused.stderr,
      /^moorage: PERMISSION_DENIED: .*only capabilities that the caller holds can be given away\n$/,
    );
    assert.equal(refused.stdout, "");
    assert.deepEqual(await server.identities(), []);
    const left = await server.pullToken(args, { MOORAGE_TOKEN: await holder(makes) });
    const [identity] = await server.identities();
    assert.equal(left.code, 5);
    assert.equal(left.stdout, "");
    assert.ok(
      left.stderr.includes(`; identity ${identity?.uid} was made for it and could not be removed: it can do nothing\n`),
      left.stderr,
    );
    // A caller with the built-in role for it needs no other rights.
    const {
      roles: [creator],
    } = await server.api<{ roles: [{ uid: string }] }>("GET", "/iam/v2/roles?name=registry.pull_token_creator");
    const { uid } = await server.api("POST", `/iam/v2/identities/${server.acme}`, { name: "creator" });
    await server.api("POST", `/iam/v2/roleBindings/${server.team}`, { identityUid: uid, roleUid: creator.uid });
    const token = (await moorage(["token", "--identity", uid], { cwd: server.cwd })).stdout.trim();
    const made = await server.pullToken(args, { MOORAGE_TOKEN: token });
    assert.equal(made.code, 0, made.stderr);
  });

  test("an invalid flag, group or server is reported in one line before anything is created", async (t) => {
    const server = await start(t);
    const base = ["--group", server.team, "--name", "ci"];
    for (const [args, exit, message] of [
      [[...base, "--ttl", "soon"], 2, /^moorage: --ttl: /],
      [[...base, "--ttl", "0s"], 2, /^moorage: --ttl: /],
      [[...base, "--ttl", "367d"], 2, /^moorage: --ttl: /],
      [[...base, "--role", "none"], 2, /^moorage: --role: there is no built-in role none\n$/],
      [["--group", "nowhere", "--name", "ci"], 3, /^moorage: there is no group nowhere that you may see\n$/],
      [["--group", server.team, "--name", "NOT A NAME"], 1, /^moorage: INVALID_ARGUMENT: .*name/],
    ] as const) {
      const { code, stdout, stderr } = await server.pullToken(["create", ...args]);
      assert.deepEqual([code, stdout], [exit, ""], stderr);
      assert.match(stderr, message);
      assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    }
    assert.deepEqual(await server.identities(), []);
  });
});
