import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { HELPER, helper, moorage, run, startServing, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

// `docker-credential-moorage` as clients call it: one argument, the request on standard input, the answer or the error
// on standard output.

const CI_PROVIDER = fileURLToPath(new URL("../src/demo/ci-provider.ts", import.meta.url));
const TIMEOUT_MS = 60_000;
const NOT_FOUND = "credentials not found in native keychain\n";
const UID = `${"a1".repeat(20)}/${"b2".repeat(8)}`;
const JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqb2IifQ.c2lnbmF0dXJl";
const OURS = {
  MOORAGE_REGISTRY_HOST: "registry.example.com,Other.example.com:5000",
  MOORAGE_IDENTITY: UID,
  MOORAGE_ID_TOKEN: JWT,
};

/** A stand-in for GitHub's token service, and the requests it got. */
async function openGitHub(
  t: TestContext,
  answers: ((response: ServerResponse) => void)[],
): Promise<{ env: Record<string, string>; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer) answer(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/idtoken?api-version=2.0`;
  const { MOORAGE_ID_TOKEN: _, ...ours } = OURS;
  return {
    env: {
      ...ours,
      GITHUB_ACTIONS: "true",
      ACTIONS_ID_TOKEN_REQUEST_URL: url,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of-the-job",
    },
    asked,
  };
}

test("get answers the identity and the job's token for a configured registry, in every spelling of its address", async () => {
  for (const server of [
    "registry.example.com",
    "https://registry.example.com",
    "https://Registry.example.com/v1/\n",
    "other.example.com:5000",
  ]) {
    const { code, stdout, stderr } = await helper("get", server, OURS);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(JSON.parse(stdout), { ServerURL: server.trim(), Username: UID, Secret: JWT });
  }
});

test("get has no credentials for other registries, with docker's message for that: the token is sent nowhere else", async () => {
  for (const server of [
    "registry.example.org",
    "registry.example.com:5000",
    "other.example.com",
    "registry.example.com.evil.example",
    "https://evil.example/registry.example.com",
  ]) {
    assert.deepEqual(await helper("get", server, OURS), { code: 1, stdout: NOT_FOUND, stderr: "" }, server);
  }
  assert.deepEqual(await helper("get", "registry.example.com", { MOORAGE_IDENTITY: UID, MOORAGE_ID_TOKEN: JWT }), {
    code: 1,
    stdout: NOT_FOUND,
    stderr: "",
  });
  assert.deepEqual(await helper("get", "\n", OURS), { code: 1, stdout: "no credentials server URL\n", stderr: "" });
});

test("the error of get says what is missing, and contains no token", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "token");
  writeFileSync(file, `${JWT}\n`);
  const { MOORAGE_ID_TOKEN: _, ...tokenless } = OURS;
  const read = await helper("get", "registry.example.com", { ...tokenless, MOORAGE_ID_TOKEN_FILE: file });
  assert.equal((JSON.parse(read.stdout) as { Secret: string }).Secret, JWT);
  for (const [env, words] of [
    [{ ...OURS, MOORAGE_IDENTITY: "ci" }, /^MOORAGE_IDENTITY must be the uid/],
    [{ ...OURS, MOORAGE_IDENTITY: "" }, /^MOORAGE_IDENTITY must be the uid/],
    [{ ...OURS, MOORAGE_ID_TOKEN: "hidden" }, /^MOORAGE_ID_TOKEN is no ID token/],
    [tokenless, /^there is no ID token: set MOORAGE_ID_TOKEN/],
    [
      { ...tokenless, MOORAGE_ID_TOKEN_FILE: join(folder, "none") },
      /none, which MOORAGE_ID_TOKEN_FILE names, cannot be read/,
    ],
    [{ ...tokenless, GITHUB_ACTIONS: "true" }, /permissions: id-token: write/],
  ] as [Record<string, string>, RegExp][]) {
    const { code, stdout, stderr } = await helper("get", "registry.example.com", env);
    // Docker shows its user standard error alone.
    const said = `docker-credential-moorage: ${stdout}`;
    assert.deepEqual([code, stderr, stdout.trimEnd().split("\n").length], [1, said, 1]);
    assert.match(stdout, words);
    assert.ok(!stdout.includes("hidden") && !stdout.includes(JWT), stdout);
  }
});

test("on GitHub Actions a token is requested for the registry, or for the audience that is set", async (t) => {
  const { env, asked } = await openGitHub(t, [(response) => response.end(JSON.stringify({ count: 1, value: JWT }))]);
  const { stdout } = await helper("get", "registry.example.com", env);
  assert.equal((JSON.parse(stdout) as { Secret: string }).Secret, JWT);
  await helper("get", "other.example.com:5000", { ...env, MOORAGE_AUDIENCE: "https://moorage.example.com" });
  const audienceOf = ({ url = "" }: IncomingMessage): object =>
    Object.fromEntries(new URL(url, "http://x").searchParams);
  const audiences = ["https://registry.example.com", "https://moorage.example.com"];
  assert.deepEqual(
    asked.map(audienceOf),
    audiences.map((audience) => ({ "api-version": "2.0", audience })),
  );
  assert.deepEqual(
    asked.map(({ headers }) => headers.authorization),
    ["Bearer of-the-job", "Bearer of-the-job"],
  );
});

test("temporary errors of GitHub are retried, and rejections reported immediately", async (t) => {
  const failing = (response: ServerResponse): void => void response.writeHead(503).end();
  const broken = (response: ServerResponse): void => void response.destroy();
  const good = (response: ServerResponse): void => void response.end(JSON.stringify({ value: JWT }));
  const patient = await openGitHub(t, [failing, broken, good]);
  assert.equal((await helper("get", "registry.example.com", patient.env)).code, 0);
  assert.equal(patient.asked.length, 3);
  for (const [answer, words, times] of [
    [failing, "it answers HTTP 503", 3],
    [(response) => response.writeHead(403).end("hidden"), "it answers HTTP 403", 1],
    [(response) => response.end(JSON.stringify({ message: "hidden" })), "the answer holds none", 1],
    [
      (response) => response.writeHead(302, { location: "http://127.0.0.1:9/hidden" }).end(),
      "does not answer as expected",
      3,
    ],
  ] as [(response: ServerResponse) => void, string, number][]) {
    const { env, asked } = await openGitHub(t, [answer]);
    const { code, stdout, stderr } = await helper("get", "registry.example.com", env);
    assert.deepEqual([code, stderr, asked.length], [1, `docker-credential-moorage: ${stdout}`, times], words);
    assert.match(stdout, new RegExp(`^GitHub Actions gave no ID token: .*${words}\n$`));
    assert.ok(!stdout.includes("hidden") && !stdout.includes("of-the-job"));
  }
});

test("store and erase succeed without storing anything; credentials of other registries are refused, since they would be lost", async () => {
  const stored = await helper(
    "store",
    JSON.stringify({ ServerURL: "https://registry.example.com", Username: UID, Secret: "hidden" }),
    OURS,
  );
  assert.deepEqual([stored.code, stored.stdout], [0, ""]);
  assert.match(stored.stderr, /^docker-credential-moorage: nothing is stored/);
  const other = await helper(
    "store",
    JSON.stringify({ ServerURL: "registry.example.org", Username: "u", Secret: "hidden" }),
    OURS,
  );
  assert.deepEqual([other.code, other.stderr], [1, ""]);
  assert.match(other.stdout, /stores nothing, and has no credentials of its own for registry\.example\.org/);
  for (const input of ["", "{", "[]", "{}", "null"]) assert.equal((await helper("store", input, OURS)).code, 1, input);
  assert.deepEqual(await helper("erase", "registry.example.com", OURS), { code: 0, stdout: "", stderr: "" });
});

test("list and version answer, and an unknown action is an error", async () => {
  assert.deepEqual(JSON.parse((await helper("list", "", OURS)).stdout), {
    "registry.example.com": UID,
    "other.example.com:5000": UID,
  });
  assert.equal((await helper("list", "")).stdout, "{}\n");
  assert.match((await helper("version", "")).stdout, /^docker-credential-moorage \(moorage\) v\d+\.\d+\.\d+\n$/);
  const { code, stdout } = await helper("got", "");
  assert.deepEqual([code, stdout], [1, "usage: docker-credential-moorage <get|store|erase|list|version>\n"]);
  assert.equal((await run(process.execPath, [HELPER])).code, 1);
});

test("a client with support for credential helpers pushes and pulls with it", async (t) => {
  if ((await run("skopeo", ["--version"])).code !== 0) return t.skip("not on this machine: skopeo");
  const folder = temporaryFolder(t);
  const server = await serveHere(t, folder, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const provider = await startServing(t, process.execPath, [CI_PROVIDER, "0"]);
  const host = new URL(server.url).host;
  const identity = await makeIdentity(folder, server.url, `${provider.url}/github`);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(HELPER, join(bin, "docker-credential-moorage"));
  writeFileSync(join(folder, "auth.json"), JSON.stringify({ credHelpers: { [host]: "moorage" } }));
  const env = {
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    REGISTRY_AUTH_FILE: join(folder, "auth.json"),
    MOORAGE_REGISTRY_HOST: host,
    MOORAGE_IDENTITY: identity,
    MOORAGE_AUDIENCE: server.url,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${provider.url}/github/token?ref=refs/heads/main`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "played",
  };
  await moorage(["sample", "--layout", "layout"], { cwd: folder });
  const image = `docker://${host}/acme/app:main`;
  const pushed = await run("skopeo", ["copy", "--all", "--dest-tls-verify=false", "oci:layout/build1:latest", image], {
    cwd: folder,
    env,
  });
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.equal((await run("skopeo", ["inspect", "--raw", "--tls-verify=false", image], { cwd: folder, env })).code, 0);
  // Another branch: the client prints which claim does not match.
  const feature = { ...env, ACTIONS_ID_TOKEN_REQUEST_URL: `${provider.url}/github/token?ref=refs/heads/feature` };
  const refused = await run("skopeo", ["inspect", "--raw", "--tls-verify=false", image], { cwd: folder, env: feature });
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /does not accept claim sub, which is .*refs\/heads\/feature/);
});

async function makeIdentity(folder: string, url: string, issuer: string): Promise<string> {
  const token = (await moorage(["token"], { cwd: folder })).stdout.trim();
  const api = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(url + path, {
      headers,
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    assert.equal(response.status, 200, path);
    return (await response.json()) as Record<string, unknown>;
  };
  const { groups } = (await api("/iam/v2/groups?name=acme")) as { groups: { uid: string }[] };
  const { roles } = (await api("/iam/v2/roles?name=registry.push")) as { roles: { uid: string }[] };
  const group = groups[0]?.uid ?? "";
  const claimMatch = { issuer, subject: "repo:acme/app:ref:refs/heads/main" };
  const { uid } = (await api(`/iam/v2/identities/${group}`, { name: "github", claimMatch })) as { uid: string };
  await api(`/iam/v2/roleBindings/${group}`, { identityUid: uid, roleUid: roles[0]?.uid ?? "" });
  return uid;
}
