// `moorage api`: any path of the server, and what its exit code says.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { LAUNCHER, moorage } from "./commands.ts";
import { openQuick } from "./quick.ts";
import { noTerminal, onTerminal } from "./terminal.ts";

test("a path of the API is answered as it comes, page after page, and filtered", async (t) => {
  const { done, url, env, folder, as } = await openQuick(t);
  const file = join(folder, "group.json");
  writeFileSync(file, '{"name": "beta", "description": "of a file"}');
  const made = JSON.parse(await done("api", "POST", "/iam/v2/groups", "-f", file)) as {
    name: string;
    description: string;
  };
  assert.deepEqual([made.name, made.description], ["beta", "of a file"]);
  // A body alone says POST.
  writeFileSync(file, '{"name": "gamma"}');
  assert.equal((JSON.parse(await done("api", "/iam/v2/groups", "-f", file)) as { name: string }).name, "gamma");

  const headers = { authorization: `Bearer ${env.MOORAGE_TOKEN}` };
  const expected = await (await fetch(`${url}/iam/v2/groups?name=beta`, { headers })).text();
  assert.equal(await done("api", "/iam/v2/groups", "-q", "name=beta"), `${expected}\n`);
  assert.equal(await done("api", "get", "/iam/v2/groups?name=beta"), `${expected}\n`);
  const pages = (await done("api", "/iam/v2/groups", "-q", "pageSize=1", "--paginate")).trimEnd().split("\n");
  assert.equal(pages.length, 4);
  assert.deepEqual(
    pages.flatMap((page) => (JSON.parse(page) as { groups: { name: string }[] }).groups.map(({ name }) => name)),
    ["acme", "beta", "gamma", "public"],
  );
  assert.equal(
    await done("api", "/iam/v2/groups", "--paginate", "-q", "pageSize=2", "--jq", ".groups[].name"),
    "acme\nbeta\ngamma\npublic\n",
  );
  const text = await as("api", "/metrics", "-H", "accept: text/plain", "-i");
  assert.match(text.stdout, /^\d{3} /);
});

test("the registry is below /v2/, with a token for it", async (t) => {
  const { done, ok, host } = await openQuick(t);
  await ok("sample", "--push", `http://${host}/acme/app:1`);
  assert.deepEqual(JSON.parse(await done("api", "/v2/acme/app/tags/list")), { name: "acme/app", tags: ["1"] });
  const head = await done(
    "api",
    "HEAD",
    "/v2/acme/app/manifests/1",
    "-i",
    "-H",
    "accept: application/vnd.oci.image.index.v1+json",
  );
  assert.match(head, /^200 OK\n(?:.*\n)*docker-content-digest: sha256:[0-9a-f]{64}\n/);
});

test("the exit code is that of the response's error, whose body is printed", async (t) => {
  const { as } = await openQuick(t);
  for (const [args, exit, words] of [
    [["/nope"], 1, /UNIMPLEMENTED: \S+ does not know \/nope; the server may be of an older version/],
    [["DELETE", `/iam/v2/groups/${"f".repeat(40)}`], 3, /NOT_FOUND: Group not found/],
    [["/iam/v2/groups", "-q", "foo=1"], 1, /INVALID_ARGUMENT: foo: unknown query parameter/],
    [["/iam/v2/groups", "-H", "authorization: Bearer x"], 4, /UNAUTHENTICATED: /],
  ] as const) {
    const { code, stdout, stderr } = await as("api", ...args);
    assert.equal(code, exit, stderr);
    assert.equal(typeof (JSON.parse(stdout) as { code: unknown }).code, "number");
    assert.match(stderr, words);
  }
  for (const args of [
    ["nope"],
    ["FETCH", "/x"],
    ["/x", "-q", "a"],
    ["/x", "-H", "a b: c"],
    ["https://elsewhere.example/"],
  ]) {
    const { code, stdout, stderr } = await as("api", ...args);
    assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").length], [2, "", 1], stderr);
  }
});

test("nothing is sent when the filter cannot be read", async (t) => {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    setTimeout(() => response.end("{}"), 500);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const env = { MOORAGE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, MOORAGE_TOKEN: "t" };
  const { code, stdout, stderr } = await moorage(["api", "POST", "/iam/v2/groups", "--jq", "nothing_there"], { env });
  assert.deepEqual([code, stdout, asked], [2, "", []]);
  assert.match(stderr, /^moorage: --jq: nothing_there\/0 is not defined.*\n$/);
});

// A title of the window, a control sequence of one character, text that runs backwards, and the end of a line.
const HOSTILE = "\u001b]0;mine\u0007\u009b31m\u202eback\u2028line\u2066";
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

test("no command prints a control of a terminal that comes from a server", async (t) => {
  const { api, done, as } = await openQuick(t);
  const { groups } = await api<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=acme");
  const { uid } = await api("POST", `/registry/v2/repos/${groups[0]?.uid}`, { name: "app", description: HOSTILE });
  for (const args of [
    ["api", `/registry/v2/repos/${uid}`],
    ["call", "ReposService/GetRepo", JSON.stringify({ uid })],
    ["repos", "get", uid, "-o", "json"],
    ["repos", "get", uid, "-o", "yaml"],
    ["repos", "list"],
  ]) {
    const printed = await done(...args);
    assert.doesNotMatch(printed, CONTROLS, args.join(" "));
    if (printed.startsWith("{"))
      assert.equal((JSON.parse(printed) as { description: string }).description, HOSTILE, "the text is whole");
  }
  const { stderr } = await as("--debug", "api", `/registry/v2/repos/${uid}`);
  assert.match(stderr, /description/);
  assert.doesNotMatch(stderr, CONTROLS);
});

test("nor does a terminal get one by api, whatever is asked for", { skip: noTerminal, timeout: 300_000 }, async (t) => {
  const { api, env, folder } = await openQuick(t);
  const { groups } = await api<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=acme");
  const { uid } = await api("POST", `/registry/v2/repos/${groups[0]?.uid}`, { name: "app", description: HOSTILE });
  for (const more of [[], ["-i"], ["--jq", ".description"]]) {
    const args = [LAUNCHER, "api", `/registry/v2/repos/${uid}`, ...more];
    const terminal = await onTerminal(t, args, { cwd: folder, env });
    assert.equal(await terminal.exit(), 0);
    assert.doesNotMatch(terminal.printed().replaceAll("\r\n", "\n"), CONTROLS, more.join(" "));
    assert.match(terminal.printed(), /31m.*back/);
  }
});
