import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import {
  AccountAssociationsService,
  GroupsService,
  IdentitiesService,
  ReposService,
  RoleBindingsService,
  TagsService,
} from "@moorage/api";
import { blamed, type Json, type Platform, rows, startPlatform } from "../support/platform.ts";

// What a request's body must have. Source: docs/contract.md, "JSON" and "Updating".
let platform: Platform;
let token: string;
let group: string;
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  group = (await platform.group(platform.organization)).uid;
});
after(() => platform.close());

test("a POST without a body where the resource is required is refused over REST and gRPC, and makes nothing", async () => {
  const creations: [string[], string, DescMethodUnary][] = [
    [["accountAssociation"], "/iam/v2/accountAssociations", AccountAssociationsService.method.createAccountAssociation],
    [["name"], "/iam/v2/groups", GroupsService.method.createGroup],
    [["name"], "/iam/v2/identities", IdentitiesService.method.createIdentity],
    [["identityUid", "roleUid"], "/iam/v2/roleBindings", RoleBindingsService.method.createRoleBinding],
    [["name"], "/registry/v2/repos", ReposService.method.createRepo],
  ];
  for (const [fields, path, method] of creations) {
    const answer = await platform.call("POST", `${path}/${group}`, { token });
    assert.deepEqual([answer.status, answer.body.code, blamed(answer)], [400, 3, fields], path);
    const { error } = await platform.grpc.call(method, { parent: group }, token);
    assert.deepEqual(answer.body, error, path);
    const list = await platform.ok("GET", `${path}?uidp.children_of=${group}`);
    assert.equal(list.totalCount, "0", path);
  }
  const none = await platform.call("GET", `/iam/v2/accountAssociations/${group}`, { token });
  assert.equal(none.status, 404);
  const repo = await platform.repo(group);
  assert.deepEqual(blamed(await platform.call("POST", `/registry/v2/tags/${repo.uid}`, { token })), ["name", "digest"]);
  const { error } = await platform.grpc.call(TagsService.method.createTag, { parent: repo.uid }, token);
  assert.equal(error?.code, 3);
});

test("whoever may not create learns nothing of what the body lacks", async () => {
  const nobody = await platform.token(await platform.identity(platform.organization));
  const answer = await platform.call("POST", `/iam/v2/accountAssociations/${group}`, { token: nobody });
  assert.equal(answer.status, 404);
});

test("a PATCH with a mask and no body is refused and clears nothing", async () => {
  const repo = await platform.repo(group, { description: "kept", readme: "kept" });
  const path = `/registry/v2/repos/${repo.uid}`;
  for (const mask of ["description", "description,readme", "*"]) {
    const answer = await platform.call("PATCH", `${path}?updateMask=${mask}`, { token });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["body"]], mask);
  }
  assert.deepEqual(await platform.ok("GET", path), repo);
  assert.equal((await platform.ok("PATCH", `${path}?updateMask=description`, {})).description, "", "{} is a body");
});

test("a body without a Content-Type, or with an empty one, is read as JSON", async () => {
  for (const [name, headers] of [
    ["typeless", {}],
    ["empty-type", { "content-type": "" }],
  ] as const) {
    const made = await send("POST", `/iam/v2/groups/${group}`, { name }, headers);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const changed = await send("PATCH", `/iam/v2/groups/${made.body.uid}`, { description: "d" }, headers);
    assert.deepEqual([changed.status, changed.body.description], [200, "d"], name);
    const exchanged = await send("POST", "/sts/exchange", { aud: platform.url }, headers);
    assert.doesNotMatch(JSON.stringify(exchanged.body), /application\/json/, name);
  }
});

/** `fetch` adds no Content-Type of its own to bytes. */
async function send(
  method: string,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<{ status: number; body: Json }> {
  const answer = await fetch(platform.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

test("a batch whose request names another role than the batch is refused whole", async () => {
  const identityUid = await platform.identity(group);
  const [viewer, editor] = [await platform.role("viewer"), await platform.role("editor")];
  const batch = (requests: object[]) =>
    platform.call("POST", "/iam/v2/roleBindings:batchCreate", {
      token,
      body: { parent: group, roleUid: viewer, requests },
    });
  const bindings = async () => rows(platform.ok("GET", `/iam/v2/roleBindings?group=${group}`), "roleBindings");
  const refused = await batch([{ roleBinding: { identityUid } }, { roleBinding: { identityUid, roleUid: editor } }]);
  assert.deepEqual([refused.status, blamed(refused)], [400, ["requests[1].roleBinding.roleUid"]]);
  assert.deepEqual(await bindings(), []);
  assert.equal((await batch([{ roleBinding: { identityUid, roleUid: viewer } }])).status, 200);
  assert.equal((await bindings()).length, 1);
});
