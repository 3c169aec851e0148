import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LAUNCHER, moorage, startServing, temporaryFolder, terminate } from "./commands.ts";

const NODE = process.execPath;
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

test("an invalid setting stops the start with one line that names it, from the environment and from a flag", async (t) => {
  const cwd = temporaryFolder(t);
  const cases: [Record<string, string>, string[], RegExp][] = [
    [{ MOORAGE_PORT: "eighty" }, [], /MOORAGE_PORT/],
    [{}, ["--port", "70000"], /MOORAGE_PORT/],
    [{ MOORAGE_BASE_URL: "not a url" }, [], /MOORAGE_BASE_URL/],
    [{ MOORAGE_ADMINS: "me" }, [], /MOORAGE_ADMINS/],
    [{}, ["--organization", "Not A Name"], /MOORAGE_ORGANIZATION/],
    [{ MOORAGE_TLS_CERT: "cert.pem" }, [], /MOORAGE_TLS_KEY/],
    [{ MOORAGE_TLS_CERT: "missing.pem", MOORAGE_TLS_KEY: "missing.pem" }, ["--port", "0"], /MOORAGE_TLS_(CERT|KEY)/],
  ];
  for (const [env, flags, named] of cases) {
    const { code, stderr } = await moorage(["serve", ...flags], { cwd, env });
    assert.equal(code, 1, stderr);
    assert.match(stderr, named);
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
  }
});

test("an unknown flag and an unknown command end with an error on stderr", async (t) => {
  const cwd = temporaryFolder(t);
  for (const args of [["serve", "--prot", "0"], ["sevre"]]) {
    const { code, stderr, stdout } = await moorage(args, { cwd });
    assert.notEqual(code, 0);
    assert.notEqual(stderr, "");
    assert.equal(stdout, "");
  }
});

test("a server listens, issues tokens that it accepts, and ends with 0 on SIGTERM", async (t) => {
  const cwd = temporaryFolder(t);
  const server = await startServing(t, NODE, [LAUNCHER, "serve", "--port", "0"], { cwd });
  const { code, stdout } = await moorage(["token"], { cwd });
  assert.equal(code, 0);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const answer = await fetch(`${server.url}/registry/v2/repos`, {
    headers: { authorization: `Bearer ${stdout.trim()}` },
  });
  assert.equal(answer.status, 200);

  const registry = await moorage(["token", "--audience", "registry"], { cwd });
  const headers = { authorization: `Bearer ${registry.stdout.trim()}` };
  assert.equal((await fetch(`${server.url}/v2/`, { headers })).status, 200);
  assert.ok(
    [401, 403].includes((await fetch(`${server.url}/registry/v2/repos`, { headers })).status),
    "a registry token is not for the platform",
  );

  const called = await moorage(["call", "RolesService/ListRoles", '{"name": "viewer"}', "--url", server.url], { cwd });
  assert.equal(called.code, 0, called.stderr);
  assert.equal((JSON.parse(called.stdout) as { roles: { name: string }[] }).roles[0]?.name, "viewer");
  assert.equal(await terminate(server), 0);
  const after = await moorage(["token"], { cwd });
  assert.equal(after.code, 0, "a token needs no running server");
});

test("SIGTERM lets an upload under way complete, and the server ends with 0", async (t) => {
  const cwd = temporaryFolder(t);
  const server = await startServing(t, NODE, [LAUNCHER, "serve", "--port", "0"], { cwd });
  const { stdout } = await moorage(["token", "--audience", "registry"], { cwd });
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  const started = await fetch(`${server.url}/v2/acme/slow/blobs/uploads/`, { method: "POST", headers });
  const upload = request(server.url + (started.headers.get("location") ?? ""), {
    method: "PATCH",
    headers,
    agent: false,
  });
  const answered = once(upload, "response");
  const written = new Promise((resolve) => upload.write("first half, ", resolve));
  await written;
  // The server has read the upload's request when it answers a later one on another connection.
  await fetch(`${server.url}/healthz`);
  const ended = terminate(server);
  await assert.rejects(async () => {
    for (;;) await fetch(`${server.url}/healthz`, { signal: AbortSignal.timeout(10_000) });
  });
  upload.end("second half");
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 202);
  assert.equal(await ended, 0);
});

test("npm start serves from the sources, and SIGTERM to npm ends the server with 0", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const server = await startServing(t, "npm", ["start"], {
    cwd: ROOT,
    env: { MOORAGE_PORT: "0", MOORAGE_DATA_DIR: dataDir },
  });
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  assert.equal(await terminate(server), 0);
  await assert.rejects(fetch(`${server.url}/readyz`), "the server still answers");
});

test("`token` fails with one line for a folder that is missing, is no server's, or has no database", async (t) => {
  const cwd = temporaryFolder(t);
  const empty = join(cwd, "empty");
  mkdirSync(empty);
  const broken = join(cwd, "broken");
  mkdirSync(broken);
  writeFileSync(join(broken, "bootstrap.json"), "{");
  for (const folder of [join(cwd, "missing"), empty, broken]) {
    const { code, stdout, stderr } = await moorage(["token", "--data-dir", folder], { cwd });
    assert.equal(code, 1, stderr);
    assert.equal(stdout, "");
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    assert.ok(stderr.includes(folder), stderr);
  }
});

test("the flags of `token` are validated", async (t) => {
  const cwd = temporaryFolder(t);
  await terminate(await startServing(t, NODE, [LAUNCHER, "serve", "--port", "0"], { cwd }));
  for (const [flag, value, exit] of [
    ["--ttl", "soon", 2],
    ["--ttl", "2h", 1],
    ["--ttl", "0s", 2],
    ["--identity", "nobody", 1],
  ] as const) {
    const { code, stdout, stderr } = await moorage(["token", flag, value], { cwd });
    assert.equal(code, exit, `${flag} ${value}`);
    assert.equal(stdout, "");
    assert.match(stderr, /^moorage: .+\n$/);
  }
});

test("a second server on the same data folder is refused, and the first keeps serving", async (t) => {
  const cwd = temporaryFolder(t);
  const first = await startServing(t, NODE, [LAUNCHER, "serve", "--port", "0"], { cwd });
  const second = await moorage(["serve", "--port", "0"], { cwd });
  assert.equal(second.code, 1);
  assert.match(second.stderr, /^moorage: .*data.*\n$/);
  assert.equal((await fetch(`${first.url}/healthz`)).status, 200);
  assert.equal(await terminate(first), 0);
});

test("a sample image is pushed, and written as an OCI layout with the same digest", async (t) => {
  const cwd = temporaryFolder(t);
  const server = await startServing(t, NODE, [LAUNCHER, "serve", "--port", "0"], { cwd });
  const { code, stdout, stderr } = await moorage(
    ["sample", "--push", `${server.url}/acme/hello:latest`, "--build", "2", "--layout", "layout"],
    { cwd },
  );
  assert.equal(code, 0, stderr);
  const [, digest] = /^layout\n127\.0\.0\.1:\d+\/acme\/hello@(sha256:[0-9a-f]{64})\n$/.exec(stdout) ?? [];
  const index = JSON.parse(readFileSync(join(cwd, "layout", "build2", "index.json"), "utf8")) as {
    manifests: { digest: string }[];
  };
  assert.equal(index.manifests[0]?.digest, digest);
  const wrong = await moorage(["sample", "--push", "acme/hello"], { cwd });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /must look like/);
  assert.equal(await terminate(server), 0);
});

test("a push that the server refuses ends with the server's reason, in one line", async (t) => {
  const cwd = temporaryFolder(t);
  const { url } = await startServing(t, NODE, [LAUNCHER, "serve", "--port", "0"], { cwd });
  const push = (reference: string, ...more: string[]): ReturnType<typeof moorage> =>
    moorage(["sample", "--push", `${url}/${reference}`, ...more], { cwd });
  const rejections: [Promise<{ code: number; stdout: string; stderr: string }>, number, RegExp][] = [
    // The owner has no right to push into an organization that is not there.
    [
      push("nowhere/app:v1"),
      5,
      /HTTP 403 DENIED: .*identity [0-9a-f]{40} needs a role binding with CAP_MANIFEST_CREATE/,
    ],
    [push("acme/app:v1--at--20260101T000000Z"), 1, /is read-only and is never pushed/],
    [push("acme/app:v1", "--token", "nonsense"), 4, /the credentials were not accepted/],
  ];
  for (const [outcome, exit, words] of rejections) {
    const { code, stdout, stderr } = await outcome;
    assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").length], [exit, "", 1], stderr);
    assert.match(stderr, words);
  }
  const nobody = await moorage(["sample", "--push", "http://127.0.0.1:1/acme/app:v1", "--token", "x"], { cwd });
  assert.equal(nobody.code, 7);
  assert.match(nobody.stderr, /^moorage: http:\/\/127\.0\.0\.1:1 does not answer: [^\n]+\n$/);
});
