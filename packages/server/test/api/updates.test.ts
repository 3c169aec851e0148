import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  CatalogTier,
  GroupsService,
  IdentitiesService,
  ReposService,
  RoleBindingsService,
  RolesService,
  TagsService,
} from "@moorage/api";
import { both } from "../support/rest-and-grpc.ts";
import { type Answer, blamed, DIGEST, type Json, type Platform, reason, startPlatform } from "../support/platform.ts";

// Updates of every resource that can be updated. Source: docs/contract.md, "Updating".
let platform: Platform;
let root: string;
let token: string;
before(async () => {
  platform = await startPlatform();
  root = platform.organization;
  token = await platform.token();
});
after(() => platform.close());

const patch = (path: string, body: unknown): Promise<Answer> => platform.call("PATCH", path, { token, body });
/** What differs between two states of a resource, its times aside. */
const changes = (before: Json, after: Json): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => !name.endsWith("Time") && JSON.stringify(value) !== JSON.stringify(before[name]),
    ),
  );

interface Updatable {
  path: string;
  make: () => Promise<Json>;
  full: Record<string, unknown>;
  outputOnly: string[];
}
const UPDATABLE: Updatable[] = [
  {
    path: "/registry/v2/repos",
    outputOnly: ["uid", "createTime", "updateTime"],
    make: () =>
      platform.repo(root, { description: "old", readme: "old", bundles: ["a"], catalogTier: "CATALOG_TIER_BASE" }),
    full: {
      description: "new",
      readme: "# new",
      bundles: ["b", "c"],
      aliases: ["d"],
      activeTags: ["e"],
      catalogTier: "CATALOG_TIER_AI",
      syncConfig: {
        source: "registry.example.com/nginx",
        tagPattern: "v.*",
        interval: "600s",
        pullThrough: true,
        username: "robot",
        history: true,
        keepMoved: true,
      },
    },
  },
  {
    path: "/iam/v2/groups",
    outputOnly: ["uid", "status", "resourceLimits", "createTime"],
    make: () => platform.group(root, { description: "old" }),
    full: { description: "new", verified: true },
  },
  {
    path: "/iam/v2/identities",
    outputOnly: ["uid", "email", "emailUnverified", "lastSeenTime", "createTime"],
    make: async () => platform.ok("GET", `/iam/v2/identities/${await platform.identity(root)}`),
    full: {
      description: "new",
      company: "Acme",
      claimMatch: { issuer: "https://i.example", subject: "s", claims: { a: "b" }, claimPatterns: {} },
    },
  },
  {
    path: "/iam/v2/roles",
    outputOnly: ["uid", "createTime"],
    make: () =>
      platform.ok("POST", `/iam/v2/roles/${root}`, { name: `role ${(roles += 1)}`, capabilities: ["CAP_REPO_LIST"] }),
    full: { description: "new", capabilities: ["CAP_TAG_LIST"] },
  },
];
let roles = 0;

for (const { path, make, full, outputOnly } of UPDATABLE) {
  describe(path, () => {
    test("only the fields of the mask change; the rest of the body is ignored, valid or not", async () => {
      for (const [field, value] of Object.entries(full)) {
        const before = await make();
        platform.clock.offsetMs += 1000;
        const answer = await patch(`${path}/${before.uid}?updateMask=${field}`, {
          ...full,
          name: 5,
          nonsense: { deep: [] },
          [field]: value,
        });
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(changes(before, answer.body), { [field]: value });
        assert.deepEqual(await platform.ok("GET", `${path}/${before.uid}`), answer.body);
        assert.equal(answer.body.createTime, before.createTime);
        assert.ok(answer.body.updateTime > before.updateTime);
      }
    });

    test("without a mask the fields present in the body change, empty values too; absent fields do not", async () => {
      const before = await make();
      const all = await patch(`${path}/${before.uid}`, full);
      assert.deepEqual(changes(before, all.body), full);
      const cleared = await patch(`${path}/${before.uid}`, { description: "" });
      assert.deepEqual(changes(all.body, cleared.body), { description: "" });
      const nothing = await patch(`${path}/${before.uid}`, {});
      assert.deepEqual([nothing.status, changes(cleared.body, nothing.body)], [200, {}]);
      const viaNull = await patch(`${path}/${before.uid}`, { description: null });
      assert.deepEqual([viaNull.status, changes(cleared.body, viaNull.body)], [200, {}]);
    });

    test("mask * replaces all fields that can be updated", async () => {
      const before = await make();
      await patch(`${path}/${before.uid}`, full);
      const answer = await patch(`${path}/${before.uid}?updateMask=*`, { name: "replaced", uid: "x" });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual([answer.body.uid, answer.body.name, answer.body.description], [before.uid, "replaced", ""]);
      for (const field of Object.keys(full))
        assert.ok(
          [undefined, false, ""].includes(answer.body[field] as string) ||
            /^(\[\]|\{\}|".*_UNSPECIFIED")$/.test(JSON.stringify(answer.body[field])),
          field,
        );
      const nameless = await patch(`${path}/${before.uid}?updateMask=*`, { description: "x" });
      assert.deepEqual([nameless.status, blamed(nameless)], [400, ["name"]]);
      await platform.ok("DELETE", `${path}/${before.uid}`);
    });

    test("a path that does not exist or is output-only is an error on updateMask, and changes nothing", async () => {
      const before = await make();
      for (const mask of [
        ...outputOnly,
        "nothing",
        "description.more",
        "description,",
        ",",
        "name,nothing",
        "*,description",
        "*.name",
        "Description",
        "descrip tion",
        "__proto__",
        "constructor",
      ]) {
        const answer = await patch(`${path}/${before.uid}?updateMask=${encodeURIComponent(mask)}`, {
          ...full,
          name: "changed",
        });
        assert.deepEqual(
          [answer.status, answer.body.code, reason(answer), [...new Set(blamed(answer))]],
          [400, 3, "INVALID_ARGUMENT", ["updateMask"]],
          `${mask}: ${answer.text}`,
        );
      }
      assert.deepEqual(await platform.ok("GET", `${path}/${before.uid}`), before);
    });

    test("output-only fields in the body are ignored, unknown fields are refused, and the uid of the path counts", async () => {
      const before = await make();
      const answer = await patch(`${path}/${before.uid}`, {
        ...Object.fromEntries(outputOnly.map((field) => [field, before[field]])),
        uid: root,
        description: "seen",
      });
      assert.deepEqual(changes(before, answer.body), { description: "seen" });
      const unknown = await patch(`${path}/${before.uid}`, { descripton: "x" });
      assert.deepEqual([unknown.status, blamed(unknown)], [400, ["descripton"]]);
    });

    test("an update whose result is invalid changes nothing", async () => {
      const before = await make();
      for (const name of ["", "Not Allowed!"]) {
        const answer = await patch(`${path}/${before.uid}?updateMask=name,description`, { name, description: "x" });
        assert.deepEqual([answer.status, blamed(answer)], [400, ["name"]]);
      }
      assert.deepEqual(await platform.ok("GET", `${path}/${before.uid}`), before);
    });
  });
}

test("masks accept both casings, several paths and a path inside a message", async () => {
  const repo = await platform.repo(root);
  const body = { catalogTier: "CATALOG_TIER_AI", activeTags: ["x"], description: "d", bundles: ["no"] };
  const answer = await patch(`/registry/v2/repos/${repo.uid}?update_mask=catalog_tier,activeTags,description`, body);
  assert.deepEqual(changes(repo, answer.body), { catalogTier: "CATALOG_TIER_AI", activeTags: ["x"], description: "d" });
  const synced = await patch(`/registry/v2/repos/${repo.uid}?updateMask=syncConfig.source`, {
    syncConfig: { source: "registry.example.com/x" },
  });
  assert.deepEqual(synced.body["syncConfig"], {
    source: "registry.example.com/x",
    tagPattern: "",
    pullThrough: false,
    username: "",
    history: false,
    keepMoved: false,
  });
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${root}`, {
    name: "x",
    claimMatch: { issuer: "https://i.example", subject: "old", audience: "a" },
  });
  const identity = await patch(`/iam/v2/identities/${uid}?updateMask=claimMatch.subject`, {
    claimMatch: { subject: "new", issuer: "https://other.example" },
  });
  assert.deepEqual(identity.body["claimMatch"], {
    issuer: "https://i.example",
    subject: "new",
    audience: "a",
    claims: {},
    claimPatterns: {},
  });
  const pattern = await patch(`/iam/v2/identities/${uid}?updateMask=claimMatch.subjectPattern`, {
    claimMatch: { subjectPattern: "new-.*" },
  });
  assert.deepEqual(pattern.body["claimMatch"], {
    issuer: "https://i.example",
    subjectPattern: "new-.*",
    audience: "a",
    claims: {},
    claimPatterns: {},
  });
});

test("gRPC: a mask does the same, and without one the populated fields change", async () => {
  const made = await platform.repo(root, { description: "old", bundles: ["a"] });
  const update = async (repo: object, paths?: string[]): Promise<Json> => {
    const { error } = await platform.grpc.call(
      ReposService.method.updateRepo,
      { repo: { uid: made.uid, ...repo }, ...(paths && { updateMask: { paths } }) },
      token,
    );
    assert.equal(error, undefined);
    return platform.ok("GET", `/registry/v2/repos/${made.uid}`);
  };
  const populated = await update({ description: "new", bundles: [] });
  assert.deepEqual(changes(made, populated), { description: "new" }, "an empty field is not populated");
  assert.deepEqual(
    changes(
      populated,
      await update({ catalogTier: CatalogTier.AI, description: "ignored" }, ["catalog_tier", "bundles"]),
    ),
    {
      catalogTier: "CATALOG_TIER_AI",
      bundles: [],
    },
  );
  assert.deepEqual(changes(await update({ description: "x" }), await update({ name: "whole" }, ["*"])), {
    name: "whole",
    description: "",
    catalogTier: "CATALOG_TIER_UNSPECIFIED",
  });
  for (const paths of [["uid"], ["create_time"], ["nothing"]]) {
    const answer = await both(
      platform,
      ReposService.method.updateRepo,
      { repo: { uid: made.uid, description: "y" }, updateMask: { paths } },
      token,
    );
    assert.deepEqual([answer.status, blamed(answer)], [400, ["updateMask"]]);
  }
});

test("REST and gRPC answer the same error for an update that is refused", async () => {
  const missing = `${root}/${"0".repeat(16)}`;
  for (const answer of [
    await both(
      platform,
      GroupsService.method.updateGroup,
      { group: { uid: missing, name: "x" }, updateMask: { paths: ["name"] } },
      token,
    ),
    await both(
      platform,
      IdentitiesService.method.updateIdentity,
      { identity: { uid: missing, name: "x" }, updateMask: { paths: ["name"] } },
      token,
    ),
    await both(
      platform,
      RolesService.method.updateRole,
      { role: { uid: missing, name: "x" }, updateMask: { paths: ["name"] } },
      token,
    ),
    await both(
      platform,
      RoleBindingsService.method.updateRoleBinding,
      { roleBinding: { uid: missing, roleUid: missing }, updateMask: { paths: ["role_uid"] } },
      token,
    ),
    await both(
      platform,
      ReposService.method.updateRepo,
      { repo: { uid: missing, name: "x" }, updateMask: { paths: ["name"] } },
      token,
    ),
    await both(
      platform,
      ReposService.method.updateRepoReadme,
      { repoReadme: { uid: missing, content: "x" }, updateMask: { paths: ["content"] } },
      token,
    ),
  ])
    assert.deepEqual([answer.status, answer.body.code], [404, 5], answer.text);
});

test("a readme is updated by its own path and as a field of the repo", async () => {
  const repo = await platform.repo(root, { readme: "one" });
  const path = `/registry/v2/repos/${repo.uid}/readme`;
  assert.deepEqual((await patch(path, { content: "two" })).body, { uid: repo.uid, content: "two" });
  assert.equal((await platform.ok("GET", `/registry/v2/repos/${repo.uid}`))["readme"], "two");
  assert.deepEqual((await patch(`${path}?updateMask=content`, { content: "" })).body, { uid: repo.uid, content: "" });
  for (const mask of ["uid", "readme"])
    assert.deepEqual(blamed(await patch(`${path}?updateMask=${mask}`, { content: "x" })), ["updateMask"]);
  assert.deepEqual(blamed(await patch(path, { content: "x".repeat(524_289) })), ["content"]);
  const after = await platform.ok("PATCH", `/registry/v2/repos/${repo.uid}`, { readme: "three" });
  assert.equal(after["readme"], "three");
});

test("an update of a role binding may change its identity and role, and nothing else", async () => {
  const [one, two] = [await platform.identity(root), await platform.identity(root)];
  const uid = await platform.bind(root, one, await platform.role("viewer"));
  const moved = await patch(`/iam/v2/roleBindings/${uid}`, { identityUid: two });
  assert.deepEqual([(moved.body["identity"] as Json).uid, (moved.body["role"] as Json).name], [two, "viewer"]);
  const changed = await patch(`/iam/v2/roleBindings/${uid}?updateMask=roleUid`, {
    identityUid: one,
    roleUid: await platform.role("editor"),
  });
  assert.deepEqual([(changed.body["identity"] as Json).uid, (changed.body["role"] as Json).name], [two, "editor"]);
  assert.deepEqual(changed.body, await platform.ok("GET", `/iam/v2/roleBindings/${uid}`));
  for (const mask of ["group", "identity", "role.uid", "createTime", "uid"])
    assert.deepEqual(
      blamed(await patch(`/iam/v2/roleBindings/${uid}?updateMask=${mask}`, { identityUid: one })),
      ["updateMask"],
      mask,
    );
  assert.deepEqual(blamed(await patch(`/iam/v2/roleBindings/${uid}?updateMask=*`, { identityUid: one })), ["roleUid"]);
  assert.deepEqual(blamed(await patch(`/iam/v2/roleBindings/${uid}`, { identityUid: "nobody", roleUid: root })), [
    "identityUid",
    "roleUid",
  ]);
});

test("renaming frees the old name, and lists find the new one", async () => {
  const { uid: group } = await platform.group(root);
  const repo = await platform.repo(group, { name: "before" });
  await platform.ok("PATCH", `/registry/v2/repos/${repo.uid}`, { name: "after" });
  await platform.repo(group, { name: "before" });
  const list = await platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${group}`);
  assert.deepEqual(
    (list["repos"] as Json[]).map(({ name }) => name),
    ["after", "before"],
  );
  await platform.ok("PATCH", `/iam/v2/groups/${group}`, { name: "renamed group" });
  assert.equal((await platform.ok("GET", "/iam/v2/groups?name=renamed%20group")).totalCount, "1");
  assert.equal(
    (await both(platform, TagsService.method.createTag, { parent: group, tag: { name: "x", digest: DIGEST } }, token))
      .status,
    404,
  );
});
