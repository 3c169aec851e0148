import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Capability, GroupsService, RoleBindingsService, RolesService } from "@moorage/api";
import { decodeJwt } from "jose";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { openIssuer } from "../../../server/test/support/issuer.ts";
import { type Answer, type Platform, reason, startPlatform } from "../../../server/test/support/platform.ts";

// Attempts to get more rights than the caller holds, beside those of permissions.test.ts and invites.test.ts: each is
// made, and must leave everything as it was.
let platform: Platform;
let root: string;
let owner: string;
before(async () => {
  platform = await startPlatform();
  root = platform.organization;
  owner = await platform.token();
});
after(() => platform.close());

let count = 0;
const customRole = async (parent: string, capabilities: string[]): Promise<string> =>
  (await platform.ok("POST", `/iam/v2/roles/${parent}`, { name: `custom ${(count += 1)}`, capabilities })).uid;
const newGroup = async (parent = root): Promise<string> => (await platform.group(parent)).uid;
/** A new identity of the organization that holds the capabilities on the group, and its token. */
async function holder(group: string, capabilities: string[]): Promise<{ uid: string; token: string }> {
  const uid = await platform.identity(root);
  await platform.bind(group, uid, await customRole(root, capabilities));
  return { uid, token: await platform.token(uid) };
}
function denied(answer: Answer, missing?: string): void {
  assert.deepEqual([answer.status, reason(answer)], [403, "PERMISSION_DENIED"], answer.text);
  if (missing !== undefined)
    assert.ok(answer.body.details[0]?.metadata?.["missing"]?.split(",").includes(missing), answer.text);
}
const violationsOf = ({ body }: Answer): [string, string, string][] =>
  body.details
    .flatMap(({ violations = [] }) => violations)
    .map(({ type, subject, description }) => [type, subject, description]);

describe("a role that is bound already", () => {
  test("gets no capability from a caller who holds that capability on only some of the groups where it matters", async () => {
    const [group, other] = [await newGroup(), await newGroup()];
    const role = await customRole(root, ["CAP_REPO_LIST"]);
    const target = await platform.identity(root);
    for (const place of [group, other]) await platform.bind(place, target, role);
    const { uid, token } = await holder(root, ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_ROLES_LIST", "CAP_REPO_LIST"]);
    const capabilities = [Capability.CAP_REPO_LIST, Capability.CAP_REPO_DELETE];
    const more = { role: { uid: role, name: "role", capabilities }, updateMask: { paths: ["capabilities"] } };
    denied(await both(platform, RolesService.method.updateRole, more, token), "CAP_REPO_DELETE");
    await platform.bind(group, uid, await customRole(root, ["CAP_REPO_DELETE"]));
    denied(await both(platform, RolesService.method.updateRole, more, token), "CAP_REPO_DELETE");
    await platform.bind(other, uid, await customRole(root, ["CAP_REPO_DELETE"]));
    denied(await both(platform, RolesService.method.updateRole, more, token), "CAP_REPO_DELETE");
    assert.deepEqual((await platform.ok("GET", `/iam/v2/roles/${role}`))["capabilities"], ["CAP_REPO_LIST"]);
    await platform.bind(root, uid, await customRole(root, ["CAP_REPO_DELETE"]));
    const changed = await platform.call("PATCH", `/iam/v2/roles/${role}`, {
      token,
      body: { capabilities: ["CAP_REPO_LIST", "CAP_REPO_DELETE"] },
    });
    assert.equal(changed.status, 200, changed.text);
  });

  test("gets none with its owner's token either, when that is narrowed to fewer capabilities or to a subgroup", async () => {
    const group = await newGroup();
    const role = await customRole(root, ["CAP_REPO_LIST"]);
    await platform.bind(group, await platform.identity(root), role);
    const narrowed = async (query: string): Promise<string> =>
      String((await platform.call("GET", `/sts/exchange?${query}`, { token: owner })).body["token"]);
    const body = { capabilities: ["CAP_REPO_LIST", "CAP_REPO_DELETE"] };
    const roles = "cap=CAP_IAM_ROLES_UPDATE&cap=CAP_IAM_ROLES_LIST&cap=CAP_REPO_LIST";
    denied(
      await platform.call("PATCH", `/iam/v2/roles/${role}`, { token: await narrowed(roles), body }),
      "CAP_REPO_DELETE",
    );
    assert.equal(
      (await platform.call("PATCH", `/iam/v2/roles/${role}`, { token: await narrowed(`scopes=${group}`), body }))
        .status,
      404,
    );
  });
});

describe("bindings and identities cannot be moved", () => {
  test("a binding cannot move to another group, nor a role or an identity to another parent", async () => {
    const [weak, strong] = [await newGroup(), await newGroup()];
    const identity = await platform.identity(weak);
    const binding = await platform.bind(weak, identity, await platform.role("viewer"));
    for (const [path, body] of [
      [`/iam/v2/roleBindings/${binding}`, { group: { uid: strong } }],
      [`/iam/v2/roleBindings/${binding}`, { parent: strong }],
      [`/iam/v2/identities/${identity}`, { parent: strong }],
      [`/iam/v2/identities/${identity}?updateMask=parent`, { name: "x" }],
      [`/iam/v2/roleBindings/${binding}?updateMask=group`, { group: { uid: strong } }],
    ] as const) {
      const { status, text } = await platform.call("PATCH", path, { token: owner, body });
      assert.ok([200, 400].includes(status), `${path}: ${text}`);
    }
    const { body } = await platform.call("GET", `/iam/v2/roleBindings/${binding}`, { token: owner });
    assert.equal((body["group"] as { uid: string }).uid, weak);
    assert.equal(
      (await platform.call("GET", `/iam/v2/groups/${strong}`, { token: await platform.token(identity) })).status,
      404,
    );
  });

  test("the claim match of an identity with more rights cannot be changed in any part, nor removed by a mask", async () => {
    const group = await newGroup();
    const { token } = await holder(group, ["CAP_IAM_IDENTITY_LIST", "CAP_IAM_IDENTITY_UPDATE"]);
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const issuerKeys = JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k" }] });
    const claimMatch = {
      issuer: "https://ci.example.com",
      subjectPattern: "a|b",
      audience: "here",
      claims: { env: "prod" },
      claimPatterns: { ref: "main" },
    };
    const staticKeys = {
      issuer: "offline",
      subject: "s",
      issuerKeys,
      audiences: ["here"],
      expirationTime: "2100-01-01T00:00:00Z",
    };
    for (const [relationship, changes] of [
      [
        { claimMatch },
        [
          ["claimMatch.issuer", { claimMatch: { issuer: "https://mine.example.com" } }],
          ["claimMatch.subjectPattern", { claimMatch: { subjectPattern: ".*" } }],
          ["claimMatch.audience", { claimMatch: { audience: "mine" } }],
          ["claimMatch.audiencePattern", { claimMatch: { audiencePattern: ".*" } }],
          ["claimMatch.claims", { claimMatch: { claims: {} } }],
          ["claimMatch.claimPatterns", { claimMatch: { claimPatterns: { ref: ".*" } } }],
          ["claimMatch", {}],
          ["staticKeys", { staticKeys }],
          ["*", { name: "x" }],
        ],
      ],
      [
        { staticKeys },
        [
          [
            "staticKeys.issuerKeys",
            {
              staticKeys: {
                issuerKeys: JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "mine" }] }),
              },
            },
          ],
          ["staticKeys.expirationTime", { staticKeys: {} }],
          ["staticKeys.audiences", { staticKeys: { audiences: [] } }],
          ["staticKeys.subject", { staticKeys: { subject: "mine" } }],
          ["claimMatch", { claimMatch }],
        ],
      ],
    ] as [object, [string, object][]][]) {
      const { uid } = await platform.ok("POST", `/iam/v2/identities/${group}`, { name: "strong", ...relationship });
      await platform.bind(group, uid, await platform.role("viewer"));
      const before = await platform.ok("GET", `/iam/v2/identities/${uid}`);
      for (const [mask, body] of changes) {
        denied(
          await platform.call("PATCH", `/iam/v2/identities/${uid}?updateMask=${mask}`, { token, body }),
          "CAP_TAG_LIST",
        );
      }
      assert.deepEqual(await platform.ok("GET", `/iam/v2/identities/${uid}`), before);
    }
  });
});

test("no method and no caller can change a built-in role", async () => {
  const uid = await platform.role("viewer");
  const before = await platform.ok("GET", `/iam/v2/roles/${uid}`);
  const body = { name: "viewer", capabilities: ["CAP_REPO_DELETE"] };
  for (const mask of ["name", "description", "capabilities", "*"]) {
    const answer = await platform.call("PATCH", `/iam/v2/roles/${uid}?updateMask=${mask}`, { token: owner, body });
    assert.deepEqual(
      violationsOf(answer).map(([type, subject]) => [type, subject]),
      [["BUILT_IN_RESOURCE", uid]],
      mask,
    );
  }
  const deleted = await both(platform, RolesService.method.deleteRole, { uid }, owner);
  assert.deepEqual(
    violationsOf(deleted).map(([type]) => type),
    ["BUILT_IN_RESOURCE"],
  );
  assert.equal((await platform.call("PUT", `/iam/v2/roles/${uid}`, { token: owner, body: before })).status, 405);
  // No capability can be added to them, and no role put below them.
  const role = { name: "mine", capabilities: [Capability.CAP_REPO_LIST] };
  assert.equal((await both(platform, RolesService.method.createRole, { parent: uid, role }, owner)).status, 404);
  const { message: made, error } = await platform.grpc.call(
    RolesService.method.createRole,
    { parent: "", role },
    owner,
  );
  assert.deepEqual([made, (error as { code?: number } | undefined)?.code], [undefined, 3]);
  const roleBinding = { identityUid: platform.owner, roleUid: uid };
  const bound = await both(platform, RoleBindingsService.method.createRoleBinding, { parent: uid, roleBinding }, owner);
  assert.equal(bound.status, 404, bound.text);
  assert.deepEqual(await platform.ok("GET", `/iam/v2/roles/${uid}`), before);
});

describe("the error of a deletion lists everything that prevents it", () => {
  test("for a role with bindings, invites and mappings that is a default role", async () => {
    const group = await newGroup();
    const role = await customRole(group, ["CAP_REPO_LIST"]);
    for (let times = 0; times < 2; times += 1) await platform.bind(group, await platform.identity(group), role);
    await platform.ok("POST", `/iam/v2/groupInvites/${group}`, { roleUid: role, ttl: "60s" });
    const oidc = { issuer: "https://login.example.com", clientId: "moorage", groupsClaim: "groups" };
    const { uid: provider } = await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
      name: "login",
      defaultRole: role,
      oidc,
    });
    await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${provider}`, {
      externalGroupId: "devs",
      roleUid: role,
      scope: group,
    });
    const answer = await both(platform, RolesService.method.deleteRole, { uid: role }, owner);
    assert.deepEqual(violationsOf(answer), [
      ["RESOURCE_IN_USE", role, "the role is still bound: 2"],
      ["RESOURCE_IN_USE", role, "invites still give the role: 1"],
      ["RESOURCE_IN_USE", role, "mappings still give the role: 1"],
      ["RESOURCE_IN_USE", role, "identity providers still have the role as their default: 1"],
    ]);
  });

  test("for a group, with each kind of resource and its count", async () => {
    const group = await newGroup();
    await newGroup(group);
    for (let times = 0; times < 2; times += 1) await platform.repo(group);
    for (let times = 0; times < 3; times += 1) await platform.identity(group);
    const role = await customRole(group, ["CAP_REPO_LIST"]);
    await platform.ok("POST", `/iam/v2/groupInvites/${group}`, { roleUid: role, ttl: "60s" });
    await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
      name: "login",
      oidc: { issuer: "https://login.example.com", clientId: "moorage" },
    });
    const answer = await both(platform, GroupsService.method.deleteGroup, { uid: group }, owner);
    assert.deepEqual(
      violationsOf(answer),
      [
        ["groups", 1],
        ["repos", 2],
        ["identities", 3],
        ["custom roles", 1],
        ["identity providers", 1],
        ["invites", 1],
      ].map(([kind, n]) => ["RESOURCE_NOT_EMPTY", group, `the group still has ${kind}: ${n}`]),
    );
    assert.equal((await platform.call("GET", `/iam/v2/groups/${group}`, { token: owner })).status, 200);
  });
});

test("an owner of an organization cannot change, replace or delete an administrator that belongs to it", async (t) => {
  const first = await startInstallation(t);
  const { uid: org } = first.bootstrap.organization;
  const { identity: admin } = await first.addIdentity(org, "admin", "viewer");
  const { identity: ownerOfOrg } = await first.addIdentity(org, "owner of the organization", "owner");
  await first.close();
  const server = await startInstallation(t, { MOORAGE_ADMINS: admin }, first.dataDir);
  const [owners, admins] = [await server.tokenFor("platform", ownerOfOrg), await server.tokenFor("platform", admin)];
  const takeOver = { claimMatch: { issuer: "https://mine.example.com", subject: "me" } };
  const path = `/iam/v2/identities/${admin}`;
  const patch = async (token: string, json: object, query = ""): Promise<number> =>
    (await server.ask("PATCH", `${path}${query}`, { token, json })).status;
  assert.equal(await patch(owners, takeOver), 403);
  assert.equal((await server.ask("DELETE", path, { token: owners })).status, 403);
  assert.equal(await patch(owners, { description: "harmless" }), 200);
  const narrowed = (await server.ask("GET", `/sts/exchange?scopes=${org}`, { token: server.platform })).json.token;
  assert.equal(await patch(narrowed, takeOver), 403, "an administrator's narrowed token is no administrator's");
  // Another administrator can, as long as it holds what that identity holds: not after that identity made an
  // organization of its own.
  assert.equal(await patch(server.platform, takeOver), 200);
  assert.equal(
    await patch(owners, { claimMatch: { issuer: "https://other.example.com" } }, "?updateMask=claimMatch.issuer"),
    403,
  );
  const made = await server.ask("POST", "/iam/v2/groups", { token: admins, json: { name: "of-the-administrator" } });
  assert.equal(made.status, 200);
  assert.equal(await patch(server.platform, {}, "?updateMask=claimMatch"), 403);
  // It is the only owner of that organization; another one first.
  assert.equal((await server.ask("DELETE", path, { token: server.platform })).status, 400);
  const { roles } = (await server.ask("GET", "/iam/v2/roles?name=owner", { token: admins })).json as unknown as {
    roles: { uid: string }[];
  };
  const json = { identityUid: first.bootstrap.identity.uid, roleUid: roles[0]?.uid };
  const { uid: group } = made.json as unknown as { uid: string };
  assert.equal((await server.ask("POST", `/iam/v2/roleBindings/${group}`, { token: admins, json })).status, 200);
  assert.equal((await server.ask("DELETE", path, { token: server.platform })).status, 200);
});

test("an owner of an organization cannot take over an administrator who signs in through its identity provider", async (t) => {
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const allowing = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };
  const first = await startInstallation(t, allowing);
  const { uid: org } = first.bootstrap.organization;
  const { identity: ownerOfOrg } = await first.addIdentity(org, "owner of the organization", "owner");
  const { uid: provider } = await first.api("POST", `/iam/v2/identityProviders/${org}`, {
    name: "login",
    oidc: { issuer: issuer.url, clientId: "moorage" },
  });
  const now = Math.floor(Date.now() / 1000);
  const idToken = await issuer.sign({ iss: issuer.url, sub: "ann", aud: "moorage", iat: now, exp: now + 300 });
  const { token } = (await first.ask("GET", `/sts/exchange?identity_provider=${provider}`, { token: idToken })).json;
  const { sub: ann = "" } = decodeJwt(token);
  await first.close();
  const server = await startInstallation(t, { ...allowing, MOORAGE_ADMINS: ann }, first.dataDir);
  const path = `/iam/v2/identityProviders/${provider}`;
  const patch = async (bearer: string, json: object): Promise<number> =>
    (await server.ask("PATCH", path, { token: bearer, json })).status;
  const owners = await server.tokenFor("platform", ownerOfOrg);
  const oidc = { issuer: issuer.url, clientId: "moorage" };
  for (const changes of [
    { clientId: "mine" },
    { issuer: "https://mine.example.com" },
    { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" },
  ]) {
    assert.equal(await patch(owners, { oidc: { ...oidc, ...changes } }), 403, JSON.stringify(changes));
  }
  assert.equal(await patch(owners, { description: "harmless" }), 200);
  assert.equal(await patch(server.platform, { oidc: { ...oidc, clientId: "other" } }), 200);
});
