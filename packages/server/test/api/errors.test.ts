import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type DescMethodUnary, fromJson } from "@bufbuild/protobuf";
import {
  GroupsService,
  IdentitiesService,
  ReposService,
  RoleBindingsService,
  RolesService,
  TagsService,
} from "@moorage/api";
import { both } from "../support/rest-and-grpc.ts";
import { type Answer, blamed, type Detail, DIGEST, type Platform, reason, startPlatform } from "../support/platform.ts";

// The errors of docs/contract.md, "Errors": REST and gRPC answer the same error, with the same details.
let platform: Platform;
let root: string;
let token: string;
before(async () => {
  platform = await startPlatform();
  root = platform.organization;
  token = await platform.token();
});
after(() => platform.close());

const NEVER_ISSUED = `${"0".repeat(40)}/${"0".repeat(16)}`;
const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  platform.call(method, path, { token, body });
const detail = ({ body }: Answer, type: string): Detail | undefined =>
  body.details.find((each) => each["@type"] === `type.googleapis.com/google.rpc.${type}`);

/** Every error has AIP-193's form at the top level, and exactly one ErrorInfo. */
function check(answer: Answer, status: number, code: number, why: string, domain: string): void {
  assert.deepEqual([answer.status, answer.body.code, reason(answer)], [status, code, why], answer.text);
  assert.deepEqual(Object.keys(answer.body).sort(), ["code", "details", "message"]);
  const infos = answer.body.details.filter((each) => each["@type"].endsWith("/google.rpc.ErrorInfo"));
  assert.deepEqual(
    infos.map((info) => info.domain),
    [domain],
  );
  assert.equal(answer.headers["content-type"], "application/json");
}

describe("the examples of docs/contract.md", () => {
  test("1: an identity without a name, or with a name that the pattern does not allow, is INVALID_ARGUMENT", async () => {
    for (const identity of [
      {},
      { name: "" },
      { name: "Robot" },
      { name: "a/b" },
      { name: "a\nb" },
      { name: "é" },
      { name: "x".repeat(256) },
    ]) {
      const answer = await both(platform, IdentitiesService.method.createIdentity, { parent: root, identity }, token);
      check(answer, 400, 3, "INVALID_ARGUMENT", "iam.moorage.dev");
      assert.deepEqual(blamed(answer), ["name"], JSON.stringify(identity));
      assert.match(answer.body.message, /^Invalid argument: name: /);
    }
    const empty = await platform.call("POST", `/iam/v2/identities/${root}`, { token, raw: "" });
    assert.deepEqual([empty.status, blamed(empty)], [400, ["name"]]);
  });

  test("2 and 3: deleting a group that is not empty answers one violation for each kind of resource, with its count", async () => {
    const { uid: group } = await platform.group(root);
    await platform.group(group);
    for (const make of [platform.repo, platform.repo, platform.repo]) await make(group);
    const bound = await platform.identity(group, "viewer");
    await platform.identity(group);
    await platform.ok("POST", `/iam/v2/roles/${group}`, { name: "custom", capabilities: ["CAP_REPO_LIST"] });
    const answer = await both(platform, GroupsService.method.deleteGroup, { uid: group }, token);
    check(answer, 400, 9, "FAILED_PRECONDITION", "iam.moorage.dev");
    assert.match(answer.body.message, /^Precondition failed: /);
    const violations = detail(answer, "PreconditionFailure")?.violations ?? [];
    assert.ok(
      violations.every(({ type, subject }) => type === "RESOURCE_NOT_EMPTY" && subject === group),
      answer.text,
    );
    assert.deepEqual(
      violations.map(({ description }) => /(groups|repos|identities|custom roles): (\d+)$/.exec(description)?.slice(1)),
      [
        ["groups", "1"],
        ["repos", "3"],
        ["identities", "2"],
        ["custom roles", "1"],
      ],
    );

    for (const [path, plural] of [
      ["/iam/v2/groups", "groups"],
      ["/registry/v2/repos", "repos"],
      ["/iam/v2/identities", "identities"],
      ["/iam/v2/roles", "roles"],
    ] as const) {
      assert.equal((await ask("DELETE", `/iam/v2/groups/${group}`)).status, 400, plural);
      const children = (await platform.ok("GET", `${path}?uidp.children_of=${group}`))[plural] as { uid: string }[];
      for (const { uid } of children) await platform.ok("DELETE", `${path}/${uid}`);
    }
    const deleted = await ask("DELETE", `/iam/v2/groups/${group}`);
    assert.deepEqual([deleted.status, deleted.headers["content-length"], deleted.text], [200, "0", ""]);
    assert.deepEqual((await platform.ok("GET", `/iam/v2/roleBindings?identity=${bound}`))["roleBindings"], []);
  });

  test("3: a group that only holds role bindings can be deleted, and they are deleted with it", async () => {
    const { uid: group } = await platform.group(root);
    const identity = await platform.identity(root);
    const binding = await platform.bind(group, identity, await platform.role("viewer"));
    await platform.ok("DELETE", `/iam/v2/groups/${group}`);
    assert.equal((await ask("GET", `/iam/v2/roleBindings/${binding}`)).status, 404);
  });

  test("3: a role that is bound cannot be deleted", async () => {
    const { uid: group } = await platform.group(root);
    const role = await platform.ok("POST", `/iam/v2/roles/${group}`, {
      name: "bound",
      capabilities: ["CAP_REPO_LIST"],
    });
    const binding = await platform.bind(group, await platform.identity(group), role.uid);
    const answer = await both(platform, RolesService.method.deleteRole, { uid: role.uid }, token);
    check(answer, 400, 9, "FAILED_PRECONDITION", "iam.moorage.dev");
    assert.deepEqual(
      detail(answer, "PreconditionFailure")?.violations?.map(({ type, subject }) => [type, subject]),
      [["RESOURCE_IN_USE", role.uid]],
    );
    await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
    await platform.ok("DELETE", `/iam/v2/roles/${role.uid}`);
  });

  test("4: a missing resource of every kind is NOT_FOUND, and so is a malformed uid", async () => {
    const methods: [DescMethodUnary, string][] = [
      [GroupsService.method.getGroup, "moorage.iam.v2.Group"],
      [GroupsService.method.deleteGroup, "moorage.iam.v2.Group"],
      [IdentitiesService.method.getIdentity, "moorage.iam.v2.Identity"],
      [IdentitiesService.method.deleteIdentity, "moorage.iam.v2.Identity"],
      [RolesService.method.getRole, "moorage.iam.v2.Role"],
      [RolesService.method.deleteRole, "moorage.iam.v2.Role"],
      [RoleBindingsService.method.getRoleBinding, "moorage.iam.v2.RoleBinding"],
      [RoleBindingsService.method.deleteRoleBinding, "moorage.iam.v2.RoleBinding"],
      [ReposService.method.getRepo, "moorage.registry.v2.Repo"],
      [ReposService.method.getRepoReadme, "moorage.registry.v2.Repo"],
      [ReposService.method.deleteRepo, "moorage.registry.v2.Repo"],
      [TagsService.method.getTag, "moorage.registry.v2.Tag"],
      [TagsService.method.deleteTag, "moorage.registry.v2.Tag"],
    ];
    for (const [method, type] of methods) {
      for (const uid of [
        NEVER_ISSUED,
        `${root}/${"0".repeat(16)}`,
        "0".repeat(40),
        "none",
        "A/b",
        `${root}/x`,
        `${root.toUpperCase()}`,
      ]) {
        const answer = await both(platform, method, fromJson(method.input, { uid }), token);
        check(answer, 404, 5, "NOT_FOUND", `${type.split(".")[1]}.moorage.dev`);
        assert.deepEqual(
          [detail(answer, "ResourceInfo")?.resourceType, detail(answer, "ResourceInfo")?.resourceName],
          [type, uid],
        );
      }
    }
  });

  test("6: an expired page token is no error, whatever else differs in the request", async () => {
    const { nextPageToken } = await platform.ok("GET", "/iam/v2/roles?page_size=1&order_by=name");
    platform.clock.offsetMs = 4 * 24 * 3_600_000;
    try {
      for (const path of [
        "/iam/v2/roles?order_by=name%20desc&page_size=1",
        "/iam/v2/roles?name=viewer",
        "/registry/v2/repos?page_size=3",
      ]) {
        const [fresh, restarted] = [
          await platform.ok("GET", path),
          await platform.ok("GET", `${path}&page_token=${nextPageToken}`),
        ];
        assert.deepEqual({ ...restarted, nextPageToken: "" }, { ...fresh, nextPageToken: "" });
      }
    } finally {
      platform.clock.offsetMs = 0;
    }
  });
});

describe('docs/contract.md, "Errors"', () => {
  test("one error names all invalid fields, in camelCase and relative to the resource; the message begins with the first", async () => {
    const identity = {
      name: "Bad",
      description: "d".repeat(4097),
      relationship: { case: "claimMatch" as const, value: { iss: { case: "issuer" as const, value: "not a url" } } },
    };
    const answer = await both(platform, IdentitiesService.method.createIdentity, { parent: root, identity }, token);
    assert.deepEqual(blamed(answer), ["name", "description", "claimMatch.issuer", "claimMatch.subject"]);
    assert.match(answer.body.message, /^Invalid argument: name: /);
    const role = await ask("POST", `/iam/v2/roles/${root}`, { name: "Bad", capabilities: [0] });
    assert.deepEqual(blamed(role), ["name", "capabilities"]);
    const repo = await platform.repo(root);
    const tag = await both(
      platform,
      TagsService.method.createTag,
      { parent: repo.uid, tag: { name: "-", digest: "sha256:short" } },
      token,
    );
    assert.deepEqual(blamed(tag), ["name", "digest"]);
    const binding = await both(
      platform,
      RoleBindingsService.method.createRoleBinding,
      { parent: root, roleBinding: {} },
      token,
    );
    assert.deepEqual(blamed(binding), ["identityUid", "roleUid"]);
    const match = await ask("POST", `/iam/v2/identities/${root}`, { name: "x", claimMatch: {} });
    assert.deepEqual(blamed(match), ["claimMatch.issuer", "claimMatch.subject"]);
    const mixed = await ask("POST", `/registry/v2/repos/${root}?what=1`, { name: 5, nmae: "x", catalogTier: "GOLD" });
    assert.deepEqual(blamed(mixed).toSorted(), ["catalogTier", "name", "nmae", "what"]);
  });

  test("a name in use is ALREADY_EXISTS, for every resource whose names are unique", async () => {
    const { uid: group } = await platform.group(root);
    const role = { name: "taken", capabilities: [] };
    await platform.ok("POST", `/iam/v2/groups/${group}`, { name: "taken" });
    await platform.ok("POST", `/iam/v2/roles/${group}`, role);
    // A group and a repo may share a name.
    await platform.repo(group, { name: "taken" });
    const other = await platform.repo(group, { name: "other" });
    for (const answer of [
      await both(platform, GroupsService.method.createGroup, { parent: group, group: { name: "taken" } }, token),
      await both(platform, ReposService.method.createRepo, { parent: group, repo: { name: "taken" } }, token),
      await both(platform, RolesService.method.createRole, { parent: group, role }, token),
      await both(
        platform,
        ReposService.method.updateRepo,
        { repo: { uid: other.uid, name: "taken" }, updateMask: { paths: ["name"] } },
        token,
      ),
    ]) {
      check(answer, 409, 6, "ALREADY_EXISTS", `${String(answer.body.details[0]?.domain).split(".")[0]}.moorage.dev`);
      assert.equal(detail(answer, "ResourceInfo")?.resourceName, "taken");
    }
    for (const name of ["twice", "twice"]) await platform.ok("POST", `/iam/v2/identities/${group}`, { name });
    const { uid: elsewhere } = await platform.group(root);
    await platform.repo(elsewhere, { name: "taken" });
  });

  test("an unknown path is 404, a wrong method on a known one 405 with Allow", async () => {
    for (const path of [
      "/iam/v2/nothing",
      "/iam/v3/groups",
      "/registry/v2",
      "/iam/v2/groups:frob",
      "/registry/v2/repos/",
    ]) {
      const answer = await ask("GET", path);
      assert.deepEqual([answer.status, answer.body.code, reason(answer)], [404, 5, "NOT_FOUND"], path);
    }
    for (const [method, path, allow] of [
      ["PUT", "/iam/v2/groups", ["GET", "HEAD", "POST"]],
      ["POST", "/registry/v2/repos", ["GET", "HEAD"]],
      ["PUT", `/registry/v2/repos/${root}`, ["DELETE", "GET", "HEAD", "PATCH", "POST"]],
      ["DELETE", "/ping/v2/ping", ["GET", "HEAD"]],
      ["GET", "/iam/v2/roleBindings:batchCreate", ["POST"]],
    ] as const) {
      const answer = await ask(method, path);
      assert.deepEqual([answer.status, answer.body.code], [405, 12], `${method} ${path}`);
      assert.deepEqual(answer.headers["allow"]?.split(", ").toSorted(), allow);
    }
  });

  test("malformed bodies are 400 with what is wrong", async () => {
    for (const raw of [
      "{",
      "[]",
      "null",
      '"x"',
      '{"name": "a",}',
      "\u0000",
      '{"name": 1e999}',
      Buffer.from([0xff, 0xfe]),
    ]) {
      const answer = await platform.call("POST", `/registry/v2/repos/${root}`, { token, raw });
      assert.deepEqual([answer.status, answer.body.code, reason(answer)], [400, 3, "INVALID_ARGUMENT"], String(raw));
      assert.ok(blamed(answer).length > 0, answer.text);
    }
    const form = await platform.call("POST", `/registry/v2/repos/${root}`, {
      token,
      raw: "name=x",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    assert.deepEqual([form.status, blamed(form)], [400, ["content-type"]]);
    const large = await platform.call("POST", `/registry/v2/repos/${root}`, {
      token,
      raw: JSON.stringify({ name: "x", readme: "r".repeat(1 << 20) }),
    });
    assert.deepEqual([large.status, blamed(large)], [400, ["body"]]);
  });

  test("unknown query parameters and body fields are named in the error; output-only fields are ignored", async () => {
    for (const [path, field] of [
      ["/registry/v2/repos?pagesize=3", "pagesize"],
      ["/iam/v2/roles?uidp=x", "uidp"],
      ["/iam/v2/groups?uidp.below=x", "uidp.below"],
      [`/registry/v2/repos/${root}?x`, "x"],
    ] as const) {
      const answer = await ask("GET", path);
      assert.deepEqual([answer.status, blamed(answer)], [400, [field]], path);
    }
    const repo = await platform.repo(root, { uid: "mine", createTime: "yesterday", updateTime: 5 });
    assert.notEqual(repo.uid, "mine");
    const unknown = await ask("POST", `/iam/v2/identities/${root}`, {
      name: "x",
      claimMatch: { issuer: "https://i.example", subject: "s", subjects: [] },
    });
    assert.deepEqual(blamed(unknown), ["claimMatch.subjects"]);
  });

  test("a parent that does not exist is NOT_FOUND; a request without a parent is INVALID_ARGUMENT on parent", async () => {
    const parent = `${root}/${"0".repeat(16)}`;
    for (const answer of [
      await both(platform, GroupsService.method.createGroup, { parent, group: { name: "xyz" } }, token),
      await both(platform, IdentitiesService.method.createIdentity, { parent, identity: { name: "x" } }, token),
      await both(platform, RolesService.method.createRole, { parent, role: { name: "x" } }, token),
      await both(platform, ReposService.method.createRepo, { parent, repo: { name: "x" } }, token),
      await both(platform, TagsService.method.createTag, { parent, tag: { name: "x", digest: DIGEST } }, token),
    ])
      assert.deepEqual([answer.status, reason(answer)], [404, "NOT_FOUND"], answer.text);
    const { error } = await platform.grpc.call(ReposService.method.createRepo, { repo: { name: "x" } }, token);
    assert.equal((error as { code: number }).code, 3);
    const inRepo = await ask("POST", `/registry/v2/repos/${(await platform.repo(root)).uid}`, { name: "x" });
    assert.deepEqual([inRepo.status, reason(inRepo)], [404, "NOT_FOUND"]);
  });
});
