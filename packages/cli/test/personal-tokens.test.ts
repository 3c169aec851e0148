import assert from "node:assert/strict";
import { test } from "node:test";
import { moorage, type Outcome, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

test("personal tokens by the command: made, used as MOORAGE_TOKEN, listed, revoked", async (t) => {
  const cwd = temporaryFolder(t);
  const { url } = await serveHere(t, cwd);
  const tokens = (...args: string[]): Promise<Outcome> => moorage(["personal-tokens", ...args], { cwd });
  const make = async (...args: string[]): Promise<{ uid: string; token: string; registry: string }> => {
    const { code, stdout, stderr } = await tokens("create", "--json", ...args);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as { uid: string; token: string; registry: string };
  };
  const made = await make("--name", "laptop", "--may", "read", "--group", "acme");
  assert.equal(made.registry, new URL(url).host);
  const { stdout: line, stderr: said } = await tokens("create", "--name", "laptop", "--may", "all");
  assert.match(line, /^printf %s 'mrg_pat_[A-Za-z0-9]{40}' \| docker login \S+ --username any --password-stdin\n$/);
  assert.match(said, /^personal token laptop, good until .*; it is shown this once\n$/);

  const as = (token: string, ...args: string[]): Promise<Outcome> =>
    moorage([...args, "--url", url], { cwd: temporaryFolder(t), env: { MOORAGE_TOKEN: token } });
  const who = await as(made.token, "whoami");
  assert.match(who.stdout, new RegExp(`identity: [0-9a-f]{40}\npersonal token: ends with ${made.token.slice(-4)}\n$`));
  const groups = await as(made.token, "groups", "list", "-o", "name");
  assert.equal(groups.stdout, "acme\n", "narrowed to the group");
  assert.match((await as(made.token, "why", "me", "pull", "acme/app")).stdout, /^denied: you may not pull acme\/app\n/);
  const traded = await as(made.token, "token", "--audience", "registry");
  assert.match(traded.stdout, /^ey/);
  const other = await as(made.token, "personal-tokens", "create", "--name", "x");
  assert.deepEqual([other.code, other.stderr.includes("a personal token makes no other")], [5, true], other.stderr);
  const wrong = await as(`mrg_pat_${"x".repeat(40)}`, "whoami");
  assert.deepEqual([wrong.code, wrong.stderr.includes("the token was not accepted")], [4, true], wrong.stderr);

  const { stdout: table } = await tokens("list");
  assert.deepEqual(
    table.split("\n").map((row) => row.slice(0, 80).split(/ {2,}/).slice(0, 4).join("|")),
    [
      "NAME|ENDS WITH|MAY|WHERE",
      `laptop|${line.slice(line.indexOf("mrg_pat_") + 44, line.indexOf("mrg_pat_") + 48)}|all|everywhere`,
      `laptop|${made.token.slice(-4)}|read|acme`,
      "",
    ],
  );
  const several = await tokens("revoke", "laptop");
  assert.match(
    several.stderr,
    /several of your personal tokens are called laptop: name one by its last four characters/,
  );
  assert.match((await tokens("revoke", "nothing")).stderr, /you have no personal token nothing/);
  const revoked = await tokens("revoke", made.token.slice(-4));
  assert.equal(revoked.stdout, "personal token laptop is revoked\n");
  assert.equal((await as(made.token, "groups", "list")).code, 4);
  for (const [flags, words] of [
    [["--ttl", "366d"], "must be at most 365d"],
    [["--ttl", "soon"], "must be a duration"],
    [["--may", "everything"], "Allowed choices are pull, push, read, all"],
    [["--group", "nowhere"], "nowhere"],
  ] as const)
    assert.ok((await tokens("create", "--name", "x", ...flags)).stderr.includes(words), words);
});
