import assert from "node:assert/strict";
import { test } from "node:test";
import { LAUNCHER, moorage, run, startServing, temporaryFolder, terminate } from "./commands.ts";
import { eventually } from "../../server/test/support/eventually.ts";

// What `moorage serve` prints beside its log, and `moorage hints`.

const NODE = process.execPath;
const HINT = /npx moorage token/;
const LINK = /^(Sign in: )http:\S+\/sign-in\/link#([\w-]{43})$/m;
const PUSH = /^Push: npx (moorage sample --push \S+)\s*$/m;

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

test("on a terminal of 80 columns, a first start ends with two lines, and a later one prints none", async (t) => {
  if ((await run("script", ["--version"])).code !== 0) return t.skip("not on this machine: script");
  const cwd = temporaryFolder(t);
  const command = `stty cols 80 rows 24; exec '${NODE}' '${LAUNCHER}' serve --port 0`;
  const starts: string[] = [];
  const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
  const signIn = (url: string, link: string | undefined) =>
    fetch(`${url}/session`, { method: "POST", headers, body: JSON.stringify({ link }) });
  for (let count = 0; count < 2; count += 1) {
    const server = await startServing(t, "script", ["-qefc", command, "/dev/null"], { cwd });
    if (count === 0) await eventually(() => PUSH.test(server.output()));
    const atStart = server.output();
    await fetch(`${server.url}/registry/v2/repos`);
    await eventually(() => server.output().includes("/registry/v2/repos"));
    starts.push(server.output());
    if (count === 0) {
      const lines = atStart.trimEnd().split(/\r?\n/);
      const [, , link] = LINK.exec(lines.at(-2) ?? "") ?? [];
      assert.match(lines.at(-1) ?? "", PUSH);
      assert.ok((lines.at(-1) ?? "").length <= 80, lines.at(-1) ?? "");
      for (const line of lines.slice(0, -2)) assert.match(line, /^\S*\d{4}-\d\d-\d\dT\S+ \S*(?:INFO|WARN)\b/, "text");
      const answer = await signIn(server.url, link);
      assert.equal(answer.status, 200, server.output());
      const [, pushing = ""] = PUSH.exec(lines.at(-1) ?? "") ?? [];
      const pushed = await moorage(pushing.split(" ").slice(1), { cwd });
      assert.equal(pushed.code, 0, pushed.stderr);
      const another = await moorage(["sign-in-link"], { cwd });
      assert.equal(another.code, 0, another.stderr);
      assert.match(another.stdout, /^http:\S+\/sign-in\/link#[\w-]{43}\n$/);
      assert.equal((await signIn(server.url, another.stdout.trim().split("#")[1])).status, 200);
    }
    await terminate(server);
  }
  for (const words of [LINK, PUSH]) assert.doesNotMatch(starts[1] ?? "", words);
  const unreachable = await moorage(["sign-in-link"], { cwd });
  assert.equal(unreachable.code, 7);
  assert.match(unreachable.stderr, /^moorage: cannot reach http:[^\n]+\n$/);
});
