// A server of an older version: a real one behind a proxy, which asks it for paths and parameters that no version has
// where newer ones are asked for, and takes newer fields from its responses.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { moorage, temporaryFolder, type Outcome } from "./commands.ts";
import { serveHere } from "./server-here.ts";

const NEWER_PATHS = /^\/(?:iam\/v2\/access:explain|registry\/v2\/search|registry\/v2\/repos\/[^?]*\/moves)/;

/** What an older server makes of a request's path. */
function asOlder(path: string): string {
  const known = NEWER_PATHS.test(path) ? path.replace(/^\/[^?]*/, "/registry/v2/notThereYet") : path;
  return known.replace("validateOnly=", "notThereYet=");
}

async function olderServer(t: TestContext, url: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const target = new URL(asOlder(incoming.url ?? "/"), url);
    const headers = { ...incoming.headers, "accept-encoding": "identity" };
    const forwarded = request(target, { method: incoming.method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => {
        const whole = Buffer.concat(parts).toString();
        const body = answer.statusCode === 200 ? whole.replaceAll(/"description": ?"[^"]*",?/g, "") : whole;
        const { "content-length": _, etag: __, ...kept } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, kept).end(body);
      });
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

test("commands say clearly what a server of an older version does not know, and go on where they can", async (t) => {
  const cwd = temporaryFolder(t);
  const server = await serveHere(t, cwd);
  const MOORAGE_TOKEN = (await moorage(["token"], { cwd })).stdout.trim();
  const older = await olderServer(t, server.url);
  const env = { MOORAGE_TOKEN, MOORAGE_URL: older, XDG_CONFIG_HOME: cwd };
  const as = (...args: string[]): Promise<Outcome> => moorage(args, { cwd, env });

  // What both have works, without the field that is not there.
  const made = await as("repos", "create", "acme/app", "--description", "ours", "-o", "name");
  assert.deepEqual(made, { code: 0, stdout: "acme/app\n", stderr: "" });
  const listed = await as("repos", "list", "acme");
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /^acme\/app +\d{4}-/m);

  // A method that is not there is named, with what may be the reason.
  const why = await as("access", "explain", "--anonymous", "--action", "pull", "--resource", "acme/app:1");
  assert.equal(why.stdout, "");
  assert.equal(
    why.stderr,
    `moorage: UNIMPLEMENTED: ${older} does not know /iam/v2/access:explain; the server may be of an older version than this command\n`,
  );
  assert.equal(why.code, 1);
  const searched = await as("search", "app");
  assert.match(searched.stderr, /does not know \/registry\/v2\/search; the server may be of an older version/);
  const history = await as("tags", "history", "acme/app:1");
  assert.notEqual(history.code, 0);

  // A dry run that the server does not know changes nothing, and does not pretend to.
  const dry = await as("repos", "create", "acme/never", "--dry-run");
  assert.equal(dry.code, 1);
  assert.match(dry.stderr, /^moorage: INVALID_ARGUMENT: .*notThereYet/);
  assert.equal((await as("repos", "get", "acme/never")).code, 3);
});
