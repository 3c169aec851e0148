// The exit code of a command for each cause, and the one line that goes with it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { environment, LAUNCHER, moorage, run } from "./commands.ts";
import { openQuick } from "./quick.ts";

test("each cause has its exit code and one line on standard error", async (t) => {
  const { done, as, run: anybody, url, env, folder } = await openQuick(t);
  await done("groups", "create", "acme/team");
  await done("repos", "create", "acme/team/app");
  // Somebody who may see acme, and change nothing there.
  await done("identities", "create", "acme/viewer");
  await done("bindings", "create", "acme", "--identity-uid", "acme/viewer", "--role-uid", "viewer");
  const viewer = (await done("identities", "get", "acme/viewer", "-o", "id")).trim();
  const signed = await anybody(["token", "--identity", viewer]);
  assert.equal(signed.code, 0, signed.stderr);
  const other = { MOORAGE_URL: url, MOORAGE_TOKEN: signed.stdout.trim() };
  const closed = await closedPort();
  for (const [cause, exit, outcome, words] of [
    ["nothing is wrong", 0, await as("repos", "get", "acme/team/app"), /^$/],
    [
      "the server does not accept a value",
      1,
      await as("repos", "create", "acme/team/Bad Name"),
      /INVALID_ARGUMENT: .*name/,
    ],
    ["an unknown flag", 2, await as("repos", "list", "--limt", "3"), /unknown option '--limt'; did you mean --limit\?/],
    ["an unknown command", 2, await as("repo", "lisst"), /unknown command 'lisst'; did you mean .*list/],
    ["an unknown noun", 2, await as("reops"), /unknown command 'reops'; did you mean .*repos/],
    ["a missing argument", 2, await as("repos", "get"), /missing required argument 'repo'/],
    ["a wrong value", 2, await as("repos", "list", "--limit", "none"), /--limit/],
    ["nobody to ask", 2, await as("repos", "delete", "acme/team/app"), /; add --yes$/m],
    ["a name that is not there", 3, await as("repos", "get", "acme/team/ap"), /did you mean acme\/team\/app\?/],
    ["a uid that is not there", 3, await as("repos", "get", "f".repeat(40)), /NOT_FOUND: /],
    ["no sign-in", 4, await anybody(["repos", "list", "--url", closed]), /not signed in to .*: moorage login --url /],
    [
      "a token that is not good",
      4,
      await anybody(["repos", "list"], { ...env, MOORAGE_TOKEN: "x" }),
      /; sign in with: moorage login --url /,
    ],
    [
      "no right",
      5,
      await anybody(["repos", "update", "acme/team/app", "--description", "x"], other),
      /PERMISSION_DENIED: /,
    ],
    ["what is there already", 6, await as("groups", "create", "acme/team"), /ALREADY_EXISTS: /],
    [
      "a condition that is not met",
      6,
      await as("groups", "delete", "acme/team", "--yes"),
      /FAILED_PRECONDITION: .*repos: 1/,
    ],
    [
      "no server",
      7,
      await anybody(["repos", "list", "--url", closed], env),
      /UNAVAILABLE: cannot reach .*nothing listens there/,
    ],
    ["no server for gRPC", 7, await anybody(["call", "PingService/Ping", "--url", closed], env), /UNAVAILABLE: /],
  ] as const) {
    assert.equal(outcome.code, exit, `${cause}: ${outcome.stderr}`);
    if (exit !== 0) {
      assert.equal(outcome.stdout, "", cause);
      assert.match(outcome.stderr, /^moorage: [^\n]+\n$/, cause);
    }
    assert.match(outcome.stderr, words, cause);
  }
  assert.equal((await moorage(["whoami"], { env: { XDG_CONFIG_HOME: join(folder, "none") } })).code, 4);
});

/** A URL at which nothing listens. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

/** A server that answers as the function does. It stands in for broken and older servers. */
async function answering(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("an interrupted command ends with 130, a terminated one with 143, and what is under way is aborted", async (t) => {
  for (const [signal, exit] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    // It never answers.
    const url = await answering(t, (request) => {
      request.socket.on("close", () => leave());
      ask();
    });
    const env = environment({ MOORAGE_URL: url, MOORAGE_TOKEN: "x" });
    const child = spawn(process.execPath, [LAUNCHER, "repos", "list"], { env, stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    const ended = once(child, "close");
    await asked;
    child.kill(signal);
    assert.deepEqual([(await ended)[0], stderr], [exit, "moorage: interrupted\n"]);
    await left;
  }
});

test("a server that does not answer in time is unavailable, and one that is busy is asked again", async (t) => {
  const silent = await answering(t, () => {});
  const late = await moorage(["repos", "list", "--timeout", "200ms"], {
    env: { MOORAGE_URL: silent, MOORAGE_TOKEN: "x" },
  });
  assert.deepEqual([late.code, late.stdout], [7, ""]);
  assert.match(late.stderr, /^moorage: \S+ did not answer within 0\.2 s \(--timeout\)\n$/);

  let times = 0;
  const busy = await answering(t, (_, response) => {
    times += 1;
    response.writeHead(times < 3 ? 503 : 200, { "content-type": "application/json" });
    response.end(
      times < 3 ? '{"code": 14, "message": "Unavailable: busy", "details": []}' : '{"repos": [], "nextPageToken": ""}',
    );
  });
  const env = { MOORAGE_URL: busy, MOORAGE_TOKEN: "x" };
  const again = await moorage(["repos", "list", "-o", "json"], { env });
  assert.deepEqual([again.code, again.stderr, times], [0, "", 3]);
  // A write is not repeated: it may have been done.
  times = 0;
  const write = await moorage(["groups", "create", "acme"], { env });
  assert.deepEqual([write.code, times], [7, 1], write.stderr);
});

test("an older server is said not to know a method", async (t) => {
  const url = await answering(t, (_, response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(
      '{"code": 5, "message": "Not found: there is nothing at this path", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "NOT_FOUND"}]}',
    );
  });
  const { code, stderr } = await moorage(["operations", "jobs"], { env: { MOORAGE_URL: url, MOORAGE_TOKEN: "x" } });
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `moorage: UNIMPLEMENTED: ${url} does not know /operations/v2/jobs; the server may be of an older version than this command\n`,
  );
  const stranger = await answering(t, (_, response) =>
    response.writeHead(302, { location: "https://login.example/" }).end(),
  );
  const page = await moorage(["ping"], { env: { MOORAGE_URL: stranger, MOORAGE_TOKEN: "x" } });
  assert.equal(page.code, 1);
  assert.match(
    page.stderr,
    /answered with the status 302 and the address https:\/\/login\.example\/, which is no answer of Moorage's\n$/,
  );
});

test("--debug shows requests and responses on standard error, and nothing secret", async (t) => {
  const { as, env, done } = await openQuick(t);
  const shown = await as("repos", "list", "--debug");
  assert.equal(shown.code, 0);
  assert.match(shown.stderr, /^debug: GET \S+\/registry\/v2\/repos\?pageSize=200\n/m);
  assert.match(shown.stderr, /^debug: GET \S+: 200, \d+ ms, request [0-9a-f-]{36}\n/m);
  assert.ok(!shown.stderr.includes(env.MOORAGE_TOKEN));
  const made = await as(
    "providers",
    "create",
    "acme/people",
    "--oidc-issuer",
    "https://login.example",
    "--oidc-client-id",
    "id",
    "--oidc-client-secret",
    "confidential",
    "--debug",
  );
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stderr, /"clientSecret":"\*\*\*"/);
  assert.ok(!made.stderr.includes("confidential"));
  const invite = await as("invites", "create", "acme", "--role-uid", "viewer", "--ttl", "1h", "--debug", "-o", "json");
  const { code } = JSON.parse(invite.stdout) as { code: string };
  assert.ok(code.length > 10 && !invite.stderr.includes(code), invite.stderr);
  // Before the command's name as well.
  const before = await as("--debug", "repos", "list");
  assert.match(before.stderr, /^debug: GET /m);
  assert.match(await done("--timeout", "10s", "ping", "-o", "jsonpath={.response}"), /pong/);
  const none = await as("--context", "x", "serve");
  assert.deepEqual([none.code, none.stderr], [2, "moorage: --context: this command does not take it\n"]);
  const grpc = await as("call", "PingService/Ping", "--debug");
  assert.match(grpc.stderr, /^debug: gRPC \S+ .*Ping.*: OK/m);
});

test("a reader that has enough ends a command quietly", async () => {
  const command = `"${process.execPath}" "${LAUNCHER}" help repos create | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const { code, stdout, stderr } = await run("bash", ["-c", command]);
  assert.deepEqual([code, stderr, stdout], [0, "", "Usage: moorage repos create [options] <name>\n0\n"]);
});
