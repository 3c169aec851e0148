// A repo's policy and its source are changed only by who holds the right to: who may push, or update repos, may not.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ReposService } from "@moorage/api";
import { sql } from "kysely";
import { ensureBuiltInRoles } from "../../src/iam/index.ts";
import { MIGRATIONS } from "../../../kernel/src/store/migrations.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const RIGHT = "CAP_REPO_POLICY_UPDATE";
const POLICY = { immutableTags: ["v.*"], protectedTags: ["v.*"], vulnerabilities: { on: ["PULL"], mode: "ENFORCE" } };
const UPDATER = ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST", "CAP_REPO_CREATE", "CAP_REPO_UPDATE"];
let platform: Platform;
/** Tokens of callers that may update repos, and not their policies. */
let callers: [string, string][];
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  callers = [
    ["registry.push", await tokenOf("registry.push")],
    ["a role of users", await platform.token(await holder(UPDATER))],
  ];
});
after(() => platform.close());

const tokenOf = async (role: string): Promise<string> =>
  await platform.token(await platform.identity(platform.organization, role));

let count = 0;
async function holder(capabilities: readonly string[]): Promise<string> {
  const name = `policies-${(count += 1)}`;
  const { uid } = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, { name, capabilities });
  const identity = await platform.identity(platform.organization);
  await platform.bind(platform.organization, identity, uid);
  return identity;
}

const governed = (): Promise<Json> =>
  platform.repo(platform.organization, { tagPolicy: POLICY, syncConfig: { source: "http://127.0.0.1:1/acme/app" } });
const patch = (uid: string, query: string, body: object, token: string): Promise<Answer> =>
  platform.call("PATCH", `/registry/v2/repos/${uid}${query}`, { token, body });
const read = (uid: string): Promise<Json> => platform.ok("GET", `/registry/v2/repos/${uid}`);

function denied({ status, body, text }: Answer, what: string): void {
  assert.deepEqual([status, body.details[0]?.metadata?.["missing"]], [403, RIGHT], `${what}: ${text}`);
}

test("an update that changes the policy, the source, or the name of a repo that has them, needs the right", async () => {
  const repo = await governed();
  const source = { source: "http://127.0.0.1:1/evil/app" };
  const attempts: [query: string, body: object][] = [
    ["?updateMask=tagPolicy", {}],
    ["?updateMask=tag_policy", { tagPolicy: {} }],
    ["?updateMask=tagPolicy.immutableTags", { tagPolicy: {} }],
    ["?updateMask=tagPolicy.vulnerabilities", { tagPolicy: {} }],
    ["?updateMask=tagPolicy.vulnerabilities.mode", { tagPolicy: { vulnerabilities: { mode: "PREVIEW" } } }],
    ["?updateMask=*", { name: "starred" }],
    ["?updateMask=description,syncConfig", { description: "x" }],
    ["?updateMask=syncConfig.pullThrough", { syncConfig: { pullThrough: true } }],
    ["?updateMask=syncConfig.username,syncConfig.password", { syncConfig: { username: "a", password: "b" } }],
    ["", { tagPolicy: { immutableTags: ["none"] } }],
    ["", { syncConfig: source }],
    ["", { name: "elsewhere" }],
    ["?validateOnly=true&updateMask=tagPolicy", {}],
  ];
  const before = await read(repo.uid);
  for (const [name, token] of callers)
    for (const [query, body] of attempts)
      denied(await patch(repo.uid, query, body, token), `${name}: ${query} ${JSON.stringify(body)}`);
  assert.deepEqual(await read(repo.uid), before);
  const editor = await tokenOf("editor");
  for (const [query, body] of attempts)
    assert.equal((await patch((await governed()).uid, query, body, editor)).status, 200, `editor: ${query}`);
});

test("who may update repos changes all else, also by a body that has the policy as it is", async () => {
  for (const [name, token] of callers) {
    const { uid } = await governed();
    const whole = await read(uid);
    for (const [query, body] of [
      ["", { description: "first" }],
      ["?updateMask=readme", { readme: "second" }],
      ["?updateMask=*", { ...whole, description: "third" }],
      ["?updateMask=tagPolicy,syncConfig,aliases", { ...whole, aliases: ["other"] }],
      ["?updateMask=tagPolicy.immutableTags", { tagPolicy: POLICY }],
    ] as const) {
      const answer = await patch(uid, query, body, token);
      assert.equal(answer.status, 200, `${name}: ${query} ${answer.text}`);
    }
    const after = await read(uid);
    assert.deepEqual(
      [after["tagPolicy"], after["syncConfig"], after["description"]],
      [whole["tagPolicy"], whole["syncConfig"], "third"],
      name,
    );
    const plain = await platform.repo(platform.organization);
    assert.equal((await patch(plain.uid, "", { name: `${String(plain["name"])}-2` }, token)).status, 200, name);
    assert.equal((await patch(plain.uid, "?updateMask=tagPolicy", { tagPolicy: {} }, token)).status, 200, name);
  }
});

test("a repo is made with a policy or a source only by who holds the right", async () => {
  const editor = await tokenOf("editor");
  const make = (body: object, token: string): Promise<Answer> =>
    platform.call("POST", `/registry/v2/repos/${platform.organization}`, { token, body });
  for (const [at, fields] of [
    { tagPolicy: POLICY },
    { syncConfig: { source: "acme/app", pullThrough: true } },
  ].entries())
    for (const [name, token] of callers) denied(await make({ name: `new-${at}`, ...fields }, token), name);
  assert.equal((await make({ name: "new-by-editor", tagPolicy: POLICY }, editor)).status, 200);
  for (const [at, [name, token]] of callers.entries())
    assert.equal((await make({ name: `plain-${at}`, tagPolicy: {} }, token)).status, 200, name);
});

test("gRPC, version 1 and narrowed tokens decide the same", async () => {
  const repo = await governed();
  const v1 = await platform.ok(`GET`, `/registry/v1/repos?id=${repo.uid}`);
  const [item] = v1["items"] as unknown as Json[];
  for (const [name, token] of callers) {
    const request = { repo: { uid: repo.uid }, updateMask: { paths: ["tag_policy"] } };
    const { error } = await platform.grpc.call(ReposService.method.updateRepo, request, token);
    assert.equal((error as { code: number } | undefined)?.code, 7, name);
    const put = (body: object): Promise<Answer> =>
      platform.call("PUT", `/registry/v1/repos/${repo.uid}`, { token, body });
    denied(await put({ ...item, syncConfig: undefined }), `${name}: v1 clears the source`);
    denied(await put({ ...item, syncConfig: { source: "acme/other" } }), `${name}: v1 sets another source`);
    assert.equal((await put({ ...item, description: name })).status, 200, name);
    const body = { name: repo["name"], syncConfig: { source: "acme/other" } };
    denied(
      await platform.call("POST", `/registry/v1/repos/${platform.organization}`, { token, body }),
      `${name}: v1 makes one that is there`,
    );
  }
  const narrowed = await platform.call("GET", "/sts/exchange?cap=repo.list&cap=repo.update", {
    token: await platform.token(),
  });
  denied(await patch(repo.uid, "?updateMask=tagPolicy", {}, String(narrowed.body["token"])), "a narrowed owner");
});

test("the explanation of an access names the right beside those of the method", async () => {
  const { uid } = await governed();
  const identity = await platform.identity(platform.organization, "registry.push");
  const { allowed, steps } = (await platform.ok("POST", "/iam/v2/access:explain", {
    identity,
    method: "ReposService/UpdateRepo",
    resource: uid,
  })) as unknown as { allowed: boolean; steps: { kind: string; message: string }[] };
  assert.equal(allowed, true);
  const said = steps.filter(({ kind }) => kind === "KIND_METHOD").map(({ message }) => message);
  assert.match(said.join("\n"), /a call that changes tagPolicy or syncConfig needs CAP_REPO_POLICY_UPDATE, too/);
});

test("roles of users that could update repos may change policies still; built-in roles are as they are now", async () => {
  const make = async (capabilities: string[]): Promise<string> =>
    (await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, { name: `old-${(count += 1)}`, capabilities }))
      .uid;
  const [updating, only, listing, holding] = [
    await make(UPDATER),
    await make(["CAP_REPO_UPDATE"]),
    await make(["CAP_REPO_LIST"]),
    await make(["CAP_REPO_UPDATE", RIGHT]),
  ];
  const push = await platform.role("registry.push");
  const { statements = [] } =
    MIGRATIONS.find(({ name }) => name === "policies of repos are a right of their own") ?? {};
  assert.equal(statements.length, 1);
  await platform.transact(async (tx) => {
    for (const statement of statements) await sql.raw(statement).execute(tx);
    await ensureBuiltInRoles(tx, platform.clock.nowMs());
  });
  const has = async (uid: string): Promise<unknown> =>
    (await platform.ok("GET", `/iam/v2/roles/${uid}`))["capabilities"];
  assert.deepEqual(await has(updating), [
    ...UPDATER.slice(0, 1),
    "CAP_REPO_CREATE",
    "CAP_REPO_UPDATE",
    "CAP_REPO_LIST",
    RIGHT,
  ]);
  assert.deepEqual(await has(only), ["CAP_REPO_UPDATE", RIGHT]);
  assert.deepEqual(await has(listing), ["CAP_REPO_LIST"]);
  assert.deepEqual(await has(holding), ["CAP_REPO_UPDATE", RIGHT]);
  for (const [role, isHeld] of [
    ["owner", true],
    ["editor", true],
    ["viewer", false],
    ["registry.pull_token_creator", false],
  ] as const)
    assert.equal(((await has(await platform.role(role))) as string[]).includes(RIGHT), isHeld, role);
  assert.equal(((await has(push)) as string[]).includes(RIGHT), false);
});
