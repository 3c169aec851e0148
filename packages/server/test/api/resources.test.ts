import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  GroupsService,
  IdentitiesService,
  PingService,
  ReposService,
  RoleBindingsService,
  RolesService,
  TagsService,
} from "@moorage/api";
import { both } from "../support/rest-and-grpc.ts";
import { blamed, DIGEST, type Json, type Platform, reason, rows, startPlatform } from "../support/platform.ts";

// Every example, table row, rule and limit of docs/contract.md for the platform API, over real sockets; its errors are
// in errors.test.ts, its masks in updates.test.ts.
let platform: Platform;
let root: string;
before(async () => {
  platform = await startPlatform();
  root = platform.organization;
});
after(() => platform.close());

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DAY_MS = 24 * 3_600_000;
const names = async (answer: Json | Promise<Json>, plural: string): Promise<string[]> =>
  (await rows(answer, plural)).map(({ name }) => name);

describe("resources and their fields", () => {
  const shape = (resource: Json, keys: string[], times: string[]): void => {
    assert.deepEqual(Object.keys(resource).sort(), [...keys, ...times].sort());
    for (const name of times) assert.match(String(resource[name]), TIME);
  };

  test("a repo has the documented fields, and a readme", async () => {
    const made = await platform.repo(root, { description: "first", readme: "# Read me" });
    shape(
      made,
      ["uid", "name", "description", "catalogTier", "bundles", "readme", "aliases", "activeTags"],
      ["createTime", "updateTime"],
    );
    assert.deepEqual(await platform.ok("GET", `/registry/v2/repos/${made.uid}`), made);
    const [listed] = await rows(platform.ok("GET", `/registry/v2/repos?name=${made.name}`), "repos");
    assert.deepEqual(listed, { ...made, readme: "" });
    assert.deepEqual(await platform.ok("GET", `/registry/v2/repos/${made.uid}/readme`), {
      uid: made.uid,
      content: "# Read me",
    });
  });

  test("a tag is a child of its repo", async () => {
    const { uid: repo } = await platform.repo(root);
    const made = await platform.tag(repo, { name: "v1", deprecated: true });
    shape(made, ["uid", "name", "digest", "deprecated", "bundles"], ["updateTime"]);
    assert.deepEqual(
      [made.name, made["digest"], made["deprecated"], made.uid.startsWith(`${repo}/`)],
      ["v1", DIGEST, true, true],
    );
    assert.deepEqual(await platform.ok("GET", `/registry/v2/tags/${made.uid}`), made);
  });

  test("an identity's lastSeenTime is what Create answered until it got a token", async () => {
    const claimMatch = { issuer: "https://issuer.example", subject: "repo:acme/app:ref:refs/heads/main" };
    const made = await platform.ok("POST", `/iam/v2/identities/${root}`, {
      name: "ci-robot 1.0_x",
      description: "builds",
      claimMatch,
    });
    shape(
      made,
      [
        "uid",
        "name",
        "description",
        "email",
        "emailUnverified",
        "company",
        "claimMatch",
        "groupsLeftOut",
        "identityProvider",
        "uncounted",
      ],
      ["createTime", "updateTime", "lastSeenTime"],
    );
    assert.deepEqual(made["claimMatch"], { ...claimMatch, claims: {}, claimPatterns: {} });
    assert.equal(made["lastSeenTime"], made.createTime);
    assert.deepEqual(await platform.ok("GET", `/iam/v2/identities/${made.uid}`), made);
    const changed = await platform.ok("PATCH", `/iam/v2/identities/${made.uid}`, { description: "builds it" });
    assert.equal(changed["lastSeenTime"], made.createTime);
    const page = await platform.ok("GET", `/iam/v2/identities?uidp.ids=${made.uid}`);
    assert.deepEqual(page["identities"], [changed]);
    // A binding says it of its identity, and nothing where there was no token yet.
    const seenOf = async (uid: string): Promise<unknown> =>
      ((await platform.ok("GET", `/iam/v2/roleBindings/${uid}`))["identity"] as { lastSeenTime?: string }).lastSeenTime;
    const binding = await platform.bind(root, made.uid, await platform.role("viewer"));
    assert.equal(await seenOf(binding), undefined);
    const seenMs = Date.parse("2026-01-31T10:00:00Z");
    await platform.transact((tx) =>
      tx.updateTable("identities").set({ last_seen_time: seenMs }).where("uid", "=", made.uid).execute(),
    );
    assert.equal(await seenOf(binding), "2026-01-31T10:00:00.000Z");
    await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`).catch(() => undefined);
    await platform.transact((tx) =>
      tx.updateTable("identities").set({ last_seen_time: null }).where("uid", "=", made.uid).execute(),
    );
    const found = await both(platform, IdentitiesService.method.lookupIdentity, claimMatch, await platform.token());
    assert.deepEqual(found.body, { uid: made.uid });
  });

  test("a role has the documented fields; one built-in role is named viewer", async () => {
    const uid = await platform.role("viewer");
    const viewer = await platform.ok("GET", `/iam/v2/roles/${uid}`);
    shape(viewer, ["uid", "name", "description", "capabilities"], ["createTime", "updateTime"]);
    const lists = viewer["capabilities"] as string[];
    assert.ok(
      lists.includes("CAP_REPO_BLOBS_GET") &&
        lists.every((name) => /^CAP_REPO_BLOBS_GET$|^CAP_LIBRARIES_[A-Z]+_READ$|_LIST$/.test(name)),
      lists.join(),
    );
  });

  test("a role binding contains the identity, role and group that it refers to", async () => {
    const claimMatch = { issuer: "https://issuer.example", subject: "deployer" };
    const { uid: identityUid } = await platform.ok("POST", `/iam/v2/identities/${root}`, {
      name: "deployer",
      description: "deploys",
      claimMatch,
    });
    const viewer = await platform.ok("GET", `/iam/v2/roles/${await platform.role("viewer")}`);
    const made = await platform.ok("POST", `/iam/v2/roleBindings/${root}`, { identityUid, roleUid: viewer.uid });
    shape(made, ["uid", "identity", "group", "role"], ["createTime"]);
    assert.deepEqual(made["identity"], {
      uid: identityUid,
      name: "deployer",
      description: "deploys",
      ...claimMatch,
      email: "",
    });
    assert.deepEqual(made["group"], { uid: root, name: "acme", description: "" });
    assert.deepEqual(made["role"], { uid: viewer.uid, name: "viewer", description: viewer.description });
    assert.deepEqual(await platform.ok("GET", `/iam/v2/roleBindings/${made.uid}`), made);
    assert.deepEqual(await rows(platform.ok("GET", `/iam/v2/roleBindings?identity=${identityUid}`), "roleBindings"), [
      made,
    ]);
    const deleted = await platform.call("DELETE", `/iam/v2/roleBindings/${made.uid}`, {
      token: await platform.token(),
    });
    assert.deepEqual([deleted.status, deleted.headers["content-length"], deleted.text], [200, "0", ""]);
  });
});

describe("endpoints", () => {
  test("every path of the table of endpoints answers", async () => {
    const { uid: group } = await platform.group(root);
    const [one, two] = [
      await platform.repo(group, { name: "nginx" }),
      await platform.repo(group, { name: "nginx-dev" }),
    ];
    assert.deepEqual(await names(platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${group}`), "repos"), [
      "nginx",
      "nginx-dev",
    ]);
    assert.deepEqual(
      await names(platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${group}&name=nginx`), "repos"),
      ["nginx"],
    );
    assert.deepEqual(
      await names(platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${group}&name=ngin`), "repos"),
      [],
    );
    assert.equal((await platform.ok("GET", `/registry/v2/repos/${one.uid}`)).name, "nginx");
    assert.equal(
      (
        await platform.ok("PATCH", `/registry/v2/repos/${one.uid}?updateMask=description`, {
          description: "web server",
        })
      ).description,
      "web server",
    );
    await platform.tag(one.uid, { name: "latest" });
    assert.deepEqual(await names(platform.ok("GET", `/registry/v2/tags?uidp.children_of=${one.uid}`), "tags"), [
      "latest",
    ]);
    assert.deepEqual(await names(platform.ok("GET", `/registry/v2/tags?uidp.children_of=${two.uid}`), "tags"), []);
    const identity = await platform.ok("POST", `/iam/v2/identities/${group}`, {
      name: "robot",
      claimMatch: { issuer: "https://i.example", subject: "s" },
    });
    assert.ok((await names(platform.ok("GET", "/iam/v2/roles"), "roles")).includes("viewer"));
    const binding = await platform.ok("POST", `/iam/v2/roleBindings/${group}`, {
      identityUid: identity.uid,
      roleUid: await platform.role("viewer"),
    });
    for (const path of [
      `/iam/v2/roleBindings/${binding.uid}`,
      `/iam/v2/identities/${identity.uid}`,
      `/registry/v2/repos/${one.uid}`,
    ]) {
      const deleted = await platform.call("DELETE", path, { token: await platform.token() });
      assert.deepEqual([deleted.status, deleted.headers["content-length"], deleted.text], [200, "0", ""], path);
      assert.equal((await platform.call("GET", path, { token: await platform.token() })).status, 404, path);
    }
  });

  test("the connectivity check needs no token", async () => {
    const answer = await both(platform, PingService.method.ping, {});
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { response: "pong" });
  });

  test("create takes the parent from the path and answers the resource, for every resource", async () => {
    const { uid: group } = await platform.group(root, { description: "team" });
    const roleFields = { name: "reader", capabilities: ["CAP_REPO_LIST"] };
    for (const [path, fields] of [
      ["/iam/v2/groups", { name: "sub" }],
      ["/iam/v2/roles", roleFields],
      ["/iam/v2/identities", { name: "who" }],
      ["/registry/v2/repos", { name: "app" }],
    ] as const) {
      const made = await platform.ok("POST", `${path}/${group}`, fields);
      assert.match(made.uid, new RegExp(`^${group}/[0-9a-f]{16}$`));
      assert.deepEqual({ ...made, ...fields }, made);
      assert.deepEqual(
        await platform.ok("GET", `${path}/${made.uid.replaceAll("/", "%2F")}`),
        made,
        "an escaped slash names the same",
      );
    }
  });

  test("creating an existing tag moves it to the new digest; the same digest again changes nothing", async () => {
    const { uid: repo } = await platform.repo(root);
    const first = await platform.tag(repo, { name: "latest" });
    assert.deepEqual(await platform.tag(repo, { name: "latest" }), first);
    const digest = `sha256:${"b".repeat(64)}`;
    const moved = await platform.tag(repo, { name: "latest", digest });
    assert.deepEqual([moved.uid, moved["digest"]], [first.uid, digest]);
    assert.ok(moved.updateTime > first.updateTime);
  });
});

describe("list parameters, rules and limits", () => {
  let group: string;
  let list: string;
  const COUNT = 205;
  before(async () => {
    ({ uid: group } = await platform.group(root));
    list = `/registry/v2/repos?uidp.descendants_of=${group}`;
    await Promise.all(
      Array.from({ length: COUNT }, (_, at) => platform.repo(group, { name: `repo-${String(at).padStart(3, "0")}` })),
    );
  });

  test("page_size: 50 by default, 200 at most", async () => {
    for (const [query, expected] of [
      ["", 50],
      ["&page_size=0", 50],
      ["&page_size=7", 7],
      ["&page_size=200", 200],
      ["&page_size=201", 200],
      ["&pageSize=2147483647", 200],
    ] as const) {
      const page = await platform.ok("GET", list + query);
      assert.deepEqual(
        [(await rows(page, "repos")).length, page.totalCount, page.skipped],
        [expected, String(COUNT), 0],
        query,
      );
      assert.notEqual(page.nextPageToken, "");
    }
  });

  test("pages keep their order, and the last one has no page token", async () => {
    for (const order of ["name", "name desc", "created_at desc", "createTime", "description, name desc"]) {
      const found: Json[] = [];
      let token = "";
      do {
        const page = await platform.ok(
          "GET",
          `${list}&page_size=60&order_by=${encodeURIComponent(order)}&page_token=${token}`,
        );
        found.push(...(await rows(page, "repos")));
        assert.equal(page.totalCount, String(COUNT));
        token = page.nextPageToken;
      } while (token !== "" && found.length <= COUNT);
      assert.equal(new Set(found.map(({ uid }) => uid)).size, COUNT, order);
      assert.equal(found.length, COUNT, order);
      const keys = found.map((repo) => (order.includes("name") ? repo.name : repo.createTime));
      assert.deepEqual(keys, order.includes("desc") ? keys.toSorted().toReversed() : keys.toSorted(), order);
    }
  });

  test("skip jumps to an arbitrary page and is echoed", async () => {
    const page = await platform.ok("GET", `${list}&skip=150&page_size=3`);
    assert.deepEqual(
      [await names(page, "repos"), page.skipped, page.totalCount],
      [["repo-150", "repo-151", "repo-152"], 150, "205"],
    );
    const next = await platform.ok("GET", `${list}&skip=10&page_size=2&page_token=${page.nextPageToken}`);
    assert.deepEqual(
      [await names(next, "repos"), next.skipped],
      [["repo-163", "repo-164"], 10],
      "counted from the cursor",
    );
    const beyond = await platform.ok("GET", `${list}&skip=205`);
    assert.deepEqual(
      [await names(beyond, "repos"), beyond.nextPageToken, beyond.totalCount, beyond.skipped],
      [[], "", "205", 205],
    );
  });

  test("descendants_of selects the group and everything below, children_of the direct children", async () => {
    const sub = await platform.group(group);
    const below = await platform.repo(sub.uid, { name: "below" });
    const count = async (filter: string): Promise<string> =>
      (await platform.ok("GET", `/registry/v2/repos?${filter}`)).totalCount;
    assert.deepEqual(
      [
        await count(`uidp.descendants_of=${group}`),
        await count(`uidp.children_of=${group}`),
        await count(`uidp.children_of=${sub.uid}`),
      ],
      ["206", "205", "1"],
    );
    assert.deepEqual(await names(platform.ok("GET", `/iam/v2/groups?uidp.descendants_of=${sub.uid}`), "groups"), [
      sub.name,
    ]);
    assert.deepEqual(await names(platform.ok("GET", `/iam/v2/groups?uidp.children_of=${sub.uid}`), "groups"), []);
    await platform.ok("DELETE", `/registry/v2/repos/${below.uid}`);
    await platform.ok("DELETE", `/iam/v2/groups/${sub.uid}`);
  });

  test("a page token works for three days; then the query restarts from the beginning, without an error", async () => {
    const first = await platform.ok("GET", `${list}&page_size=2&order_by=name%20desc`);
    const query = `${list}&page_size=2&order_by=name%20desc&page_token=${first.nextPageToken}`;
    try {
      platform.clock.offsetMs = 3 * DAY_MS - 60_000;
      assert.deepEqual(await names(platform.ok("GET", query), "repos"), ["repo-202", "repo-201"]);
      platform.clock.offsetMs = 3 * DAY_MS + 1000;
      const restarted = await both(
        platform,
        ReposService.method.listRepos,
        { uidp: { descendantsOf: group }, pageSize: 2, orderBy: "name desc", pageToken: first.nextPageToken },
        await platform.token(),
      );
      assert.equal(restarted.status, 200);
      assert.deepEqual(await names(restarted.body, "repos"), ["repo-204", "repo-203"]);
      assert.deepEqual(
        await names(platform.ok("GET", `${list}&page_size=2&page_token=${first.nextPageToken}`), "repos"),
        ["repo-000", "repo-001"],
        "the request's own order",
      );
    } finally {
      platform.clock.offsetMs = 0;
    }
  });

  test("deprecated tags are filtered by the client, 200 at a time", async () => {
    const { uid: repo } = await platform.repo(root);
    await Promise.all(
      Array.from({ length: 60 }, (_, at) => platform.tag(repo, { name: `1.${at}`, deprecated: at % 3 === 0 })),
    );
    const filtered = await platform.call("GET", `/registry/v2/tags?uidp.children_of=${repo}&deprecated=true`, {
      token: await platform.token(),
    });
    assert.deepEqual([filtered.status, blamed(filtered)], [400, ["deprecated"]]);
    const page = await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo}&page_size=200`);
    assert.equal((await rows(page, "tags")).filter((tag) => tag["deprecated"]).length, 20);
    assert.deepEqual([page.nextPageToken, page.totalCount], ["", "60"]);
  });
});

describe("authentication, authorization and versions", () => {
  test("every request needs a bearer token whose audience is the platform", async () => {
    const registry = await platform.token(platform.owner, { audience: new URL(platform.url).host });
    for (const headers of [
      {},
      { authorization: "Basic eDp5" },
      { authorization: "Bearer x.y.z" },
      { authorization: `Bearer ${registry}` },
    ] as Record<string, string>[]) {
      const answer = await platform.call("GET", "/iam/v2/groups", { headers });
      assert.deepEqual([answer.status, answer.body.code, reason(answer)], [401, 16, "UNAUTHENTICATED"]);
      assert.match(answer.headers["www-authenticate"] ?? "", /^Bearer/);
    }
  });

  test("an identity has a role's rights on a group exactly as long as the role binding exists", async () => {
    const { uid: group } = await platform.group(root);
    const repo = await platform.repo(group);
    const identity = await platform.identity(group);
    const token = await platform.token(identity);
    const get = () => both(platform, ReposService.method.getRepo, { uid: repo.uid }, token);
    assert.equal((await get()).status, 404);
    const binding = await platform.bind(group, identity, await platform.role("viewer"));
    assert.equal((await get()).status, 200);
    await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
    assert.equal((await get()).status, 404);
  });

  test("an identity of a subgroup cannot see the root group's resources; an identity of the root group can", async () => {
    const { uid: group } = await platform.group(root);
    const [above, inside] = [await platform.repo(root), await platform.repo(group)];
    const token = await platform.token(await platform.identity(group, "viewer"));
    assert.equal((await both(platform, ReposService.method.getRepo, { uid: above.uid }, token)).status, 404);
    assert.deepEqual(await names((await both(platform, ReposService.method.listRepos, {}, token)).body, "repos"), [
      inside.name,
    ]);
    assert.deepEqual(
      await names(
        (await both(platform, ReposService.method.listRepos, { uidp: { descendantsOf: root } }, token)).body,
        "repos",
      ),
      [inside.name],
    );
    const wide = await platform.token(await platform.identity(root, "viewer"));
    assert.equal((await both(platform, ReposService.method.getRepo, { uid: above.uid }, wide)).status, 200);
  });

  test("/v2beta1/ answers as /v2/, in every domain", async () => {
    const token = await platform.token();
    for (const path of [
      "/iam/v2/groups",
      "/iam/v2/identities?page_size=3",
      "/iam/v2/roles",
      "/iam/v2/roleBindings",
      "/iam/v2/groupInvites",
      "/iam/v2/identityProviders",
      "/iam/v2/externalGroupRoleMappings",
      "/iam/v2/accountAssociations",
      "/registry/v2/repos?page_size=5",
      "/registry/v2/tags",
      "/ping/v2/ping",
      "/registry/v2/repos/none",
    ]) {
      const [now, beta] = [
        await platform.call("GET", path, { token }),
        await platform.call("GET", path.replace("/v2/", "/v2beta1/"), { token }),
      ];
      // A page token contains the time of its issue.
      const plain = (body: Json) => ({ ...body, nextPageToken: body.nextPageToken?.length });
      assert.deepEqual([beta.status, plain(beta.body)], [now.status, plain(now.body)], path);
    }
    const made = await platform.ok("POST", `/registry/v2beta1/repos/${root}`, { name: "by-beta" });
    assert.equal(
      (await platform.ok("PATCH", `/registry/v2beta1/repos/${made.uid}`, { description: "x" })).description,
      "x",
    );
    await platform.ok("DELETE", `/registry/v2beta1/repos/${made.uid}`);
  });

  test("gRPC is served at the same host for every method that reads, with REST's answers", async () => {
    const token = await platform.token();
    const repo = await platform.repo(root, { readme: "text" });
    const tag = await platform.tag(repo.uid);
    const uid = await platform.identity(root);
    const binding = await platform.bind(root, uid, await platform.role("viewer"));
    for (const answer of [
      await both(platform, GroupsService.method.getGroup, { uid: root }, token),
      await both(platform, GroupsService.method.listGroups, { orderBy: "createTime desc" }, token),
      await both(platform, IdentitiesService.method.getIdentity, { uid }, token),
      await both(platform, IdentitiesService.method.listIdentities, { relationshipType: 1 }, token),
      await both(platform, RolesService.method.getRole, { uid: await platform.role("editor") }, token),
      await both(platform, RolesService.method.listRoles, { uidp: { inRoot: true } }, token),
      await both(platform, RoleBindingsService.method.getRoleBinding, { uid: binding }, token),
      await both(platform, RoleBindingsService.method.listRoleBindings, { group: root }, token),
      await both(platform, ReposService.method.getRepo, { uid: repo.uid }, token),
      await both(platform, ReposService.method.getRepoReadme, { uid: repo.uid }, token),
      await both(platform, ReposService.method.listRepos, { name: repo.name, uidp: { ids: [repo.uid, root] } }, token),
      await both(platform, TagsService.method.getTag, { uid: tag.uid }, token),
      await both(
        platform,
        TagsService.method.listTags,
        { digest: DIGEST, updatedSince: { seconds: 1n, nanos: 0 }, uidp: { childrenOf: repo.uid } },
        token,
      ),
    ])
      assert.equal(answer.status, 200, answer.text);
  });
});
