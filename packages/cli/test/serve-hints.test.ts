import assert from "node:assert/strict";
import { test } from "node:test";
import { LAUNCHER, moorage, run, startServing, temporaryFolder, terminate } from "./commands.ts";

// What `moorage serve` prints beside its log, and `moorage hints`.

const NODE = process.execPath;
const HINT = /npx moorage token/;

test("piped, serve prints lines of JSON alone, and `moorage hints` prints what to try next on that server", async (t) => {
  const cwd = temporaryFolder(t);
  const server = await startServing(t, NODE, [LAUNCHER, "serve", "--port", "0"], { cwd });
  await fetch(`${server.url}/healthz`);
  const hints = await moorage(["hints"], { cwd });
  assert.equal(hints.code, 0, hints.stderr);
  assert.match(hints.stdout, HINT);
  assert.ok(hints.stdout.includes(`Moorage answers at ${server.url}.`), hints.stdout);
  assert.equal(await terminate(server), 0);
  const lines = server.output().trimEnd().split("\n");
  for (const line of lines) assert.equal(typeof (JSON.parse(line) as { msg: unknown }).msg, "string", line);

  const elsewhere = await moorage(["hints", "--data-dir", "missing"], { cwd });
  assert.deepEqual([elsewhere.code, elsewhere.stdout], [1, ""]);
  assert.match(elsewhere.stderr, /^moorage: there is no data folder \S+missing: start the server once[^\n]*\n$/);
});

test("on a terminal, the first start prints what to try next, and a later one does not", async (t) => {
  if ((await run("script", ["--version"])).code !== 0) return t.skip("not on this machine: script");
  const cwd = temporaryFolder(t);
  const command = `'${NODE}' '${LAUNCHER}' serve --port 0`;
  const starts: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const server = await startServing(t, "script", ["-qefc", command, "/dev/null"], { cwd });
    // The hints follow the line by which the server is known to listen; the answer to a request is logged after them.
    await fetch(`${server.url}/registry/v2/repos`);
    while (!server.output().includes("/registry/v2/repos")) await new Promise((resolve) => setTimeout(resolve, 20));
    starts.push(server.output());
    await terminate(server);
  }
  assert.match(starts[0] ?? "", HINT);
  assert.doesNotMatch(starts[1] ?? "", HINT);
});
