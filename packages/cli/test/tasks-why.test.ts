import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStage } from "./tasks-stage.ts";

test("why says what decides, and the command that changes it", { timeout: 300_000 }, async (t) => {
  const { folder, run, ok, fails, push, api } = await openStage(t);
  await push("acme/team/app:1.0", 1);
  const org = (await api<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=acme")).groups[0]?.uid ?? "";
  const { uid: robot } = await api("POST", `/iam/v2/identities/${org}`, {
    name: "robot",
    claimMatch: { issuer: "https://ci.example", subject: "job" },
  });
  const denied = await run(["why", "acme/robot", "push", "acme/team/app:1.1"]);
  assert.deepEqual(
    [denied.code, denied.stderr, denied.stdout],
    [
      5,
      "",
      `denied: acme/robot may not push acme/team/app:1.1
identity acme/robot lacks CAP_MANIFEST_CREATE for acme/team/app: no role binding on a group of that path gives it

✓ the identity exists and can be assumed
✗ CAP_MANIFEST_CREATE is held by no binding there
✗ CAP_TAG_CREATE is held by no binding there

What would change it
- bind a role with CAP_MANIFEST_CREATE and CAP_TAG_CREATE on group team to this identity
  moorage bindings create acme/team --identity-uid acme/robot --role-uid registry.push
`,
    ],
  );
  // What it says does it.
  const [, command = ""] = /\n {2}moorage (.*)\n$/.exec(denied.stdout) ?? [];
  await ok(...command.split(" "));
  const allowed = await run(["why", robot, "push", "acme/team/app:1.1"]);
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.equal(allowed.stdout.split("\n")[0], `allowed: ${robot} may push acme/team/app:1.1`);
  assert.match(
    allowed.stdout,
    /\n✓ the binding of role registry\.push on group team gives CAP_MANIFEST_CREATE and CAP_TAG_CREATE\n/,
  );
  const json = await run(["why", "robot", "pull", "acme/team/app:1.0", "-o", "json"]);
  assert.equal((JSON.parse(json.stdout) as { allowed: boolean }).allowed, true);

  // Methods, as they are called or as commands; and a narrowed token.
  const first = async (...args: string[]): Promise<[number, string]> => {
    const { code, stdout, stderr } = await run(["why", ...args]);
    return [code, stdout.split("\n")[0] || stderr];
  };
  assert.deepEqual(await first("robot", "ReposService/DeleteRepo", "acme/team/app"), [
    5,
    "denied: robot may not ReposService/DeleteRepo acme/team/app",
  ]);
  assert.deepEqual(await first("robot", "repos.get", "acme/team/app"), [
    0,
    "allowed: robot may repos.get acme/team/app",
  ]);
  assert.deepEqual(await first("robot", "pull", "acme/team/app:1.0", "--capability", "repo.list"), [
    5,
    "denied: robot may not pull acme/team/app:1.0",
  ]);
  assert.deepEqual(await first("me", "delete", "acme/team/app:1.0"), [0, "allowed: you may delete acme/team/app:1.0"]);
  assert.deepEqual(await first("--anonymous", "pull", "acme/team/app:1.0"), [
    5,
    "denied: whoever has no token may not pull acme/team/app:1.0",
  ]);
  const claims = join(folder, "claims.json");
  writeFileSync(claims, JSON.stringify({ iss: "https://ci.example", sub: "job", branch: "main" }));
  assert.deepEqual(await first("push", "acme/team/app:1.1", "--token-claims", claims), [
    0,
    "allowed: a token of https://ci.example for job may push acme/team/app:1.1",
  ]);
  writeFileSync(claims, JSON.stringify({ iss: "https://ci.example", sub: "other" }));
  assert.equal((await first("push", "acme/team/app:1.1", "--token-claims", claims))[0], 5);
  writeFileSync(claims, "nonsense");
  assert.deepEqual(await fails("why", "push", "acme/app", "--token-claims", claims), [
    2,
    `moorage: --token-claims: ${claims} is neither a JSON object nor a token`,
  ]);
  assert.deepEqual(await fails("why", "robot", "pul", "acme/team/app"), [
    2,
    "moorage: there is no verb pul; did you mean pull?",
  ]);
  assert.deepEqual(await fails("why", "robot", "pull"), [
    2,
    "moorage: name the image: moorage why robot pull acme/app:1.2",
  ]);

  // Who may not list bindings asks about itself alone.
  const token = (await ok("token", "--identity", robot)).trim();
  assert.equal((await run(["why", "me", "pull", "acme/team/app:1.0"], { MOORAGE_TOKEN: token })).code, 0);
  const { uid: other } = await api("POST", `/iam/v2/identities/${org}`, { name: "other" });
  const refused = await run(["why", other, "pull", "acme/team/app:1.0"], { MOORAGE_TOKEN: token });
  assert.ok([3, 5].includes(refused.code), refused.stderr);
  assert.match(refused.stderr, /^moorage: (?:NOT_FOUND|PERMISSION_DENIED): .*\n$/);
});

test("names lead to what they name, also for who sees a part of the groups alone", { timeout: 300_000 }, async (t) => {
  const { run, ok, fails, push, api } = await openStage(t);
  await push("acme/team/app:1.0", 1);
  await push("acme/other/app:1.0", 1);
  const org = (await api<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=acme")).groups[0]?.uid ?? "";
  const team = (await api<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=team")).groups[0]?.uid ?? "";
  const { uid: one } = await api("POST", `/iam/v2/identities/${org}`, { name: "ci" });
  const { uid: two } = await api("POST", `/iam/v2/identities/${team}`, { name: "ci" });
  await api("POST", `/iam/v2/roles/${org}`, { name: "deployer", capabilities: ["tag.update"] });

  const [code, line] = await fails("identities", "get", "ci");
  assert.equal(code, 1);
  assert.match(line, /^moorage: several have the name ci: .*; name the identity by its uid$/);
  for (const part of [`${one} (acme/ci)`, `${two} (acme/team/ci)`]) assert.ok(line.includes(part), line);
  assert.equal(await ok("identities", "get", "acme/team/ci", "-o", "id"), `${two}\n`);
  assert.deepEqual(await fails("roles", "get", "acme/deployr"), [
    3,
    "moorage: there is no role acme/deployr that you may see; did you mean acme/deployer?",
  ]);
  assert.equal(await ok("roles", "get", "viewer", "-o", "name"), "viewer\n");
  await ok("bindings", "create", "acme/team", "--identity-uid", two, "--role-uid", "viewer");
  const binding = (await ok("bindings", "list", "acme/team", "-o", "name")).trim();
  assert.equal(binding, "acme/team:ci:viewer");
  assert.match(await ok("bindings", "get", binding), /viewer/);
  assert.deepEqual(await fails("groups", "get", "acne/team"), [
    3,
    "moorage: there is no group acne that you may see, of acne/team; did you mean acme?",
  ]);
  assert.match((await fails("repos", "get", "app"))[1], /^moorage: several have the name app: .*acme\/other\/app/);

  // Whoever is in the team alone sees nothing of acme, and reaches its images by their whole names as clients do.
  const MOORAGE_TOKEN = (await ok("token", "--identity", two)).trim();
  const asTeam = async (...args: string[]): Promise<string> => {
    const { code: exit, stdout, stderr } = await run(args, { MOORAGE_TOKEN });
    assert.equal(exit, 0, stderr);
    return stdout;
  };
  for (const name of ["acme/team/app:1.0", "team/app:1.0"])
    assert.match(await asTeam("tags", "history", name), /\npush|push /, name);
  assert.match(await asTeam("repos", "get", "acme/team/app", "-o", "id"), new RegExp(`^${team}/`));
  assert.equal(await asTeam("groups", "get", "acme/team", "-o", "id"), `${team}\n`);
  const hidden = await run(["tags", "history", "acme/other/app:1.0"], { MOORAGE_TOKEN });
  assert.equal(hidden.code, 3, hidden.stdout);
});
