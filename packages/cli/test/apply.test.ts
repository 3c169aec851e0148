import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { documents, isWrite, type Json, openStage, type Stage } from "./apply-stage.ts";
import { moorage, temporaryFolder } from "./commands.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const OTHER = `sha256:${"b".repeat(64)}`;

/** One of every kind. */
const EVERY = `
kind: Group
parent: acme
name: team
description: The team
---
kind: RoleBinding
parent: acme/team
identity: acme/team/ci
role: acme/team/deployer
---
kind: Role
parent: acme/team
name: deployer
capabilities: [CAP_REPO_LIST, tag.create]
---
kind: Identity
parent: acme/team
name: ci
claimMatch: {issuer: https://ci.example.com, subjectPattern: "repo:acme/.*"}
---
kind: Repo
parent: acme/team
name: app
description: The app
readme: |
  # App
  Two lines
aliases: [application]
tagPolicy:
  immutableTags: ["v.*"]
  historyRetention: 30d
  vulnerabilities: {severity: HIGH, on: [PULL], mode: ENFORCE}
---
kind: IdentityProvider
parent: acme
name: okta
oidc:
  issuer: https://login.example.com
  clientId: moorage
  clientSecretFrom: {env: OKTA_SECRET}
  groupsClaim: groups
defaultRole: viewer
---
kind: ExternalGroupRoleMapping
parent: acme/okta
externalGroupId: devs
role: acme/team/deployer
scope: acme/team
---
kind: AccountAssociation
parent: acme/team
name: cloud
amazon: {account: "123456789012"}
services: {serviceBindings: {build: acme/team/ci}}
---
kind: Subscription
parent: acme/team
sink: http://127.0.0.1:9/
subjectPrefixes: [acme/team/app]
---
kind: Upstream
parent: acme/team
ecosystem: JAVASCRIPT
url: http://127.0.0.1:9/npm
passwordFrom: {env: NPM_PASSWORD}
reservedNames: ["@acme/*"]
---
kind: ArtifactPolicy
parent: acme
ecosystem: JAVASCRIPT
mode: PREVIEW
cooldown: 14d
---
kind: Tag
parent: acme/team/app
name: latest
digest: ${DIGEST}
`;
const SECRET = { OKTA_SECRET: "not-for-git", NPM_PASSWORD: "nor-this" };

const writes = (stage: Stage): string[] =>
  stage.sent
    .splice(0)
    .filter(isWrite)
    .map(({ method, url }) => `${method} ${url.replaceAll(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g, "uid")}`);

const named = async (stage: Stage, path: string, field: string, name: string): Promise<Json> => {
  const [found] = await stage.all(`${path}?name=${name}`, field);
  assert.ok(found, `there is ${name}`);
  return found;
};

test("every kind is applied, compared, changed by its fields, and printed for another server", async (t) => {
  const stage = await openStage(t);
  stage.file("every.yaml", EVERY);
  const first = await stage.run(["apply", "-f", "every.yaml"], SECRET);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /^\+ Group acme\/team\n {2}\+ name: team\n {2}\+ description: The team$/m);
  assert.match(
    first.stderr,
    /^\+ RoleBinding acme\/team:acme\/team\/ci:acme\/team\/deployer\n {2}\+ identity: acme\/team\/ci$/m,
  );
  assert.match(first.stderr, /^ {2}secret, shown this once: whsec_\S+$/m);
  assert.doesNotMatch(first.stdout + first.stderr, /not-for-git|nor-this/);
  assert.match(first.stderr, /^12 resources: 12 created$/m);
  writes(stage);

  const again = await stage.run(["apply", "-f", "every.yaml"], SECRET);
  assert.deepEqual([again.code, again.stderr, writes(stage)], [0, "12 resources: no change\n", []]);

  // Somebody else changes what the file does not have, and what it has.
  const repo = await named(stage, "/registry/v2/repos", "repos", "app");
  await stage.ok("PATCH", `/registry/v2/repos/${String(repo["uid"])}?updateMask=bundles,tagPolicy.protectedTags`, {
    bundles: ["kept"],
    tagPolicy: { protectedTags: ["kept"] },
  });
  stage.file(
    "change.yaml",
    EVERY.replace("The app", "An app")
      .replace("Two lines", "Three lines")
      .replace("v.*", "w.*")
      .replace(DIGEST, OTHER)
      .replace("mode: PREVIEW", "mode: ENFORCE")
      .replace("groupsClaim: groups", "groupsClaim: teams")
      .replace("role: acme/team/deployer\nscope", "role: viewer\nscope"),
  );
  const dry = await stage.run(["apply", "-f", "change.yaml", "--dry-run", "--exit-code", "-o", "name"], SECRET);
  assert.equal(dry.code, 8, dry.stderr);
  assert.deepEqual(writes(stage), []);
  const changed = await stage.run(["apply", "-f", "change.yaml"], { ...SECRET, FORCE_COLOR: "1" });
  assert.equal(changed.code, 0, changed.stderr);
  assert.equal(
    stripVTControlCharacters(changed.stderr),
    `~ Repo acme/team/app
  - description: The app
  + description: An app
  - readme: "# App\\nTwo lines\\n"
  + readme: "# App\\nThree lines\\n"
  - tagPolicy.immutableTags: ["v.*"]
  + tagPolicy.immutableTags: ["w.*"]
~ IdentityProvider acme/okta
  - oidc.groupsClaim: groups
  + oidc.groupsClaim: teams
~ ExternalGroupRoleMapping acme/okta:devs:acme/team
  - role: acme/team/deployer
  + role: viewer
~ ArtifactPolicy acme:ECOSYSTEM_JAVASCRIPT
  - mode: POLICY_MODE_PREVIEW
  + mode: POLICY_MODE_ENFORCE
~ Tag acme/team/app:latest
  - digest: ${DIGEST}
  + digest: ${OTHER}
12 resources: 5 updated, 7 unchanged
`,
  );
  assert.ok(changed.stderr.includes("\x1b[32m"), "in colors where they are asked for");
  assert.deepEqual(writes(stage).toSorted(), [
    "PATCH /iam/v2/externalGroupRoleMappings/uid?updateMask=roleUid",
    "PATCH /iam/v2/identityProviders/uid?updateMask=oidc.groupsClaim",
    "PATCH /libraries/v2/artifactPolicies/uid?updateMask=mode",
    "PATCH /registry/v2/repos/uid?updateMask=description%2Creadme%2CtagPolicy.immutableTags",
    "POST /registry/v2/tags/uid",
  ]);
  const { bundles, tagPolicy } = await named(stage, "/registry/v2/repos", "repos", "app");
  assert.deepEqual([bundles, (tagPolicy as Json)["protectedTags"]], [["kept"], ["kept"]]);
  const secrets = await stage.run(["apply", "-f", "change.yaml", "--secrets"], SECRET);
  assert.equal(secrets.code, 0, secrets.stderr);
  assert.deepEqual(writes(stage).toSorted(), [
    "PATCH /iam/v2/identityProviders/uid?updateMask=oidc.clientSecret",
    "PATCH /libraries/v2/upstreams/uid?updateMask=password",
  ]);

  const printed = await stage.run(["apply", "--print", "acme", "--tags"]);
  assert.equal(printed.code, 0, printed.stderr);
  stage.file("printed.yaml", printed.stdout);
  const same = await stage.run(["apply", "-f", "printed.yaml"]);
  assert.deepEqual([same.code, same.stderr], [0, "13 resources: no change\n"], printed.stdout);
  const other = await openStage(t);
  other.file("printed.yaml", printed.stdout);
  const there = await other.run(["apply", "-f", "printed.yaml"]);
  assert.equal(there.code, 0, there.stderr);
  assert.match(there.stderr, /^13 resources: 12 created, 1 unchanged$/m);
  const twice = await other.run(["apply", "-f", "printed.yaml"]);
  assert.deepEqual([twice.code, twice.stderr], [0, "13 resources: no change\n"]);
  assert.equal((await other.run(["apply", "--print", "acme", "--tags"])).stdout, printed.stdout);
});

test("what is wrong in files is said with file, line and column, and nothing is asked of a server", async (t: TestContext) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "all"));
  writeFileSync(
    join(folder, "all", "a.yaml"),
    `kind: Grop
parent: acme
name: x
---
parent: acme
nam: y
kind: Group
name: yyy
---
kind: Repo
parent: acme
name: z
uid: short
createTime: "2026-01-01T00:00:00Z"
description: 7
tagPolicy: {retention: [{keepLst: 3}], vulnerabilities: {mode: ENFORC, on: [PULL]}, historyRetention: soon}
---
kind: Role
parent: acme
capabilities: repo.list
---
kind: IdentityProvider
parent: acme
name: p
oidc: {issuer: https://a.example, clientId: b, clientSecretFrom: {env: NOT_THERE}}
---
kind: Repo
name: lonely
`,
  );
  writeFileSync(
    join(folder, "all", "b.json"),
    '{"kind": "Group", "name": "one"}\n---\n{"kind": "Group", "name": "one"}\n',
  );
  writeFileSync(join(folder, "all", "c.yml"), "kind: Group\n  name: [\n");
  const { code, stderr, stdout } = await moorage(["apply", "-f", "all"], { cwd: folder });
  assert.deepEqual([code, stdout], [1, ""]);
  const lines = stderr.split("\n").map((line) => line.replaceAll("\\", "/"));
  for (const expected of [
    "all/a.yaml:1:7: unknown kind Grop; did you mean Group?",
    "all/a.yaml:6:1: unknown field nam; did you mean name?",
    "all/a.yaml:13:6: is no uid",
    "all/a.yaml:14:1: createTime is set by the server; leave it out",
    "all/a.yaml:15:14: description must be a text: put it in quotes",
    "all/a.yaml:16:26: unknown field keepLst; did you mean keepLast?",
    "all/a.yaml:16:64: unknown value ENFORC; did you mean ENFORCE?",
    "all/a.yaml:16:103: historyRetention must be a duration such as 90s, 12h or 30d",
    "all/a.yaml:20:15: capabilities must be a list",
    "all/a.yaml:25:66: the environment has no NOT_THERE",
    "all/a.yaml:27:1: a Repo needs a parent",
    "all/b.json:3:1: Group one is declared twice, first at all/b.json:1:1",
  ])
    assert.ok(lines.includes(expected), `${expected}\n${stderr}`);
  assert.ok(
    lines.some((line) => line.startsWith("all/c.yml:1:")),
    stderr,
  );
  assert.match(lines.at(-2) ?? "", /^moorage: \d+ problems in what is to be applied; nothing was changed$/);
  for (const [args, said] of [
    [["apply"], "--file: is needed"],
    [["apply", "-f", "nowhere.yaml"], "cannot read nowhere.yaml"],
    [["apply", "-f", "all", "--exit-code"], "--exit-code: goes with --dry-run"],
    [["apply", "-f", "all", "--prune"], "add --yes"],
  ] as const) {
    const wrong = await moorage([...args], { cwd: folder });
    assert.deepEqual([wrong.code, wrong.stderr.includes(said)], [2, true], wrong.stderr);
  }
});

test("what fails is said with its place, what names it is skipped, and the rest is applied", async (t) => {
  const stage = await openStage(t);
  stage.file(
    "some.yaml",
    `kind: Group
parent: acme
name: legacy
description: a reserved name
---
kind: Repo
parent: acme/legacy
name: below
---
kind: Repo
parent: acme
name: good
---
kind: Repo
parent: acme
name: mirror
syncConfig:
  source: "not a source"
---
kind: RoleBinding
parent: acme
identity: acme/ghost
role: viewer
`,
  );
  const { code, stderr, stdout } = await stage.run(["apply", "-f", "some.yaml", "-o", "csv"]);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^some\.yaml:3:1: Group acme\/legacy: INVALID_ARGUMENT: /m);
  assert.match(stderr, /^some\.yaml:6:1: Repo acme\/legacy\/below: skipped, as Group acme\/legacy is not there$/m);
  assert.match(stderr, /^some\.yaml:\d+:\d+: Repo acme\/mirror: INVALID_ARGUMENT: /m);
  assert.match(
    stderr,
    /^some\.yaml:20:1: RoleBinding acme:acme\/ghost:viewer: there is no identity acme\/ghost that you may see/m,
  );
  assert.match(stderr, /^5 resources: 1 created, 3 failed, 1 skipped$/m);
  assert.match(stdout, /^Repo,acme\/good,created,/m);
  // A dry run says the same of what is below something that is not there, by the rules that it knows itself.
  stage.file(
    "new.yaml",
    documents([
      { kind: "Group", parent: "acme", name: "later" },
      { kind: "Repo", parent: "acme/later", name: "Bad Name" },
      { kind: "Repo", parent: "acme/later", name: "fine" },
    ]),
  );
  const dry = await stage.run(["apply", "-f", "new.yaml", "--dry-run"]);
  assert.equal(dry.code, 1);
  assert.match(dry.stderr, /Repo acme\/later\/Bad Name: name: must be an OCI path component/);
  assert.match(dry.stderr, /^\+ Repo acme\/later\/fine, after acme\/later is made \(the server was not asked\)$/m);
  // Fields that cannot be changed, and documents that name each other.
  stage.file(
    "fixed.yaml",
    documents([{ kind: "Subscription", parent: "acme", sink: "http://127.0.0.1:9/", taggedOnly: true }]),
  );
  assert.equal((await stage.run(["apply", "-f", "fixed.yaml"])).code, 0);
  stage.file(
    "fixed.yaml",
    documents([{ kind: "Subscription", parent: "acme", sink: "http://127.0.0.1:9/", taggedOnly: false }]),
  );
  const fixed = await stage.run(["apply", "-f", "fixed.yaml"]);
  assert.equal(fixed.code, 1);
  assert.match(
    fixed.stderr,
    /taggedOnly of Subscription acme:http:\/\/127\.0\.0\.1:9\/ cannot be changed; delete it to have it made again/,
  );
});

test("of identities with one name a document says which one it is", async (t) => {
  const stage = await openStage(t);
  const acme = String((await named(stage, "/iam/v2/groups", "groups", "acme"))["uid"]);
  const [one, two] = await Promise.all(
    [1, 2].map(() => stage.ok("POST", `/iam/v2/identities/${acme}`, { name: "twin" })),
  );
  stage.file("twin.yaml", "kind: Identity\nparent: acme\nname: twin\ndescription: mine\n");
  const { code, stderr } = await stage.run(["apply", "-f", "twin.yaml"]);
  assert.equal(code, 1);
  assert.match(stderr, /there are 2 of Identity acme\/twin: [0-9a-f/]+, [0-9a-f/]+; say which one by uid:/);
  for (const each of [one, two]) assert.ok(stderr.includes(String(each?.["uid"])));
  stage.file(
    "twin.yaml",
    `kind: Identity\nuid: ${String(two?.["uid"])}\nparent: acme\nname: twin\ndescription: mine\n`,
  );
  assert.equal((await stage.run(["apply", "-f", "twin.yaml"])).code, 0);
  assert.equal((await stage.ok("GET", `/iam/v2/identities/${String(two?.["uid"])}`))["description"], "mine");
  const printed = await stage.run(["apply", "--print", "acme"]);
  assert.equal(printed.stdout.match(/^uid: /gm)?.length, 2, printed.stdout);
});

test("pruning removes what is not in the files, of their kinds and in their groups, and nothing that must stay", async (t) => {
  const stage = await openStage(t);
  const group = { kind: "Group", parent: "acme", name: "team" };
  const parent = "acme/team";
  const repo = (name: string): object => ({ kind: "Repo", parent, name });
  const identity = (name: string): object => ({ kind: "Identity", parent, name });
  const bind = (name: string): object => ({
    kind: "RoleBinding",
    parent,
    identity: `acme/team/${name}`,
    role: "acme/team/deployer",
  });
  const role = { kind: "Role", parent, name: "deployer", capabilities: ["repo.list"] };
  const elsewhere = { kind: "Repo", parent: "acme", name: "elsewhere" };
  const sub = { kind: "Group", parent, name: "sub" };
  const subRepo = { kind: "Repo", parent: "acme/team/sub", name: "inner" };
  stage.file(
    "all.yaml",
    documents([
      group,
      role,
      sub,
      subRepo,
      elsewhere,
      repo("one"),
      repo("two"),
      repo("tagged"),
      identity("a"),
      identity("b"),
      bind("a"),
      bind("b"),
    ]),
  );
  stage.file("tag.yaml", documents([{ kind: "Tag", parent: "acme/team/tagged", name: "v1", digest: DIGEST }]));
  for (const file of ["all.yaml", "tag.yaml"]) {
    const made = await stage.run(["apply", "-f", file]);
    assert.equal(made.code, 0, made.stderr);
  }
  // The caller's own binding on the group.
  const { uid: team } = await named(stage, "/iam/v2/groups", "groups", "team");
  const { sub: caller } = JSON.parse(Buffer.from(String(stage.token.split(".")[1]), "base64url").toString()) as {
    sub: string;
  };
  const owner = await named(stage, "/iam/v2/roles", "roles", "owner");
  await stage.ok("POST", `/iam/v2/roleBindings/${String(team)}`, { identityUid: caller, roleUid: owner["uid"] });
  stage.file("less.yaml", documents([group, role, repo("one"), identity("a"), bind("a")]));
  writes(stage);

  const without = await stage.run(["apply", "-f", "less.yaml"]);
  assert.deepEqual([without.code, without.stderr], [0, "5 resources: no change\n"], "only when it is asked for");
  const unasked = await stage.run(["apply", "-f", "less.yaml", "--prune"]);
  assert.equal(unasked.code, 2, unasked.stderr);
  const dry = await stage.run(["apply", "-f", "less.yaml", "--prune", "--dry-run", "--exit-code"]);
  assert.equal(dry.code, 8, dry.stderr);
  assert.deepEqual(writes(stage), []);
  assert.match(dry.stderr, /^- Repo acme\/team\/two$/m);
  assert.match(dry.stderr, /^ {2}Repo acme\/team\/tagged is kept: it has tags; --prune-repos takes it$/m);
  assert.match(dry.stderr, /^ {2}RoleBinding \S+ is kept: it gives you your rights$/m);
  assert.doesNotMatch(dry.stderr, /elsewhere|Role acme|IdentityProvider/);

  // What is in a group that goes, goes before it.
  const pruned = await stage.run(["apply", "-f", "less.yaml", "--prune", "--yes"]);
  assert.equal(pruned.code, 0, pruned.stderr);
  const deletes = writes(stage);
  assert.deepEqual(
    deletes.map((each) => each.replace(/^DELETE \/\w+\/v2\/(\w+)\/uid$/, "$1")),
    ["repos", "repos", "roleBindings", "identities", "groups"],
  );
  const left = async (path: string, field: string): Promise<unknown[]> =>
    (await stage.all(`${path}?uidp.childrenOf=${String(team)}`, field)).map(({ name }) => name).toSorted();
  assert.deepEqual(await left("/registry/v2/repos", "repos"), ["one", "tagged"]);
  assert.deepEqual(await left("/iam/v2/identities", "identities"), ["a"]);
  assert.equal((await left("/iam/v2/roleBindings", "roleBindings")).length, 2);
  const end = await stage.run(["apply", "-f", "less.yaml", "--prune", "--prune-repos", "--yes", "-o", "json"]);
  assert.equal(end.code, 0, end.stderr);
  const { resources } = JSON.parse(end.stdout) as { resources: Json[] };
  assert.deepEqual(
    resources.slice(5).map(({ kind, action }) => `${String(action)} ${String(kind)}`),
    ["deleted Repo", "kept RoleBinding"],
  );
  assert.deepEqual(await left("/registry/v2/repos", "repos"), ["one"]);
  assert.deepEqual(await left("/iam/v2/groups", "groups"), []);
  await named(stage, "/registry/v2/repos", "repos", "elsewhere");
});
