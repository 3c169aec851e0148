import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Callers with tokens of others: what is said of the claims is what a token with them is then exchanged for.
interface Explained extends Json {
  allowed: boolean;
  reason: string;
  identity: string;
  steps: { kind: string; outcome: string; message: string; uid: string; name: string; groupName: string }[];
}

let platform: Platform;
let issuer: Issuer;
let root: string;
let team: string;
let repo: string;
let provider: string;
let mapping: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
  root = platform.organization;
  team = (await platform.group(root, { name: "team" })).uid;
  repo = (await platform.repo(team)).uid;
  const oidc = { issuer: issuer.url, clientId: "moorage", groupsClaim: "groups" };
  provider = (await platform.ok("POST", `/iam/v2/identityProviders/${root}`, { name: "people", oidc })).uid;
  const mapped = { externalGroupId: "dev", roleUid: await platform.role("viewer"), scope: team };
  mapping = (await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${provider}`, mapped)).uid;
});
after(async () => {
  await issuer?.close();
  await platform?.close();
});

const question = (): object => ({ method: "ReposService/GetRepo", resource: repo });
const explain = async (body: object, token?: string): Promise<Explained> => {
  const asking = { token: token ?? (await platform.token()), body };
  const answer = await platform.call("POST", "/iam/v2/access:explain", asking);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Explained;
};
const nowS = (): number => Math.floor(platform.clock.nowMs() / 1000);
const steps = (said: Explained, kind: string): string[] =>
  said.steps.filter((each) => each.kind === kind).map(({ outcome, message }) => `${outcome} ${message}`);
/** What comes of a token when it is exchanged, and its repo read: the status of the first that is not 200. */
const really = async (bearer: string, query = ""): Promise<number> => {
  const exchanged = await platform.call("GET", `/sts/exchange${query}`, { token: bearer });
  if (exchanged.status !== 200) return exchanged.status;
  return (await read(String(exchanged.body["token"]))).status;
};
const read = (token: string): Promise<Answer> => platform.call("GET", `/registry/v2/repos/${repo}`, { token });

test("static keys: until they expire", async () => {
  const key = newKey("own");
  const expirationTime = new Date(platform.clock.nowMs() + 60_000).toISOString();
  const staticKeys = { issuer: "offline", subject: "robot", issuerKeys: JSON.stringify({ keys: [key.jwk] }) };
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${root}`, {
    name: "robot",
    staticKeys: { ...staticKeys, expirationTime },
  });
  await platform.bind(team, uid, await platform.role("viewer"));
  const said = (subject = "robot"): Promise<Explained> =>
    explain({ claims: { issuer: "offline", subject }, ...question() });
  const done = async (sub = "robot"): Promise<number> => {
    const claims = { iss: "offline", sub, aud: platform.url, iat: nowS(), exp: nowS() + 60 };
    return really(await issuer.sign(claims, { kid: "own" }, key.privateKey), `?identity=${uid}`);
  };
  const { allowed, identity, steps: all } = await said();
  assert.deepEqual([allowed, identity, all[0]?.kind, await done()], [true, uid, "KIND_CLAIM_MATCH", 200]);
  assert.deepEqual([(await said("other")).reason, await done("other")], ["ACCESS_REASON_CLAIMS_NOT_ACCEPTED", 401]);
  platform.clock.offsetMs += 61_000;
  const late = await said();
  assert.deepEqual([late.reason, await done()], ["ACCESS_REASON_CLAIMS_NOT_ACCEPTED", 401]);
  assert.match(late.steps[0]?.message ?? "", /keys/);
});

describe("people of an identity provider", () => {
  const claims = (groups: string[], aud = "moorage") => ({
    claims: { issuer: issuer.url, subject: "ann", audiences: [aud], claims: JSON.stringify({ groups }) },
  });
  const signed = (groups: string[], aud = "moorage"): Promise<string> =>
    issuer.sign({ iss: issuer.url, sub: "ann", aud, iat: nowS(), exp: nowS() + 300, groups });
  let ann: string;
  before(async () => {
    const bearer = await signed(["dev"]);
    assert.equal(await really(bearer, `?identity_provider=${provider}`), 200);
    ann = (await explain({ ...claims([]), ...question() })).identity;
  });

  test("their claims: the groups count that the token states", async () => {
    const dev = await explain({ ...claims(["dev", "x"]), ...question() });
    assert.deepEqual([dev.allowed, dev.identity, await really(await signed(["dev", "x"]))], [true, ann, 200]);
    assert.deepEqual(steps(dev, "KIND_MAPPING"), [
      "OUTCOME_PASSED the mapping of role viewer on group team gives CAP_REPO_LIST",
    ]);
    const ops = await explain({ ...claims(["ops"]), ...question() });
    assert.deepEqual([ops.reason, await really(await signed(["ops"]))], ["ACCESS_REASON_NOT_VISIBLE", 404]);
    assert.deepEqual(steps(ops, "KIND_MAPPING"), []);
    const other = await explain({ ...claims(["dev"], "another"), ...question() });
    assert.deepEqual(
      [other.reason, await really(await signed(["dev"], "another"))],
      ["ACCESS_REASON_CLAIMS_NOT_ACCEPTED", 401],
    );
  });

  test("by their identity: the groups that are asked about, narrowed like bindings", async () => {
    const about = (more: object): Promise<Explained> => explain({ identity: ann, ...more, ...question() });
    assert.equal((await about({})).reason, "ACCESS_REASON_NOT_VISIBLE");
    const dev = { externalGroups: ["dev"] };
    assert.equal((await about(dev)).allowed, true);
    assert.equal((await about({ ...dev, capabilities: ["CAP_TAG_LIST"] })).reason, "ACCESS_REASON_NARROWED_AWAY");
    const { uid: elsewhere } = await platform.group(root);
    assert.equal((await about({ ...dev, scopes: [elsewhere] })).reason, "ACCESS_REASON_OUT_OF_SCOPE");
    // Robots have no provider whose groups could count.
    const identity = await platform.identity(root);
    assert.equal((await explain({ identity, ...dev, ...question() })).reason, "ACCESS_REASON_NOT_VISIBLE");
  });

  test("who asks about itself sees no names of mappings that it may not list", async () => {
    const external = { provider, groups: ["dev"], untilMs: platform.clock.nowMs() + 60_000 };
    const token = await platform.token(ann, { external } as object);
    assert.equal((await read(token)).status, 200);
    const said = await explain({ identity: ann, externalGroups: ["dev"], ...question() }, token);
    const step = said.steps.find(({ kind }) => kind === "KIND_MAPPING");
    assert.deepEqual(
      [step?.message, step?.uid, step?.name, step?.groupName],
      ["a mapping above gives CAP_REPO_LIST", "", "", ""],
    );
  });

  test("as what is asked about: rights where their provider is count for them", async () => {
    const identity = await platform.identity(root);
    const about = { identity, method: "IdentitiesService/GetIdentity", resource: ann };
    const seen = async (): Promise<number> =>
      (await platform.call("GET", `/iam/v2/identities/${ann}`, { token: await platform.token(identity) })).status;
    const said = await explain(about);
    assert.deepEqual([said.reason, await seen()], ["ACCESS_REASON_NOT_VISIBLE", 404]);
    assert.equal((said["remedies"] as { group: string }[])[0]?.group, root);
    await platform.bind(root, identity, await platform.role("viewer"));
    const now = await explain(about);
    assert.deepEqual([now.allowed, await seen()], [true, 200]);
    assert.deepEqual(steps(now, "KIND_BINDING"), [
      "OUTCOME_PASSED the binding of role viewer on group acme gives CAP_IAM_IDENTITY_LIST",
    ]);
  });

  test("their own sessions do not let them ask about others", async () => {
    const asker = await platform.identity(root);
    const roleUid = (
      await platform.ok("POST", `/iam/v2/roles/${root}`, { name: "lists", capabilities: ["CAP_IAM_IDENTITY_LIST"] })
    ).uid;
    await platform.bind(root, asker, roleUid);
    const body = {
      identity: await platform.identity(root),
      method: "SessionsService/DeleteSession",
      resource: newUid(asker),
    };
    const answer = await platform.call("POST", "/iam/v2/access:explain", { token: await platform.token(asker), body });
    assert.equal(answer.status, 404, answer.text);
    assert.equal((await explain(body))["allowed"], false);
  });

  test("nobody, once their provider is gone", async () => {
    await platform.bind(team, ann, await platform.role("viewer"));
    const token = await platform.token(ann);
    assert.equal((await read(token)).status, 200);
    await platform.ok("DELETE", `/iam/v2/externalGroupRoleMappings/${mapping}`);
    await platform.ok("DELETE", `/iam/v2/identityProviders/${provider}`);
    assert.equal((await read(token)).status, 401);
    const said = await explain({ identity: ann, ...question() });
    assert.deepEqual([said.allowed, said.reason], [false, "ACCESS_REASON_IDENTITY_NOT_USABLE"]);
    assert.equal((await explain({ ...claims(["dev"]), ...question() })).reason, "ACCESS_REASON_CLAIMS_NOT_ACCEPTED");
  });
});

test("built-in roles: everybody sees them, and who may change roles somewhere is let through to hear that they stay", async () => {
  const resource = await platform.role("viewer");
  const [nobody, editor] = [await platform.identity(root), await platform.identity(team, "owner")];
  for (const [identity, method, verb, status] of [
    [nobody, "GetRole", "GET", 200],
    [nobody, "UpdateRole", "PATCH", 403],
    [nobody, "DeleteRole", "DELETE", 403],
    [editor, "UpdateRole", "PATCH", 400],
    [editor, "DeleteRole", "DELETE", 400],
  ] as const) {
    const said = await explain({ identity, method: `RolesService/${method}`, resource });
    const body = verb === "PATCH" ? { description: "changed" } : undefined;
    const token = await platform.token(identity);
    const done = await platform.call(verb, `/iam/v2/roles/${resource}`, { token, body });
    assert.equal(done.status, status, done.text);
    assert.equal(said.allowed, status !== 403, `${method}: ${JSON.stringify(said)}`);
    if (status === 403) assert.equal(said.reason, "ACCESS_REASON_CAPABILITY_MISSING");
  }
});
