import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { environment, LAUNCHER, moorage, run, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

// `moorage call`: streams, what its help names, and what it says to a name that is not there.

test("a method that streams prints each message as a line of JSON as it comes, until it is interrupted", async (t) => {
  const cwd = temporaryFolder(t);
  const { url } = await serveHere(t, cwd);
  const { organization } = JSON.parse(readFileSync(join(cwd, "data", "bootstrap.json"), "utf8")) as {
    organization: { uid: string };
  };
  const request = JSON.stringify({ group: organization.uid, typePrefixes: ["dev.moorage.registry.push"] });
  const watching = spawn(process.execPath, [LAUNCHER, "call", "EventsService/WatchEvents", request], {
    cwd,
    env: environment({}),
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => watching.kill("SIGKILL"));
  const ended = once(watching, "exit");
  let stderr = "";
  watching.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const pushed = moorage(["sample", "--push", `${url}/acme/hello:v1`], { cwd });
  let found = "";
  for await (const line of createInterface({ input: watching.stdout })) {
    const { event, cursor } = JSON.parse(line) as { event?: { type: string }; cursor: string };
    assert.equal(typeof cursor, "string");
    found = event?.type ?? "";
    if (found !== "") break;
  }
  assert.equal(found, "dev.moorage.registry.push.v1", stderr);
  assert.equal((await pushed).code, 0);
  watching.kill("SIGINT");
  assert.deepEqual([await ended, stderr], [[130, null], "moorage: interrupted\n"]);

  // A reader that has enough ends it too.
  const command = `"${process.execPath}" "${LAUNCHER}" call EventsService/WatchEvents '${request}' | head -n 1`;
  const first = await run("bash", ["-o", "pipefail", "-c", command], { cwd });
  assert.deepEqual([first.code, first.stderr, first.stdout.trimEnd().split("\n").length], [0, "", 1]);

  const hidden = await moorage(
    ["call", "EventsService/WatchEvents", '{"group": "0000000000000000000000000000000000000000"}'],
    {
      cwd,
    },
  );
  assert.deepEqual([hidden.code, hidden.stdout], [3, ""]);
  assert.match(hidden.stderr, /^moorage: NOT_FOUND: [^\n]+\n$/);
});

test("a wrong name is answered with the names that are near", async () => {
  for (const [args, words] of [
    [["RepoService/ListRepos"], /no such method; did you mean ReposService\/ListRepos\?/],
    [["ReposService/ListRepo"], /no such method; did you mean ReposService\/ListRepos\?/],
    [["listrepos"], /no such method; did you mean ReposService\/ListRepos\?/],
    [["ListRepos"], /no such method; did you mean ReposService\/ListRepos\?/],
    [["moorage.registry.v2.ReposService/GetRep"], /did you mean moorage\.registry\.v2\.ReposService\/GetRepo\?/],
    [["ReposService/Xylophone"], /no such method; ReposService has .*GetRepo, .*ListRepos/],
    [["Xylophone"], /no such method; there are the services .*ReposService/],
    [["ReposService/ListRepos", '{"naem": "x"}'], /"naem" is unknown; did you mean name\?/],
    [
      ["ReposService/ListRepos", '{"uidp": {"descendantOf": "x"}}'],
      /"descendantOf" is unknown; did you mean descendantsOf\?/,
    ],
    [["ReposService/ListRepos", '{"xylophone": 1}'], /"xylophone" is unknown; ListReposRequest has .*name/],
  ] as [string[], RegExp][]) {
    const { code, stdout, stderr } = await moorage(["call", ...args], {
      env: { MOORAGE_TOKEN: "unused", MOORAGE_URL: "http://127.0.0.1:1" },
    });
    assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").length], [2, "", 1], stderr);
    assert.match(stderr, words);
  }
  const { stderr } = await moorage(["pul-token"]);
  assert.match(stderr, /did you mean pull-token\?/);
});

test("the help of call names the variables that it reads", async () => {
  const { stdout } = await moorage(["call", "--help"]);
  for (const name of ["MOORAGE_TOKEN", "MOORAGE_URL", "MOORAGE_DATA_DIR"]) assert.ok(stdout.includes(name), stdout);
});
