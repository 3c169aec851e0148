import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ExternalGroupRoleMappingsService } from "@moorage/api";
import { decodeJwt } from "jose";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  reason,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

// The groups in a provider's token give roles, as long as the token lasts, and never more than the mapping's creator
// held. Source: docs/contract.md, "Resources" and "Capabilities and roles".
let platform: Platform;
let issuer: Issuer;
let root: string;
let viewer: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
  root = platform.organization;
  viewer = await platform.role("viewer");
});
after(async () => {
  await issuer.close();
  await platform.close();
});

const METHODS = ExternalGroupRoleMappingsService.method;
const PATH = "/iam/v2/externalGroupRoleMappings";
const newGroup = async (parent = root): Promise<string> => (await platform.group(parent)).uid;
const provider = async (group: string): Promise<string> =>
  (
    await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
      name: "login",
      oidc: { issuer: issuer.url, clientId: "moorage", groupsClaim: "groups" },
    })
  ).uid;
const map = (to: string, externalGroupId: string, scope: string, roleUid = viewer): Promise<Json> =>
  platform.ok("POST", `${PATH}/${to}`, { externalGroupId, roleUid, scope });
const roleOf = async (group: string, ...capabilities: string[]): Promise<string> =>
  (await platform.ok("POST", `/iam/v2/roles/${group}`, { name: `role ${capabilities.length}`, capabilities })).uid;

let people = 0;
interface Tokens {
  token: string;
  refreshToken: string;
}
/**
 * Signs in a person with these groups. The ID token is valid for five minutes, the access token exchanged for it for an
 * hour.
 */
async function signIn(
  to: string,
  groups: unknown,
  { subject = `person ${(people += 1)}`, query = "", claims = {} } = {},
): Promise<Tokens> {
  const now = Math.floor(platform.clock.nowMs() / 1000);
  const bearer = await issuer.sign({
    iss: issuer.url,
    aud: "moorage",
    sub: subject,
    iat: now,
    exp: now + 300,
    groups,
    ...claims,
  });
  const answer = await platform.call("GET", `/sts/exchange?identity_provider=${to}${query}`, { token: bearer });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as Tokens;
}
const look = async (group: string, token: string): Promise<number> =>
  (await platform.call("GET", `/iam/v2/groups/${group}`, { token })).status;
const listed = async (token: string): Promise<string[]> =>
  (await rows((await platform.call("GET", "/iam/v2/groups", { token })).body, "groups")).map(({ uid }) => uid);

describe("mappings", () => {
  test("can be created, read, updated and deleted", async () => {
    const group = await newGroup();
    const below = await newGroup(group);
    const [one, two] = [await provider(group), await provider(below)];
    const token = await platform.token();
    const made = await map(one, "engineers", group);
    assert.deepEqual(made, {
      uid: made.uid,
      identityProviderUid: one,
      externalGroupId: "engineers",
      roleUid: viewer,
      scope: group,
      createTime: made.createTime,
    });
    assert.ok(made.uid.startsWith(`${one}/`));
    assert.deepEqual((await both(platform, METHODS.getExternalGroupRoleMapping, { uid: made.uid }, token)).body, made);
    const other = await map(two, "engineers", below);
    const list = async (request: object) =>
      rows(
        (await both(platform, METHODS.listExternalGroupRoleMappings, request, token)).body,
        "externalGroupRoleMappings",
      );
    assert.deepEqual(await list({ uidp: { descendantsOf: group } }), [made, other]);
    assert.deepEqual(await list({ identityProviderUid: one }), [made]);
    assert.deepEqual(await list({ uidp: { childrenOf: two } }), [other]);
    assert.deepEqual(
      (
        await both(
          platform,
          METHODS.listExternalGroupRoleMappings,
          {},
          await platform.token(await platform.identity(root)),
        )
      ).body["externalGroupRoleMappings"],
      [],
    );

    const editor = await platform.role("editor");
    const moved = await platform.ok("PATCH", `${PATH}/${made.uid}`, {
      scope: below,
      roleUid: editor,
      externalGroupId: "unread",
    });
    assert.deepEqual(moved, { ...made, scope: below, roleUid: editor });
    for (const field of ["externalGroupId", "identity_provider_uid", "uid"]) {
      assert.deepEqual(
        blamed(await platform.call("PATCH", `${PATH}/${made.uid}?updateMask=${field}`, { token, body: {} })),
        ["updateMask"],
        field,
      );
    }
    assert.equal((await platform.call("DELETE", `${PATH}/${made.uid}`, { token })).status, 200);
    assert.equal((await both(platform, METHODS.getExternalGroupRoleMapping, { uid: made.uid }, token)).status, 404);
  });

  test("an invalid mapping is not created, and the error names every invalid field; its scope is the provider's group or below it", async () => {
    const group = await newGroup();
    const to = await provider(await newGroup(group));
    const token = await platform.token();
    const wrong = async (externalGroupRoleMapping: object): Promise<string[]> =>
      blamed(
        await both(platform, METHODS.createExternalGroupRoleMapping, { parent: to, externalGroupRoleMapping }, token),
      );
    assert.deepEqual(await wrong({}), ["externalGroupId", "roleUid", "scope"]);
    const own = to.slice(0, to.lastIndexOf("/"));
    for (const scope of [group, root, await newGroup(), newUid(own), to, "nowhere"])
      assert.deepEqual(await wrong({ externalGroupId: "g", roleUid: viewer, scope }), ["scope"], scope);
    const elsewhere = await roleOf(await newGroup());
    assert.deepEqual(await wrong({ externalGroupId: "g", roleUid: elsewhere, scope: own }), ["roleUid"]);
    assert.deepEqual(await wrong({ externalGroupId: "g".repeat(257), roleUid: "none", scope: root }), [
      "externalGroupId",
      "scope",
      "roleUid",
    ]);
    assert.equal(
      (
        await both(
          platform,
          METHODS.createExternalGroupRoleMapping,
          { parent: newUid(group), externalGroupRoleMapping: {} },
          token,
        )
      ).status,
      404,
    );
    const made = await map(to, "g", own);
    for (const fields of [{ scope: group }, { scope: "" }, { roleUid: elsewhere }])
      assert.equal((await platform.call("PATCH", `${PATH}/${made.uid}`, { token, body: fields })).status, 400);
    assert.deepEqual(
      await rows(platform.ok("GET", `${PATH}?identity_provider_uid=${to}`), "externalGroupRoleMappings"),
      [made],
    );
  });

  test("a caller maps no role with more rights than it holds on the scope", async () => {
    const group = await newGroup();
    const [here, there] = [await newGroup(group), await newGroup(group)];
    const to = await provider(group);
    const uid = await platform.identity(group);
    const manage = await roleOf(
      group,
      "CAP_IAM_IDENTITY_PROVIDERS_CREATE",
      "CAP_IAM_IDENTITY_PROVIDERS_UPDATE",
      "CAP_IAM_IDENTITY_PROVIDERS_LIST",
      "CAP_IAM_ROLE_BINDINGS_CREATE",
    );
    await platform.bind(group, uid, manage);
    await platform.bind(here, uid, viewer);
    const token = await platform.token(uid);
    const make = (roleUid: string, scope: string) =>
      platform.call("POST", `${PATH}/${to}`, { token, body: { externalGroupId: "g", roleUid, scope } });
    const owner = await platform.role("owner");
    const asked = [
      await make(viewer, there),
      await make(viewer, group),
      await make(owner, here),
      await make(viewer, here),
      await make(manage, group),
    ];
    const statuses = asked.map(({ status }) => status);
    assert.deepEqual(statuses, [403, 403, 403, 200, 200]);
    const made = asked[3]?.body.uid;
    const change = async (fields: object): Promise<number> =>
      (await platform.call("PATCH", `${PATH}/${made}`, { token, body: fields })).status;
    assert.deepEqual(
      [await change({ scope: group }), await change({ roleUid: owner }), await change({ roleUid: manage })],
      [403, 403, 200],
    );
    const without = await platform.identity(group);
    await platform.bind(
      group,
      without,
      await roleOf(group, "CAP_IAM_IDENTITY_PROVIDERS_CREATE", "CAP_IAM_IDENTITY_PROVIDERS_LIST"),
    );
    const unbound = await both(
      platform,
      METHODS.createExternalGroupRoleMapping,
      { parent: to, externalGroupRoleMapping: {} },
      await platform.token(without),
    );
    assert.equal(unbound.status, 403, "mappings need the right to bind as well");
  });

  test("several of one provider are deleted together; those that are gone are passed over", async () => {
    const group = await newGroup();
    const [to, other] = [await provider(group), await provider(await newGroup(group))];
    const made = await Promise.all(["a", "b", "c"].map((each) => map(to, each, group)));
    const strange = await map(other, "a", other.slice(0, other.lastIndexOf("/")));
    const token = await platform.token();
    const remove = (names: string[], parent = to): Promise<Answer> =>
      platform.call("POST", `${PATH}:batchDelete`, { token, body: { parent, names } });
    const [a = "", b = "", c = ""] = made.map(({ uid }) => uid);
    const wrong = await Promise.all([
      remove([]),
      remove([a, a]),
      remove(Array.from({ length: 101 }, () => newUid(to))),
    ]);
    assert.deepEqual(
      wrong.map((answer) => [answer.status, blamed(answer)]),
      [
        [400, ["names"]],
        [400, ["names"]],
        [400, ["names"]],
      ],
    );
    const foreign = await remove([a, strange.uid]);
    assert.deepEqual([foreign.status, blamed(foreign)], [400, ["names[1]"]], "another provider's");
    assert.deepEqual(blamed(await remove([newUid(group), a])), ["names[0]"]);
    assert.equal((await remove([a], newUid(group))).status, 404);
    assert.equal(
      (await rows(platform.ok("GET", `${PATH}?identity_provider_uid=${to}`), "externalGroupRoleMappings")).length,
      3,
      "nothing went",
    );
    const gone = await remove([newUid(to), b, a]);
    assert.deepEqual([gone.status, gone.body], [200, { parent: to, externalGroupRoleMappings: [made[1], made[0]] }]);
    const { message } = await platform.grpc.call(
      METHODS.batchDeleteExternalGroupRoleMappings,
      { parent: to, names: [c] },
      token,
    );
    assert.equal(message?.externalGroupRoleMappings[0]?.externalGroupId, "c");
    const again = await remove([a, b, c]);
    assert.deepEqual([again.status, again.body["externalGroupRoleMappings"]], [200, []]);
  });

  test("the same mapping is there once", async () => {
    const group = await newGroup();
    const to = await provider(group);
    const token = await platform.token();
    const [first, second] = [await map(to, "twice", group), await map(to, "another", group)];
    const roleUid = String(first["roleUid"]);
    const body = { externalGroupId: "twice", roleUid, scope: group };
    const twice = await platform.call("POST", `${PATH}/${to}`, { token, body });
    assert.deepEqual([twice.status, reason(twice)], [409, "ALREADY_EXISTS"], twice.text);
    const narrower = await newGroup(group);
    await platform.ok("POST", `${PATH}/${to}`, { ...body, scope: narrower });
    const made = await platform.ok("POST", `${PATH}/${to}`, { ...body, roleUid: await platform.role("editor") });
    const changed = await platform.call("PATCH", `${PATH}/${made.uid}`, { token, body: { roleUid } });
    assert.deepEqual([changed.status, reason(changed)], [409, "ALREADY_EXISTS"], "nor by a change");
    assert.equal((await platform.call("PATCH", `${PATH}/${second.uid}`, { token, body: { roleUid } })).status, 200);
  });
});

describe("rights from groups", () => {
  test("a member of the group holds the role there and below, in get and list; others hold nothing", async () => {
    const group = await newGroup();
    const [team, apart] = [await newGroup(group), await newGroup(group)];
    const below = await newGroup(team);
    const to = await provider(group);
    await map(to, "engineers", team);
    const { token } = await signIn(to, ["sales", "engineers"]);
    assert.deepEqual(
      [await look(team, token), await look(below, token), await look(apart, token), await look(group, token)],
      [200, 200, 404, 404],
    );
    assert.deepEqual((await listed(token)).toSorted(), [team, below].toSorted());
    for (const groups of [
      ["sales"],
      [],
      undefined,
      null,
      7,
      { engineers: true },
      [["engineers"]],
      ["Engineers"],
      "engineers,sales",
    ]) {
      const other = (await signIn(to, groups)).token;
      assert.deepEqual([await look(team, other), await listed(other)], [404, []], JSON.stringify(groups));
    }
    assert.equal(await look(team, (await signIn(to, "engineers")).token), 200, "one group as one text");
    assert.equal(
      await look(team, (await signIn(to, [7, null, "engineers"])).token),
      200,
      "a bad entry takes nothing from the others",
    );
  });

  test("a new token without the group has no rights, even right after one with the group", async () => {
    const group = await newGroup();
    const to = await provider(group);
    await map(to, "engineers", group);
    const first = await signIn(to, ["engineers"], { subject: "ann" });
    const second = await signIn(to, [], { subject: "ann" });
    assert.equal(decodeJwt(first.token).sub, decodeJwt(second.token).sub);
    assert.deepEqual([await look(group, first.token), await look(group, second.token)], [200, 404]);
  });

  test("a change of the mapping, its role or its provider counts from the next request on", async () => {
    const group = await newGroup();
    const [team, other] = [await newGroup(group), await newGroup(group)];
    const role = await roleOf(group, "CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST");
    const to = await provider(group);
    const made = await map(to, "engineers", team, role);
    const { token } = await signIn(to, ["engineers", "late"]);
    assert.deepEqual(
      [await look(team, token), await look(team, token)],
      [200, 200],
      "asked twice, so that an answer may be kept",
    );
    await platform.ok("PATCH", `${PATH}/${made.uid}`, { scope: other });
    assert.deepEqual([await look(team, token), await look(other, token), await listed(token)], [404, 200, [other]]);
    await platform.ok("PATCH", `/iam/v2/roles/${role}`, { capabilities: ["CAP_IAM_ROLES_LIST"] });
    assert.deepEqual([await look(other, token), await listed(token)], [404, []]);
    await platform.ok("PATCH", `/iam/v2/roles/${role}`, { capabilities: ["CAP_IAM_GROUPS_LIST"] });
    assert.equal(await look(other, token), 200);
    await platform.ok("DELETE", `${PATH}/${made.uid}`);
    assert.deepEqual([await look(other, token), await listed(token)], [404, []]);
    await map(to, "late", team, role);
    assert.equal(await look(team, token), 200, "a mapping made later counts for who is in the group");
    await platform.ok("DELETE", `/iam/v2/groups/${team}`);
    assert.deepEqual(
      await rows(platform.ok("GET", `${PATH}?identity_provider_uid=${to}`), "externalGroupRoleMappings"),
      [],
      "a mapping to a group goes with it",
    );
    await platform.ok("DELETE", `/iam/v2/identityProviders/${to}`);
    assert.equal(await look(other, token), 401, "with the provider its people are out");
  });

  test("they end when the ID token that named the groups expires, also for cached answers, after a refresh and after an exchange", async (t) => {
    t.after(() => {
      platform.clock.offsetMs = 0;
    });
    const group = await newGroup();
    const bound = await newGroup();
    const to = await provider(group);
    await map(to, "engineers", group);
    const made = await signIn(to, ["engineers"]);
    await platform.bind(bound, String(decodeJwt(made.token).sub), viewer);
    const trade = async (path: string, bearer: string): Promise<Json> =>
      (await platform.call("POST", path, { token: bearer })).body;
    const refreshed = (await trade("/sts/exchange_refresh_token", made.refreshToken)) as unknown as Record<
      "token" | "refreshToken",
      Tokens
    >;
    const narrower = (await trade("/sts/exchange?cap=CAP_IAM_GROUPS_LIST", made.token)) as unknown as Tokens;
    const tokens = [made.token, refreshed.token.token, narrower.token];
    for (const token of [...tokens, ...tokens])
      assert.deepEqual([await look(group, token), await look(bound, token)], [200, 200]);
    const until = (token: string): unknown => decodeJwt(token)["groups_exp"];
    assert.deepEqual(
      tokens.map(until),
      tokens.map(() => until(made.token)),
      "nothing moves the end",
    );
    platform.clock.offsetMs = 270_000;
    for (const token of [...tokens, ...tokens]) assert.equal(await look(group, token), 200, "not before");
    // Half a minute later the answers would still be cached, for nothing was written.
    platform.clock.offsetMs = 301_000;
    for (const token of tokens)
      assert.deepEqual(
        [await look(group, token), await look(bound, token), await listed(token)],
        [404, 200, [bound]],
        "what is bound stays",
      );
    const later = (await trade("/sts/exchange_refresh_token", refreshed.refreshToken.token)) as unknown as Record<
      "token",
      Tokens
    >;
    assert.deepEqual(
      [await look(group, later.token.token), await look(bound, later.token.token), until(later.token.token)],
      [404, 200, undefined],
    );
  });

  test("capabilities and scopes narrow them like other rights", async () => {
    const group = await newGroup();
    const [team, other] = [await newGroup(group), await newGroup(group)];
    const to = await provider(group);
    await map(to, "engineers", group);
    const inTeam = (await signIn(to, ["engineers"], { query: `&scopes=${team}` })).token;
    assert.deepEqual([await look(team, inTeam), await look(other, inTeam), await listed(inTeam)], [200, 404, [team]]);
    const roles = (await signIn(to, ["engineers"], { query: "&cap=CAP_IAM_ROLES_LIST" })).token;
    assert.deepEqual([await look(team, roles), await listed(roles)], [404, []]);
  });

  test("a registry token has them too, until the same time", async (t) => {
    t.after(() => {
      platform.clock.offsetMs = 0;
    });
    const name = `org-${(people += 1)}`;
    const group = (await platform.group(root, { name })).uid;
    await platform.repo(group, { name: "api" });
    const to = await provider(group);
    const made = await map(to, "engineers", group);
    const { token } = await signIn(to, ["engineers"]);
    const repository = `${(await platform.ok("GET", `/iam/v2/groups/${root}`)).name}/${name}/api`;
    const basic = (secret: string) => ({
      headers: { authorization: `Basic ${Buffer.from(`ann:${secret}`).toString("base64")}` },
    });
    const registry = async (): Promise<string> =>
      String((await platform.call("GET", `/token?scope=repository:${repository}:pull`, basic(token))).body["token"]);
    const path = `/v2/${repository}/manifests/v1`;
    const mediaType = "application/vnd.oci.image.index.v1+json";
    const pusher = await platform.token(platform.owner, { audience: new URL(platform.bootstrap.registryUrl).host });
    const raw = JSON.stringify({ schemaVersion: 2, mediaType, manifests: [] });
    assert.equal(
      (await platform.call("PUT", path, { token: pusher, raw, headers: { "content-type": mediaType } })).status,
      201,
    );
    const pull = async (bearer: string): Promise<number> =>
      (await platform.call("GET", path, { token: bearer })).status;
    const first = await registry();
    assert.deepEqual([await pull(first), await pull(first)], [200, 200]);
    await platform.ok("DELETE", `${PATH}/${made.uid}`);
    assert.equal(await pull(first), 403);
    await map(to, "engineers", group);
    assert.equal(await pull(first), 200);
    assert.equal(decodeJwt(first)["groups_exp"], decodeJwt(token)["groups_exp"]);
    // Registry tokens are valid for five minutes, as this ID token is: the test uses a registry token that is issued
    // later, to see the end of the groups.
    platform.clock.offsetMs = 200_000;
    const late = await registry();
    assert.deepEqual([await pull(late), await pull(late)], [200, 200]);
    platform.clock.offsetMs = 301_000;
    assert.equal(await pull(late), 403);
  });

  test("when there are more groups than fit in a token, the mapped groups are in it", async () => {
    const group = await newGroup();
    const to = await provider(group);
    await map(to, "the last one", group);
    const many = Array.from({ length: 180 }, (_, at) => `department ${at} of a large organization`);
    const { token } = await signIn(to, [...many, "the last one"]);
    assert.equal(await look(group, token), 200);
    const carried = decodeJwt(token)["groups"] as string[];
    assert.deepEqual([carried[0], carried[1]], ["the last one", many[0]]);
    assert.ok(
      carried.length > 20 && carried.length < many.length && token.length < 8192,
      `${carried.length} groups in ${token.length} characters`,
    );
    // Other alphabets and escaped characters take several bytes each.
    const wide = Array.from({ length: 12 }, (_, at) => `${at} ${"部".repeat(60)}${"\u0001".repeat(30)}`);
    const claims = { name: "部".repeat(400), title: "\u0001".repeat(300) };
    const { token: wider } = await signIn(to, [...wide, "the last one"], { subject: "部".repeat(255), claims });
    assert.deepEqual([await look(group, wider), wider.length < 8192], [200, true]);
  });
});
