import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { GroupsService, ReposService } from "@moorage/api";
import { type Answer, type Json, type Platform, startPlatform } from "../support/platform.ts";

// Answers of reading methods are cached until the next write. Each test reads twice, so that the second answer comes
// from the cache, then changes what it depends on: the next answer must be current.

let platform: Platform;
let viewer: string;
let token: string;
let binding: string;
let repo: Json;

before(async () => {
  platform = await startPlatform();
  repo = await platform.repo(platform.organization, { name: "again", description: "first" });
  viewer = await platform.identity(platform.organization);
  binding = await platform.bind(platform.organization, viewer, await platform.role("viewer"));
  token = await platform.token(viewer);
});
after(() => platform.close());

const get = (path: string, bearer = token): Promise<Answer> => platform.call("GET", path, { token: bearer });
const twice = async (path: string, bearer = token): Promise<Answer> => {
  const first = await get(path, bearer);
  const second = await get(path, bearer);
  assert.equal(second.text, first.text);
  assert.equal(second.status, first.status);
  assert.notEqual(second.headers["x-request-id"], first.headers["x-request-id"]);
  return second;
};

test("a create, update or delete is visible to the next read", async () => {
  const path = `/registry/v2/repos/${repo.uid}`;
  const list = `/registry/v2/repos?uidp.descendants_of=${platform.organization}`;
  assert.equal((await twice(path)).body.description, "first");
  const before = Number((await twice(list)).body.totalCount);
  await platform.ok("PATCH", path, { description: "second" });
  assert.equal((await twice(path)).body.description, "second");
  const made = await platform.repo(platform.organization);
  assert.equal(Number((await twice(list)).body.totalCount), before + 1);
  assert.equal((await twice(`/registry/v2/repos/${made.uid}`)).status, 200);
  await platform.ok("DELETE", `/registry/v2/repos/${made.uid}`);
  assert.equal((await get(`/registry/v2/repos/${made.uid}`)).status, 404);
  assert.equal(Number((await get(list)).body.totalCount), before);
});

test("a revoked binding, a narrowed role and a deleted identity are visible to the next read", async () => {
  const path = `/registry/v2/repos/${repo.uid}`;
  assert.equal((await twice(path)).status, 200);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  assert.equal((await get(path)).status, 404);

  const role = await platform.ok("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "reader",
    capabilities: ["CAP_REPO_LIST"],
  });
  await platform.bind(platform.organization, viewer, role.uid);
  assert.equal((await twice(path)).status, 200);
  await platform.ok("PATCH", `/iam/v2/roles/${role.uid}`, { capabilities: ["CAP_TAG_LIST"] });
  assert.notEqual((await get(path)).status, 200);
  await platform.ok("PATCH", `/iam/v2/roles/${role.uid}`, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] });

  const gone = await platform.identity(platform.organization, "viewer");
  const theirs = await platform.token(gone);
  assert.equal((await twice(path, theirs)).status, 200);
  await platform.ok("DELETE", `/iam/v2/identities/${gone}`);
  assert.equal((await get(path, theirs)).status, 401);
});

test("a cached answer serves only its own token, and no longer than the token is valid", async () => {
  const path = `/registry/v2/repos/${repo.uid}`;
  const short = await platform.token(undefined, { ttlMs: 30_000 });
  const stranger = await platform.token(
    await platform.identity(await platform.group(platform.organization).then(({ uid }) => uid)),
  );
  assert.equal((await twice(path, short)).status, 200);
  assert.equal((await get(path, stranger)).status, 404);
  assert.equal((await get(path, `${short}x`)).status, 401);
  assert.equal((await platform.call("GET", path)).status, 401);
  // Less than the lifetime of a cached answer.
  platform.clock.offsetMs += 31_000;
  assert.equal((await get(path, short)).status, 401);
});

test("gRPC answers are cached by method and message, and invalidated alike", async () => {
  const owner = await platform.token();
  const read = async (uid: string): Promise<string | undefined> =>
    (await platform.grpc.call(ReposService.method.getRepo, { uid }, owner)).message?.description;
  const other = await platform.repo(platform.organization, { description: "other" });
  await platform.ok("PATCH", `/registry/v2/repos/${repo.uid}`, { description: "third" });
  for (let round = 0; round < 2; round += 1) {
    assert.equal(await read(repo.uid), "third");
    assert.equal(await read(other.uid), "other");
  }
  await platform.ok("PATCH", `/registry/v2/repos/${repo.uid}`, { description: "fourth" });
  assert.equal(await read(repo.uid), "fourth");
  // Another method with the same message is another call.
  const group = await platform.grpc.call(GroupsService.method.getGroup, { uid: platform.organization }, owner);
  assert.equal(group.message?.uid, platform.organization);
  assert.equal(
    (await platform.grpc.call(ReposService.method.getRepo, { uid: platform.organization }, owner)).message,
    undefined,
  );
});
