import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { GroupsService, PersonalTokensService } from "@moorage/api";
import { decodeJwt } from "jose";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import {
  askForToken,
  grantedActions,
  logIn,
  makeToken,
  peopleOf,
  type SignedInPerson,
  signInAs,
} from "../../../server/test/support/personal-tokens.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Whoever has a personal token, or only the access token of somebody, attempts to get more than the person gave.
let platform: Platform;
let issuer: Issuer;
let mine: { uid: string; provider: string; owner: string };
let theirs: { uid: string; provider: string; owner: string };
let count = 0;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
  const organization = async (uid: string) => ({
    uid,
    provider: await peopleOf(platform, issuer, { group: uid, role: "registry.push" }),
    owner: await platform.token(await platform.identity(uid, "owner")),
  });
  mine = await organization(platform.organization);
  theirs = await organization((await platform.ok("POST", "/iam/v2/groups", { name: "theirs" })).uid);
  for (const name of ["acme/app", "acme/team/app"]) {
    if (name !== "acme/app") await platform.group(mine.uid, { name: "team" });
    await pushImage(platform, name, "v1");
  }
  await publishNpm(platform, "acme", "left", "1.0.0");
});
after(async () => {
  await issuer?.close();
  await platform?.close();
});

const person = (provider = mine.provider): Promise<SignedInPerson> =>
  signInAs(platform, issuer, provider, `person-${(count += 1)}`);
const get = (path: string, token: string): Promise<Answer> => platform.call("GET", path, { token });
const exchange = (token: string, body: object = {}): Promise<Answer> =>
  platform.call("POST", "/sts/exchange", { token, body });
const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`any:${password}`).toString("base64")}` });
const install = (password: string): Promise<Answer> =>
  platform.call("GET", npmPath("acme", "left"), { headers: basic(password) });
const PULL = [
  "CAP_IAM_GROUPS_LIST",
  "CAP_REPO_LIST",
  "CAP_REPO_BLOBS_GET",
  "CAP_MANIFEST_LIST",
  "CAP_MANIFEST_METADATA_LIST",
  "CAP_TAG_LIST",
  "CAP_REFERRERS_LIST",
];
const scope = (name: string): string => `repository:${name}:pull,push,delete`;
const team = async (): Promise<string> =>
  ((await platform.ok("GET", "/iam/v2/groups?name=team"))["groups"] as Json[])[0]?.uid ?? "";

test("a token that asks for more than its maker holds does what the maker may, and nothing else", async () => {
  const ada = await person();
  const all = (await platform.ok("GET", `/iam/v2/roles/${await platform.role("owner")}`))["capabilities"];
  const { token } = await makeToken(platform, ada.token, { capabilities: all });
  const body = { name: "made" };
  assert.equal((await platform.call("POST", `/iam/v2/groups/${mine.uid}`, { token, body })).status, 403);
  assert.equal((await platform.call("POST", "/iam/v2/groups", { token, body })).status, 403, "no organization");
  assert.deepEqual((await get("/iam/v2/auditEntries", token)).body["auditEntries"], []);
  assert.deepEqual(grantedActions(await logIn(platform, token, scope("acme/app"))), ["pull", "push"]);
  assert.deepEqual(grantedActions(await logIn(platform, token, scope("theirs/app"))), []);
});

test("what the maker loses, the token and all that it was exchanged for lose with the next request", async () => {
  const ada = await person();
  const { token } = await makeToken(platform, ada.token);
  const exchanged = String((await exchange(token)).body["token"]);
  const registry = String((await logIn(platform, token, scope("acme/app"))).body["token"]);
  const path = `/iam/v2/groups/${mine.uid}`;
  const manifest = "/v2/acme/app/manifests/v1";
  for (const good of [token, exchanged]) assert.equal((await get(path, good)).status, 200);
  assert.equal((await get(manifest, registry)).status, 200);
  assert.equal((await install(token)).status, 200);
  const bindings = (await platform.ok("GET", `/iam/v2/roleBindings?identity=${ada.uid}`))["roleBindings"] as Json[];
  for (const { uid } of bindings) await platform.ok("DELETE", `/iam/v2/roleBindings/${uid}`);
  for (const good of [token, exchanged]) assert.equal((await get(path, good)).status, 404);
  assert.equal((await get(manifest, registry)).status, 403);
  assert.equal((await get(manifest, token)).status, 403);
  assert.equal((await install(token)).status, 403);
  assert.deepEqual(grantedActions(await logIn(platform, token, scope("acme/app"))), []);
});

test("a token narrowed to pulling stays so at every service, however it is exchanged", async () => {
  const ada = await person();
  const { token } = await makeToken(platform, ada.token, { capabilities: PULL });
  const host = new URL(platform.url).host;
  const again = async (bearer: string, body: object = {}): Promise<string> => {
    const answer = await exchange(bearer, body);
    assert.equal(answer.status, 200, answer.text);
    return String(answer.body["token"]);
  };
  const mcp = `${platform.url}/mcp`;
  const exchanged = [
    await again(token),
    await again(await again(token)),
    await again(token, { aud: [host] }),
    await again(token, { aud: [platform.url, host, mcp] }),
    await again(token, { cap: ["CAP_REPO_LIST", "CAP_IAM_GROUPS_LIST", "CAP_MANIFEST_CREATE"] }),
  ];
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    subject_token: token,
    scope: "openid",
  });
  const oauth = (await (await fetch(`${platform.url}/sts/token`, { method: "POST", body: form })).json()) as Json;
  exchanged.push(String(oauth["access_token"]));
  assert.equal(oauth["refresh_token"], undefined, "nothing that lasts longer is made of it");
  for (const one of exchanged) {
    const { cap, exp, pat, sub } = decodeJwt(one) as { cap: string[]; exp: number; pat: string; sub: string };
    assert.ok(cap.length > 0 && cap.every((name) => PULL.includes(name)), JSON.stringify(cap));
    assert.equal(sub, ada.uid);
    assert.ok(pat !== undefined && exp * 1000 <= platform.clock.nowMs() + 3_600_000);
    const { granted, status } = await registryOf(one);
    assert.ok(status === 200 && !granted.includes("push"), JSON.stringify(granted));
    const publish = await publishNpm(platform, "acme", "right", "1.0.0", { token: one });
    assert.ok([401, 403].includes(publish.status), publish.text);
  }
  assert.equal((await exchange(token, { cap: ["CAP_MANIFEST_CREATE"] })).status, 403);
  assert.deepEqual(grantedActions(await logIn(platform, token, scope("acme/app"))), ["pull"]);
  const upload = await platform.call("POST", "/v2/acme/app/blobs/uploads/", { token });
  assert.equal(upload.status, 403, upload.text);
  const published = await publishNpm(platform, "acme", "right", "1.0.0", { token });
  assert.equal(published.status, 403, published.text);
  assert.equal((await install(token)).status, 403, "npm's own right was not given");
});

/** What a log-in with the token as the password gets. */
async function registryOf(token: string): Promise<{ status: number; granted: string[] }> {
  const answer = await logIn(platform, token, scope("acme/app"));
  return { status: answer.status, granted: answer.status === 200 ? grantedActions(answer) : [] };
}

test("a token narrowed to a group reaches nothing beside it, by no path", async () => {
  const ada = await person();
  const { token } = await makeToken(platform, ada.token, { groups: [await team()] });
  assert.deepEqual(grantedActions(await logIn(platform, token, scope("acme/team/app"))), ["pull", "push"]);
  assert.deepEqual(grantedActions(await logIn(platform, token, scope("acme/app"))), []);
  assert.equal((await get("/v2/acme/app/manifests/v1", token)).status, 403);
  assert.equal((await install(token)).status, 403);
  assert.equal((await get(`/iam/v2/groups/${mine.uid}`, token)).status, 404);
  assert.equal((await get(`/iam/v2/groups/${await team()}`, token)).status, 200);
  const wider = await exchange(token, { scopes: [mine.uid] });
  assert.deepEqual((decodeJwt(String(wider.body["token"])) as { scopes: string[] }).scopes, [await team()]);
  assert.equal((await exchange(token, { scopes: [theirs.uid] })).status, 403);
  assert.deepEqual((await get("/iam/v2/personalTokens", token)).body["personalTokens"], [], "nor the person's own");
});

test("no personal token makes another one, nor a session, a link or what lasts longer", async () => {
  const ada = await person();
  const made = await makeToken(platform, ada.token);
  const exchanged = String((await exchange(made.token)).body["token"]);
  const twice = String((await exchange(exchanged)).body["token"]);
  for (const token of [made.token, exchanged, twice]) {
    const asked = await askForToken(platform, token);
    assert.deepEqual(
      [asked.status, asked.body.message],
      [403, "Permission denied: a personal token makes no other: sign in as yourself"],
    );
    const byGrpc = await platform.grpc.call(
      PersonalTokensService.method.createPersonalToken,
      { personalToken: { name: "x" } },
      token,
    );
    assert.equal(byGrpc.error?.code, 7);
    const headers = { "sec-fetch-site": "same-origin" };
    assert.equal((await platform.call("POST", "/session", { token, headers })).status, 403);
    assert.equal((await platform.call("POST", "/session/links", { token })).status, 403);
    assert.equal((await platform.call("GET", "/sts/exchange_refresh_token", { token })).status, 401);
  }
  const sessions = await platform.reader
    .selectFrom("sessions")
    .select("hash")
    .where("identity", "=", ada.uid)
    .execute();
  assert.deepEqual(sessions, []);
});

test("machines, narrowed tokens and applications that a person let in make none", async () => {
  const ada = await person();
  const asks: [string, string][] = [
    [await platform.token(await platform.identity(mine.uid, "owner")), "only people make personal tokens"],
    [String((await exchange(ada.token, { cap: ["CAP_REPO_LIST"] })).body["token"]), "a token that is narrowed"],
    [String((await exchange(ada.token, { scopes: [mine.uid] })).body["token"]), "a token that is narrowed"],
    [
      await platform.token(ada.uid, { client: "https://app.example.com/client.json" }),
      "an application that you let in",
    ],
  ];
  for (const [token, words] of asks) {
    const answer = await askForToken(platform, token);
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.body.message, new RegExp(words));
  }
  const anonymous = await platform.call("POST", "/iam/v2/personalTokens", { body: { name: "x" } });
  assert.equal(anonymous.status, 401);
  const registry = String((await logIn(platform, (await makeToken(platform, ada.token)).token)).body["token"]);
  assert.equal((await askForToken(platform, registry)).status, 401);
});

test("who asks for a token for somebody else, or with a secret of his own choice, gets neither", async () => {
  const [ada, eve] = [await person(), await person()];
  const chosen = `mrg_pat_${"a".repeat(40)}`;
  const fields = { identity: ada.uid, token: chosen, hint: "aaaa", uid: `${ada.uid}/0123456789abcdef` };
  const made = await makeToken(platform, eve.token, fields);
  assert.equal(made["identity"], eve.uid);
  assert.notEqual(made.token, chosen);
  assert.notEqual(made.uid, fields.uid);
  assert.equal((await get("/iam/v2/groups", chosen)).status, 401);
});

test("another organization sees, revokes and narrows nothing of it, and learns of no group", async () => {
  const [ada, mallory] = [await person(), await person(theirs.provider)];
  const { uid } = await makeToken(platform, ada.token);
  for (const token of [theirs.owner, mallory.token]) {
    assert.equal((await get(`/iam/v2/personalTokens/${uid}`, token)).status, 404);
    assert.equal((await platform.call("DELETE", `/iam/v2/personalTokens/${uid}`, { token })).status, 404);
    for (const query of [`identity=${ada.uid}`, `group=${mine.uid}`, ""]) {
      const { body } = await get(`/iam/v2/personalTokens?${query}`, token);
      const found = (body["personalTokens"] as Json[]).map((one) => one["identity"]);
      assert.ok(!found.includes(ada.uid), query);
    }
  }
  const [there, never] = [await team(), `${mine.uid}/0123456789abcdef`];
  const answers = await Promise.all(
    [there, never, mine.uid].map(async (group) => {
      const { status, body } = await askForToken(platform, mallory.token, { groups: [group] });
      return JSON.stringify([status, body.message, body.details]);
    }),
  );
  assert.equal(new Set(answers).size, 1, String(answers));
});

test("a uid that is there and one that is not are answered alike, and so are tokens that never were", async () => {
  const [ada, eve] = [await person(), await person()];
  const made = await makeToken(platform, ada.token);
  const unknown = `${ada.uid}/0123456789abcdef`;
  const shape = ({ status, text }: Answer, uid: string): string => `${status} ${text.replaceAll(uid, "…")}`;
  for (const method of ["GET", "DELETE"]) {
    const [there, not] = await Promise.all(
      [made.uid, unknown].map(async (uid) =>
        shape(await platform.call(method, `/iam/v2/personalTokens/${uid}`, { token: eve.token }), uid),
      ),
    );
    assert.equal(there, not);
    assert.match(String(there), /^404/);
  }
  await platform.call("DELETE", `/iam/v2/personalTokens/${made.uid}`, { token: ada.token });
  const wrong: string[] = [
    made.token,
    `mrg_pat_${"A".repeat(40)}`,
    "mrg_pat_",
    made.token.slice(0, -1),
    `${made.token}x`,
  ];
  const said = await Promise.all(
    wrong.map(async (token) => {
      const { status, body } = await get("/iam/v2/groups", token);
      return JSON.stringify([status, body.message]);
    }),
  );
  assert.deepEqual(new Set(said), new Set(['[401,"Unauthenticated: the token was not accepted"]']));
  const docker = await Promise.all(wrong.map(async (token) => (await logIn(platform, token)).status));
  assert.deepEqual(new Set(docker), new Set([401]));
});

test("a token that reads revokes nothing, its person's own included", async () => {
  const admin = await platform.token();
  const ada = await person();
  const reading = (await platform.ok("GET", `/iam/v2/roles/${await platform.role("viewer")}`))["capabilities"];
  const reader = await makeToken(platform, admin, { capabilities: reading });
  const hers = await makeToken(platform, ada.token);
  for (const uid of [hers.uid, reader.uid])
    assert.equal((await platform.call("DELETE", `/iam/v2/personalTokens/${uid}`, { token: reader.token })).status, 403);
  assert.equal((await get("/iam/v2/groups", hers.token)).status, 200);
  assert.equal((await platform.call("DELETE", `/iam/v2/personalTokens/${reader.uid}`, { token: admin })).status, 200);
});

test("groups of the identity provider give a token nothing, and whoever has no other rights is refused with the reason", async () => {
  const provider = await peopleOf(platform, issuer, { group: mine.uid, groupsClaim: "groups" });
  await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${provider}`, {
    externalGroupId: "developers",
    scope: mine.uid,
    roleUid: await platform.role("registry.push"),
  });
  const claims = { groups: ["developers"] };
  const ada = await signInAs(platform, issuer, provider, "grouped", claims);
  assert.equal((await get(`/iam/v2/groups/${mine.uid}`, ada.token)).status, 200);
  const refused = await askForToken(platform, ada.token);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /all your rights come from groups of your identity provider/);
  await platform.bind(mine.uid, ada.uid, await platform.role("registry.pull"));
  const { token } = await makeToken(platform, ada.token);
  assert.deepEqual(grantedActions(await logIn(platform, ada.token, scope("acme/app"))), ["pull", "push"]);
  assert.deepEqual(grantedActions(await logIn(platform, token, scope("acme/app"))), ["pull"]);
});

test("over gRPC a revoked token is refused at once", async () => {
  const ada = await person();
  const made = await makeToken(platform, ada.token);
  const ask = () => platform.grpc.call(GroupsService.method.listGroups, {}, made.token);
  assert.equal((await ask()).error, undefined);
  await platform.call("DELETE", `/iam/v2/personalTokens/${made.uid}`, { token: ada.token });
  assert.equal((await ask()).error?.code, 16);
});
