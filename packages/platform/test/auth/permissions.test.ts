import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  Capability,
  GroupsService,
  IdentitiesService,
  ReposService,
  RoleBindingsService,
  RolesService,
} from "@moorage/api";
import { BUILT_IN_ROLES, ensureBuiltInRoles } from "../../src/iam/index.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  reason,
  startPlatform,
} from "../../../server/test/support/platform.ts";

// Rights beyond a method's own rule: where they end, and that no caller gives away rights that it does not hold.
// Source: docs/contract.md, "Capabilities and roles".
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
const MANAGER = [
  "CAP_IAM_GROUPS_LIST",
  "CAP_IAM_IDENTITY_LIST",
  "CAP_IAM_IDENTITY_UPDATE",
  "CAP_IAM_ROLES_LIST",
  "CAP_IAM_ROLES_CREATE",
  "CAP_IAM_ROLES_UPDATE",
  "CAP_IAM_ROLE_BINDINGS_LIST",
  "CAP_IAM_ROLE_BINDINGS_CREATE",
  "CAP_IAM_ROLE_BINDINGS_UPDATE",
  "CAP_REPO_LIST",
];

describe("where rights end", () => {
  test("at the group: its siblings, uids that only begin alike, and its ancestors stay hidden", async () => {
    const [mine, sibling] = [await platform.group(root), await platform.group(root)];
    const [repo, other] = [await platform.repo(mine.uid), await platform.repo(sibling.uid)];
    const identity = await platform.identity(mine.uid, "owner");
    const token = await platform.token(identity);
    assert.equal((await both(platform, ReposService.method.getRepo, { uid: repo.uid }, token)).status, 200);
    for (const uid of [
      other.uid,
      `${mine.uid}0`,
      `${mine.uid}/`,
      `${mine.uid}/../${sibling.uid.split("/")[1]}`,
      mine.uid.slice(0, -1),
      `${repo.uid}0`,
    ]) {
      const answer = await both(platform, ReposService.method.getRepo, { uid }, token);
      assert.equal(answer.status, 404, uid);
    }
    for (const uid of [root, sibling.uid, `${mine.uid}0`]) {
      assert.equal(
        (await both(platform, GroupsService.method.createGroup, { parent: uid, group: { name: "mine" } }, token))
          .status,
        404,
        uid,
      );
    }
    for (const filter of [
      { descendantsOf: sibling.uid },
      { childrenOf: sibling.uid },
      { descendantsOf: mine.uid.slice(0, -1) },
      { childrenOf: `${mine.uid}0` },
      { ids: [other.uid] },
    ]) {
      const answer = await both(platform, ReposService.method.listRepos, { uidp: filter }, token);
      assert.deepEqual([answer.status, answer.body["repos"], answer.body.totalCount], [200, [], "0"]);
    }
    const wide = await both(platform, ReposService.method.listRepos, { uidp: { descendantsOf: root } }, token);
    assert.deepEqual(
      (wide.body["repos"] as Json[]).map(({ uid }) => uid),
      [repo.uid],
    );
  });

  test("with the next request after the binding, the role's capability or the identity was removed, over an open connection too", async () => {
    const group = await platform.group(root);
    const repo = await platform.repo(group.uid);
    const role = await customRole(root, ["CAP_REPO_LIST", "CAP_REPO_UPDATE"]);
    const uid = await platform.identity(root);
    const token = await platform.token(uid);
    const get = async (): Promise<number> =>
      (await both(platform, ReposService.method.getRepo, { uid: repo.uid }, token)).status;
    const first = await platform.bind(group.uid, uid, role);
    assert.equal(await get(), 200);
    await platform.ok("DELETE", `/iam/v2/roleBindings/${first}`);
    assert.equal(await get(), 404);
    const second = await platform.bind(group.uid, uid, role);
    assert.equal(await get(), 200);
    await platform.ok("PATCH", `/iam/v2/roles/${role}`, { capabilities: ["CAP_TAG_LIST"] });
    assert.equal(await get(), 404);
    await platform.ok("PATCH", `/iam/v2/roleBindings/${second}`, { roleUid: await platform.role("viewer") });
    assert.equal(await get(), 200);
    await platform.ok("PATCH", `/iam/v2/roleBindings/${second}`, { identityUid: platform.owner });
    assert.equal(await get(), 404);
    await platform.bind(root, uid, role);
    await platform.ok("DELETE", `/iam/v2/identities/${uid}`);
    assert.equal(await get(), 401);
  });

  test("at the token's own limits, which a second exchange cannot widen", async () => {
    const [one, two] = [await platform.group(root), await platform.group(root)];
    const [first, second] = [await platform.repo(one.uid), await platform.repo(two.uid)];
    const exchange = async (query: string, token = owner): Promise<string> =>
      String((await platform.call("GET", `/sts/exchange?${query}`, { token })).body["token"]);
    const reading = await exchange(
      "cap=CAP_REPO_LIST&cap=CAP_IAM_ROLE_BINDINGS_CREATE&cap=CAP_IAM_GROUPS_LIST&cap=CAP_IAM_GROUPS_CREATE",
    );
    assert.equal((await both(platform, ReposService.method.getRepo, { uid: first.uid }, reading)).status, 200);
    denied(await both(platform, ReposService.method.deleteRepo, { uid: first.uid }, reading));
    assert.equal(
      (await both(platform, GroupsService.method.getGroup, { uid: one.uid }, await exchange("cap=CAP_REPO_LIST")))
        .status,
      404,
    );
    const grant = {
      parent: one.uid,
      roleBinding: { identityUid: await platform.identity(one.uid), roleUid: await platform.role("viewer") },
    };
    denied(await both(platform, RoleBindingsService.method.createRoleBinding, grant, reading), "CAP_TAG_LIST");
    denied(
      await both(
        platform,
        GroupsService.method.createGroup,
        { group: { name: "an organization" } },
        await exchange("cap=CAP_REPO_LIST"),
      ),
    );
    const scoped = await exchange(`scopes=${one.uid}`);
    assert.equal((await both(platform, ReposService.method.getRepo, { uid: first.uid }, scoped)).status, 200);
    assert.equal((await both(platform, ReposService.method.getRepo, { uid: second.uid }, scoped)).status, 404);
    const list = await both(platform, ReposService.method.listRepos, {}, scoped);
    assert.deepEqual(
      (list.body["repos"] as Json[]).map(({ uid }) => uid),
      [first.uid],
    );
    denied(await both(platform, GroupsService.method.createGroup, { group: { name: "an organization" } }, scoped));
    const wider = await platform.call("GET", `/sts/exchange?scopes=${two.uid}`, { token: scoped });
    denied(wider);
    const same = await exchange(`scopes=${root}`, scoped);
    assert.equal((await both(platform, ReposService.method.getRepo, { uid: second.uid }, same)).status, 404);
  });
});

describe("a caller gives no rights that it does not hold", () => {
  let group: string;
  let manager: { uid: string; token: string };
  let target: string;
  before(async () => {
    ({ uid: group } = await platform.group(root));
    manager = await holder(group, MANAGER);
    target = await platform.identity(group);
  });
  const bindings = async (): Promise<string> =>
    (await platform.ok("GET", `/iam/v2/roleBindings?uidp.children_of=${group}`)).totalCount;

  test("by a binding with more capabilities than its own, or with its own on a group where it has none", async () => {
    const before = await bindings();
    for (const role of ["owner", "viewer"]) {
      denied(
        await both(
          platform,
          RoleBindingsService.method.createRoleBinding,
          { parent: group, roleBinding: { identityUid: target, roleUid: await platform.role(role) } },
          manager.token,
        ),
        "CAP_TAG_LIST",
      );
    }
    denied(
      await both(
        platform,
        RoleBindingsService.method.createRoleBinding,
        { parent: group, roleBinding: { identityUid: manager.uid, roleUid: await platform.role("owner") } },
        manager.token,
      ),
      "CAP_REPO_DELETE",
    );
    assert.equal(await bindings(), before);
    const roleUid = await customRole(root, ["CAP_REPO_LIST"]);
    const above = await both(
      platform,
      RoleBindingsService.method.createRoleBinding,
      { parent: root, roleBinding: { identityUid: manager.uid, roleUid } },
      manager.token,
    );
    assert.equal(above.status, 404);
    const given = await platform.call("POST", `/iam/v2/roleBindings/${group}`, {
      token: manager.token,
      body: { identityUid: target, roleUid },
    });
    assert.equal(given.status, 200, given.text);
  });

  test("by a batch: all or nothing, at most 25", async () => {
    const before = await bindings();
    const mine = await customRole(root, ["CAP_REPO_LIST"]);
    const request = (roleUid: string, parent = "") => ({ parent, roleBinding: { identityUid: target, roleUid } });
    const batch = async (requests: object[], parent = group, roleUid = "") =>
      both(platform, RoleBindingsService.method.batchCreateRoleBindings, { parent, requests, roleUid }, manager.token);
    denied(await batch([request(mine), request(await platform.role("owner"))]), "CAP_REPO_DELETE");
    const viewer = await platform.role("viewer");
    denied(await batch([request(viewer), request("")], group, viewer), "CAP_TAG_LIST");
    assert.equal((await batch([request(mine, group), request(mine, root)], "")).status, 404);
    const wrong = await batch([
      request(mine),
      { roleBinding: { identityUid: "nobody", roleUid: mine } },
      request("nothing"),
    ]);
    assert.deepEqual([wrong.status, blamed(wrong)], [400, ["requests[1].roleBinding.identityUid"]]);
    assert.deepEqual(blamed(await batch([])), ["requests"]);
    assert.deepEqual(blamed(await batch(Array.from({ length: 26 }, () => request(mine)))), ["requests"]);
    assert.deepEqual(blamed(await batch([request(mine, root)])), ["requests[0].parent"]);
    assert.deepEqual(blamed(await batch([request(mine)], "")), ["requests[0].parent"]);
    assert.equal(await bindings(), before);
    const good = await platform.call("POST", "/iam/v2/roleBindings:batchCreate", {
      token: manager.token,
      body: {
        parent: group,
        roleUid: mine,
        requests: Array.from({ length: 25 }, () => ({ roleBinding: { identityUid: target } })),
      },
    });
    assert.equal(good.status, 200, good.text);
    const made = good.body["roleBindings"] as Json[];
    assert.deepEqual(
      made.map((binding) => [
        (binding["identity"] as Json).uid,
        (binding["role"] as Json).uid,
        (binding["group"] as Json).uid,
      ]),
      Array.from({ length: 25 }, () => [target, mine, group]),
    );
    assert.equal(await bindings(), String(Number(before) + 25));
  });

  test("by an update of a binding", async () => {
    const uid = await platform.bind(group, target, await customRole(root, ["CAP_REPO_LIST"]));
    denied(
      await both(
        platform,
        RoleBindingsService.method.updateRoleBinding,
        { roleBinding: { uid, roleUid: await platform.role("owner") }, updateMask: { paths: ["role_uid"] } },
        manager.token,
      ),
    );
    const strong = await platform.bind(group, target, await platform.role("owner"));
    denied(
      await both(
        platform,
        RoleBindingsService.method.updateRoleBinding,
        { roleBinding: { uid: strong, identityUid: manager.uid }, updateMask: { paths: ["identity_uid"] } },
        manager.token,
      ),
    );
    await platform.ok("DELETE", `/iam/v2/roleBindings/${strong}`);
  });

  test("by a custom role, new, changed, or bound already", async () => {
    denied(
      await both(
        platform,
        RolesService.method.createRole,
        {
          parent: group,
          role: { name: "strong", capabilities: [Capability.CAP_REPO_LIST, Capability.CAP_REPO_DELETE] },
        },
        manager.token,
      ),
      "CAP_REPO_DELETE",
    );
    const own = await platform.call("POST", `/iam/v2/roles/${group}`, {
      token: manager.token,
      body: { name: "weak", capabilities: ["CAP_REPO_LIST"] },
    });
    assert.equal(own.status, 200, own.text);
    const uid = own.body.uid;
    await platform.bind(group, manager.uid, uid);
    for (const paths of [["capabilities"], ["*"]]) {
      denied(
        await both(
          platform,
          RolesService.method.updateRole,
          { role: { uid, name: "weak", capabilities: [Capability.CAP_REPO_DELETE] }, updateMask: { paths } },
          manager.token,
        ),
        "CAP_REPO_DELETE",
      );
    }
    assert.deepEqual((await platform.ok("GET", `/iam/v2/roles/${uid}`))["capabilities"], ["CAP_REPO_LIST"]);
    const within = await platform.call("PATCH", `/iam/v2/roles/${uid}`, {
      token: manager.token,
      body: { capabilities: ["CAP_IAM_GROUPS_LIST"] },
    });
    assert.equal(within.status, 200, within.text);
  });

  test("by the claim match of an identity with more rights", async () => {
    const strong = await platform.identity(group, "owner");
    const change = (uid: string, relationship: object) =>
      both(
        platform,
        IdentitiesService.method.updateIdentity,
        { identity: { uid, name: "x", relationship } as object, updateMask: { paths: ["claim_match"] } },
        manager.token,
      );
    const claimMatch = {
      case: "claimMatch",
      value: { iss: { case: "issuer", value: "https://mine.example" }, sub: { case: "subject", value: "me" } },
    };
    denied(await change(strong, claimMatch), "CAP_REPO_DELETE");
    const patch = (uid: string, query: string, body: object) =>
      platform.call("PATCH", `/iam/v2/identities/${uid}${query}`, { token: manager.token, body });
    for (const query of ["", "?updateMask=claimMatch.issuer,claimMatch.subject", "?updateMask=*"]) {
      denied(
        await patch(strong, query, { name: "x", claimMatch: { issuer: "https://mine.example", subject: "me" } }),
        "CAP_REPO_DELETE",
      );
    }
    const keys = {
      issuer: "offline",
      subject: "me",
      issuerKeys: JSON.stringify({
        keys: [
          {
            kty: "EC",
            crv: "P-256",
            kid: "k",
            x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
          },
        ],
      }),
    };
    denied(await patch(strong, "", { staticKeys: keys }), "CAP_REPO_DELETE");
    assert.equal((await patch(strong, "", { description: "harmless" })).status, 200);
    const weak = await platform.identity(group);
    await platform.bind(group, weak, await customRole(root, ["CAP_REPO_LIST"]));
    assert.equal(
      (await patch(weak, "", { claimMatch: { issuer: "https://mine.example", subject: "me" } })).status,
      200,
    );
    // The same identity once it has more rights somewhere else, where the manager holds none.
    const { uid: elsewhere } = await platform.group(group);
    await platform.bind(elsewhere, weak, await platform.role("owner"));
    denied(
      await patch(weak, "", { claimMatch: { issuer: "https://mine.example", subject: "other" } }),
      "CAP_REPO_DELETE",
    );
  });
});

describe("a binding cannot refer to", () => {
  test("an identity on a group outside its parent's subtree, nor a custom role on a group outside its own", async () => {
    const [one, two] = [await platform.group(root), await platform.group(root)];
    const deep = await platform.group(one.uid);
    const identityUid = await platform.identity(one.uid);
    const viewer = await platform.role("viewer");
    for (const parent of [root, two.uid, platform.bootstrap.publicOrganization.uid]) {
      const answer = await both(
        platform,
        RoleBindingsService.method.createRoleBinding,
        { parent, roleBinding: { identityUid, roleUid: viewer } },
        owner,
      );
      assert.deepEqual([answer.status, reason(answer), blamed(answer)], [400, "INVALID_ARGUMENT", ["identityUid"]]);
    }
    await platform.bind(one.uid, identityUid, viewer);
    const inDeep = await platform.bind(deep.uid, identityUid, viewer);
    const moved = await both(
      platform,
      RoleBindingsService.method.updateRoleBinding,
      {
        roleBinding: { uid: inDeep, identityUid: await platform.identity(two.uid) },
        updateMask: { paths: ["identity_uid"] },
      },
      owner,
    );
    assert.deepEqual(blamed(moved), ["identityUid"]);
    const role = await customRole(one.uid, ["CAP_REPO_LIST"]);
    const outside = await both(
      platform,
      RoleBindingsService.method.createRoleBinding,
      { parent: root, roleBinding: { identityUid: await platform.identity(root), roleUid: role } },
      owner,
    );
    assert.deepEqual(blamed(outside), ["roleUid"]);
    // Identities of people are at the root and can be bound on every group.
    await platform.bind(deep.uid, platform.owner, viewer);
  });
});

describe("built-in roles and organizations", () => {
  test("a built-in role cannot be changed or deleted, by any caller", async () => {
    const uid = await platform.role("viewer");
    const viewer = await platform.token(await platform.identity(root, "viewer"));
    const change = {
      role: { uid, name: "viewer", capabilities: [Capability.CAP_REPO_DELETE] },
      updateMask: { paths: ["capabilities"] },
    };
    for (const answer of [
      await both(platform, RolesService.method.deleteRole, { uid }, owner),
      await both(platform, RolesService.method.updateRole, change, owner),
    ]) {
      assert.deepEqual([answer.status, answer.body.code, reason(answer)], [400, 9, "FAILED_PRECONDITION"]);
      const violations = answer.body.details.find((detail) =>
        detail["@type"].endsWith("PreconditionFailure"),
      )?.violations;
      assert.deepEqual(
        violations?.map(({ type, subject }) => [type, subject]),
        [["BUILT_IN_RESOURCE", uid]],
      );
    }
    denied(await both(platform, RolesService.method.deleteRole, { uid }, viewer));
    denied(await both(platform, RolesService.method.updateRole, change, viewer));
    const nobody = await platform.token(await platform.identity(root));
    assert.equal(
      (await both(platform, RolesService.method.getRole, { uid }, nobody)).status,
      200,
      "built-in roles are listed to everybody",
    );
    const listed = await both(platform, RolesService.method.listRoles, {}, nobody);
    assert.deepEqual(
      (listed.body["roles"] as Json[]).map(({ name }) => name),
      [
        "auditor",
        "console_viewer",
        "editor",
        "limited_owner",
        "owner",
        "registry.pull",
        "registry.pull_token_creator",
        "registry.push",
        "viewer",
      ],
    );
  });

  test("a built-in role's description says what it holds, those of an older version too", async () => {
    const described = async (): Promise<Map<string, string>> => {
      const { roles } = await platform.ok("GET", "/iam/v2/roles?uidp.in_root=true");
      return new Map((roles as Json[]).map(({ name, description }) => [name, description]));
    };
    const now = await described();
    for (const { name, capabilities } of BUILT_IN_ROLES) {
      const says = (word: RegExp): boolean => word.test(now.get(name) ?? "") || name === "owner";
      const holds = (capability: Capability): boolean => capabilities.includes(capability);
      assert.equal(says(/(?<!but )the audit log/), holds(Capability.CAP_IAM_AUDIT_LIST), `${name}, audit log`);
      assert.equal(says(/pulls (?:images|and pushes)/), holds(Capability.CAP_REPO_BLOBS_GET), `${name}, pulls`);
      assert.equal(says(/pushes/), holds(Capability.CAP_MANIFEST_CREATE), `${name}, pushes`);
      assert.equal(says(/creates identities/), holds(Capability.CAP_IAM_IDENTITY_CREATE), `${name}, identities`);
    }
    await platform.transact(async (tx) => {
      await tx.updateTable("roles").set({ description: "old" }).where("parent", "=", "").execute();
      await ensureBuiltInRoles(tx, platform.clock.nowMs());
    });
    assert.deepEqual(await described(), now);
  });

  test("only administrators create organizations, and own the ones they created", async () => {
    const outsider = await platform.token(await platform.identity(root, "owner"));
    denied(await both(platform, GroupsService.method.createGroup, { group: { name: "theirs" } }, outsider));
    const made = await platform.ok("POST", "/iam/v2/groups", { name: "second" });
    assert.match(made.uid, /^[0-9a-f]{40}$/);
    const bindings = (await platform.ok("GET", `/iam/v2/roleBindings?group=${made.uid}`))["roleBindings"] as Json[];
    assert.deepEqual(
      bindings.map((binding) => [(binding["identity"] as Json).uid, (binding["role"] as Json).name]),
      [[platform.owner, "owner"]],
    );
    assert.equal((await both(platform, GroupsService.method.getGroup, { uid: made.uid }, outsider)).status, 404);
    const again = await both(platform, GroupsService.method.createGroup, { group: { name: "second" } }, owner);
    assert.deepEqual([again.status, reason(again)], [409, "ALREADY_EXISTS"]);
    await platform.ok("DELETE", `/iam/v2/groups/${made.uid}`);
  });
});
