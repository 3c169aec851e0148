import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Explained extends Json {
  allowed: boolean;
  reason: string;
  steps: { kind: string; outcome: string; message: string; uid: string; name: string; groupName: string }[];
  missing: string[];
  remedies: { message: string; capabilities: string[]; group: string; documentIds: string[] }[];
  identity: string;
}

const TERMS = [{ id: "pushing", label: "Pushing", url: "https://moorage.example.com/push", required: ["push"] }];
const TAG = "acme/team/app:v1";
let platform: Platform;
let team: string;
let repo: string;
let count = 0;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "true" }, TERMS);
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  await platform.ok("POST", `/iam/v2/terms/${team}`, { documentIds: ["pushing"] });
  await pushImage(platform, "acme/team/app", "v1");
  repo = ((await platform.ok("GET", "/registry/v2/repos?name=app"))["repos"] as Json[])[0]?.uid ?? "";
});
after(() => platform?.close());

const ask = async (body: object, token?: string): Promise<Answer> =>
  platform.call("POST", "/iam/v2/access:explain", { token: token ?? (await platform.token()), body });
const explain = async (body: object, token?: string): Promise<Explained> => {
  const answer = await ask(body, token);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Explained;
};
const pull = { action: "REGISTRY_ACTION_PULL", resource: TAG };
const push = { action: "REGISTRY_ACTION_PUSH", resource: TAG };
const outcomes = ({ steps }: Explained): string[] =>
  steps.map(({ kind, outcome }) => `${kind.replace("KIND_", "")} ${outcome.replace("OUTCOME_", "")}`);
const reason = (said: Explained): string => said.reason.replace("ACCESS_REASON_", "");
const role = async (capabilities: string[]): Promise<string> =>
  (await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, { name: `role-${(count += 1)}`, capabilities }))
    .uid;
/** Does what a remedy says. */
const bindAll = async (identity: string, { remedies }: Explained): Promise<void> => {
  for (const { capabilities, group } of remedies) await platform.bind(group, identity, await role(capabilities));
};

describe("what decides", () => {
  test("a missing capability: the remedy's binding allows it", async () => {
    const identity = await platform.identity(platform.organization);
    for (const [question, missing] of [
      [pull, ["CAP_MANIFEST_LIST", "CAP_REPO_BLOBS_GET"]],
      [push, ["CAP_MANIFEST_CREATE", "CAP_TAG_UPDATE"]],
      [{ action: "REGISTRY_ACTION_DELETE", resource: TAG }, ["CAP_TAG_DELETE"]],
      [
        { action: "REGISTRY_ACTION_PUSH", resource: "acme/team/a/b:v1" },
        ["CAP_REPO_CREATE", "CAP_IAM_GROUPS_CREATE", "CAP_TAG_CREATE"],
      ],
    ] as const) {
      const said = await explain({ identity, ...question });
      assert.deepEqual([said.allowed, reason(said), said.missing], [false, "CAPABILITY_MISSING", missing]);
      assert.deepEqual(
        said.remedies.map(({ capabilities, group }) => [capabilities, group]),
        [[missing, team]],
      );
      assert.ok(said.remedies[0]?.message.includes("on group team to this identity"));
      await bindAll(identity, said);
      const now = await explain({ identity, ...question });
      assert.deepEqual([now.allowed, reason(now), now.missing], [true, "ALLOWED", []], JSON.stringify(now));
    }
  });

  test("a method: NOT_VISIBLE without any right, and the bindings that count, with where they are inherited from", async () => {
    const identity = await platform.identity(platform.organization);
    const question = { identity, method: "ReposService/GetRepo", resource: repo };
    const said = await explain(question);
    assert.deepEqual(
      [reason(said), said.missing, outcomes(said)],
      ["NOT_VISIBLE", ["CAP_REPO_LIST"], ["IDENTITY PASSED", "CAPABILITY FAILED", "METHOD NOT_APPLICABLE"]],
    );
    const uid = await platform.bind(platform.organization, identity, await platform.role("viewer"));
    const now = await explain({ ...question, method: "moorage.registry.v2.ReposService/GetRepo" });
    assert.equal(now.allowed, true);
    assert.deepEqual(
      now.steps.filter(({ kind }) => kind === "KIND_BINDING").map((step) => [step.uid, step.name, step.groupName]),
      [[uid, "viewer", "acme"]],
    );
    const update = await explain({ ...question, method: "ReposService/UpdateRepo" });
    assert.deepEqual([reason(update), update.missing], ["CAPABILITY_MISSING", ["CAP_REPO_UPDATE"]]);
  });

  test("narrowing and scopes of a token", async () => {
    const identity = await platform.identity(platform.organization, "viewer");
    const { uid: elsewhere } = await platform.group(platform.organization);
    const away = await explain({ identity, ...pull, capabilities: ["CAP_REPO_BLOBS_GET"] });
    assert.deepEqual([reason(away), away.missing], ["NARROWED_AWAY", ["CAP_MANIFEST_LIST"]]);
    const out = await explain({ identity, ...pull, scopes: [elsewhere] });
    assert.deepEqual([reason(out), out.missing.length], ["OUT_OF_SCOPE", 2]);
    assert.equal((await explain({ identity, ...pull, scopes: [out.remedies[0]?.group] })).allowed, true);
  });

  test("documents, policies, existence, and callers without a token", async () => {
    const { uid: fresh } = await platform.group(platform.organization);
    const { name } = await platform.ok("GET", `/iam/v2/groups/${fresh}`);
    const identity = await platform.identity(platform.organization, "owner");
    const unaccepted = await explain({ identity, ...push, resource: `acme/${name}/app:v1` });
    assert.deepEqual([reason(unaccepted), unaccepted.remedies[0]?.documentIds], ["TERMS_MISSING", ["pushing"]]);
    await platform.ok("POST", `/iam/v2/terms/${unaccepted.remedies[0]?.group}`, { documentIds: ["pushing"] });
    assert.equal((await explain({ identity, ...push, resource: `acme/${name}/app:v1` })).allowed, true);

    const policy = (tagPolicy: object): Promise<Json> =>
      platform.ok("PATCH", `/registry/v2/repos/${repo}?updateMask=tagPolicy`, { tagPolicy });
    await policy({ immutableTags: ["v1"] });
    assert.equal(reason(await explain({ identity, ...push })), "TAG_POLICY");
    await policy({ protectedTags: ["v1"] });
    const deletion = { identity, action: "REGISTRY_ACTION_DELETE", resource: TAG };
    assert.equal(reason(await explain(deletion)), "TAG_POLICY");
    await policy({});
    assert.equal((await explain(deletion)).allowed, true);

    for (const resource of ["acme/team/app:none", "acme/team/none:v1"])
      assert.equal(reason(await explain({ identity, ...pull, resource })), "RESOURCE_MISSING");
    assert.equal(reason(await explain({ anonymous: true, ...pull })), "TOKEN_NEEDED");
    const method = { anonymous: true, method: "ReposService/GetRepo", resource: repo };
    assert.equal(reason(await explain(method)), "TOKEN_NEEDED");
  });

  test("what is for operators is decided on the first organization, whatever the resource is", async () => {
    const { uid: other } = await platform.ok("POST", "/iam/v2/groups", { name: "other" });
    const [here, there] = [
      await platform.identity(platform.organization, "owner"),
      await platform.identity(other, "owner"),
    ];
    const method = "OperationsService/GetInstallation";
    for (const [identity, status] of [
      [here, 200],
      [there, 403],
    ] as const) {
      const done = await platform.call("GET", "/operations/v2/installation", { token: await platform.token(identity) });
      assert.equal(done.status, status, done.text);
      for (const resource of [other, team])
        assert.equal((await explain({ identity, method, resource })).allowed, status === 200);
    }
    const said = await explain({ identity: there, method }, await platform.token(there));
    assert.deepEqual(
      [reason(said), said.missing, said.remedies[0]?.group],
      ["CAPABILITY_MISSING", ["CAP_OPERATIONS_LIST"], ""],
    );
    // Who does not see the first organization learns nothing of it, and so nothing of who runs the installation.
    const asked = await ask(
      { identity: await platform.identity(other), method, resource: other },
      await platform.token(there),
    );
    assert.equal(asked.status, 404, asked.text);
    assert.ok(!asked.text.includes(platform.organization));
  });

  test("claims: the identity that accepts them, and the claim that it does not accept", async () => {
    const claimMatch = { issuer: "https://ci.example", subject: "job", claims: { branch: "main" } };
    const { uid } = await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, {
      name: "ci",
      claimMatch,
    });
    await platform.bind(platform.organization, uid, await platform.role("viewer"));
    const claims = { issuer: "https://ci.example", subject: "job", claims: '{"branch":"main"}' };
    const said = await explain({ claims, ...pull });
    assert.deepEqual([said.allowed, said.identity, outcomes(said)[0]], [true, uid, "CLAIM_MATCH PASSED"]);
    const other = await explain({ claims: { ...claims, claims: '{"branch":"dev"}' }, ...pull });
    assert.deepEqual([other.allowed, reason(other)], [false, "CLAIMS_NOT_ACCEPTED"]);
    assert.match(other.message, /branch/);
    const nobody = await explain({ claims: { ...claims, subject: "else" }, ...pull });
    assert.equal(reason(nobody), "CLAIMS_NOT_ACCEPTED");
    await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, { name: "ci-2", claimMatch });
    assert.equal(reason(await explain({ claims, ...pull })), "CLAIMS_AMBIGUOUS");
  });
});

describe("who may ask", () => {
  test("those who list role bindings there; others get PERMISSION_DENIED or, without sight, NOT_FOUND", async () => {
    const identity = await platform.identity(platform.organization);
    const asWith = async (...capabilities: string[]): Promise<number> => {
      const asker = await platform.identity(platform.organization);
      await platform.bind(platform.organization, asker, await role(["CAP_IAM_IDENTITY_LIST", ...capabilities]));
      return (await ask({ identity, ...pull }, await platform.token(asker))).status;
    };
    assert.deepEqual(
      [
        await asWith(),
        await asWith("CAP_REPO_LIST"),
        await asWith("CAP_IAM_ROLE_BINDINGS_LIST"),
        await asWith("CAP_REPO_LIST", "CAP_IAM_ROLE_BINDINGS_LIST"),
      ],
      [404, 403, 404, 200],
    );
    const stranger = await platform.identity(platform.organization);
    assert.equal((await ask({ identity, ...pull }, await platform.token(stranger))).status, 404);
  });

  test("an identity about itself, which shows no names of what it does not see, nor what exists", async () => {
    const identity = await platform.identity(platform.organization);
    const token = await platform.token(identity);
    const about = async (resource: string): Promise<string> => {
      const { allowed, reason: why, steps, missing, remedies } = await explain({ identity, ...push, resource }, token);
      return JSON.stringify({ allowed, why, steps, missing, remedies });
    };
    const hidden = await about(TAG);
    assert.equal(await about("acme/team/nothing:v1"), hidden);
    assert.equal(await about("nowhere/nothing:v1"), hidden);
    await platform.bind(platform.organization, identity, await role(["CAP_MANIFEST_LIST"]));
    const said = await explain({ identity, ...pull }, token);
    const binding = said.steps.find(({ kind }) => kind === "KIND_BINDING");
    assert.deepEqual(
      [binding?.message, binding?.uid, binding?.groupName],
      ["a binding above gives CAP_MANIFEST_LIST", "", ""],
    );
  });
});

test("what cannot be asked is answered with the field", async () => {
  const identity = await platform.identity(platform.organization);
  for (const [body, field] of [
    [{}, "action"],
    [{ ...pull }, "identity"],
    [{ identity, ...pull, resource: "Not//an image" }, "resource"],
    [{ identity, ...pull, resource: "acme/team/app@sha256:12" }, "resource"],
    [{ identity, action: "REGISTRY_ACTION_DELETE", resource: "acme/team/app" }, "resource"],
    [{ identity, method: "ReposService/Nothing", resource: repo }, "method"],
    [{ identity, method: "__proto__", resource: repo }, "method"],
    [{ identity, method: "ReposService/GetRepo", resource: "../x" }, "resource"],
    [{ identity, method: "ReposService/GetRepo" }, "resource"],
    [{ identity, ...pull, capabilities: ["CAP_NONE"] }, "capabilities[0]"],
    [{ identity, ...pull, scopes: ["x"] }, "scopes[0]"],
    [{ claims: { issuer: "https://a.example", claims: "[" }, ...pull }, "claims.claims"],
    [
      { claims: { issuer: "https://a.example", claims: `{"a":${"[".repeat(99)}${"]".repeat(99)}}` }, ...pull },
      "claims.claims",
    ],
  ] as const) {
    const answer = await ask(body);
    assert.equal(answer.status, 400, answer.text);
    assert.deepEqual(blamed(answer), [field], JSON.stringify(body));
  }
  assert.equal((await ask({ identity: "x", ...pull })).status, 404);
  const deleted = await platform.identity(platform.organization, "owner");
  await platform.ok("DELETE", `/iam/v2/identities/${deleted}`);
  assert.equal(reason(await explain({ identity: deleted, ...pull })), "IDENTITY_NOT_USABLE");
});
