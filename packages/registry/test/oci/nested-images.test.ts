import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

// `acme/web` and `acme/web/cache` are both images: a group and a repo of one name stand side by side, each with its own
// uid, rights, token scopes and tags.

async function open(t: TestContext) {
  const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
  t.after(() => platform.close());
  const audience = new URL(platform.url).host;
  const registry = async (method: string, path: string, identity = platform.owner): Promise<Answer> =>
    platform.call(method, `/v2/${path}`, { token: await platform.token(identity, { audience }) });
  const one = async (path: string, plural: string): Promise<string> => {
    const [found, ...others] = await rows(platform.ok("GET", path), plural);
    assert.deepEqual(others, []);
    return found?.uid ?? "";
  };
  return {
    platform,
    registry,
    tagsOf: async (name: string) =>
      (await registry("GET", `${name}/tags/list`)).body as { name?: string; tags?: unknown },
    repo: (parent: string, name: string) => one(`/registry/v2/repos?uidp.children_of=${parent}&name=${name}`, "repos"),
    group: (parent: string, name: string) => one(`/iam/v2/groups?uidp.children_of=${parent}&name=${name}`, "groups"),
  };
}

const refusedWith = async (platform: Platform, method: string, path: string, body: object): Promise<number> =>
  (await platform.call(method, path, { token: await platform.token(), body })).status;

test("an image is pushed below an image and over a group, in either order; both are pulled and listed", async (t) => {
  const { platform, registry, tagsOf, repo, group } = await open(t);
  const { organization } = platform;
  // The outer one first, then the other way round, and three levels deep.
  for (const name of ["acme/web", "acme/web/cache", "acme/tool/plugin", "acme/tool", "acme/web/cache/deep"])
    await pushImage(platform, name, name.replaceAll("/", "-"));
  for (const name of ["acme/web", "acme/web/cache", "acme/tool/plugin", "acme/tool", "acme/web/cache/deep"]) {
    const tag = name.replaceAll("/", "-");
    assert.equal((await registry("GET", `${name}/manifests/${tag}`)).status, 200, name);
    assert.deepEqual(await tagsOf(name), { name, tags: [tag] });
  }
  const [web, inner] = [await repo(organization, "web"), await group(organization, "web")];
  assert.notEqual(web, inner);
  assert.ok((await repo(inner, "cache")).startsWith(`${inner}/`));
  const listed = await rows(platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${organization}`), "repos");
  assert.deepEqual(listed.map(({ name }) => name).toSorted(), ["cache", "deep", "plugin", "tool", "web"]);
  const groups = await rows(platform.ok("GET", `/iam/v2/groups?uidp.descendants_of=${organization}`), "groups");
  assert.deepEqual(groups.map(({ name }) => name).toSorted(), ["acme", "cache", "tool", "web"]);

  // Each goes without the other, and its name is free then.
  await platform.ok("DELETE", `/registry/v2/repos/${web}`);
  assert.equal((await registry("GET", "acme/web/manifests/acme-web")).status, 404);
  assert.equal((await registry("GET", "acme/web/cache/manifests/acme-web-cache")).status, 200);
  await pushImage(platform, "acme/web", "again");
  assert.equal(
    (await platform.call("DELETE", `/iam/v2/groups/${inner}`, { token: await platform.token() })).status,
    400,
  );
  const tools = await group(organization, "tool");
  await platform.ok("DELETE", `/registry/v2/repos/${await repo(tools, "plugin")}`);
  await platform.ok("DELETE", `/iam/v2/groups/${tools}`);
  assert.deepEqual(await tagsOf("acme/tool"), { name: "acme/tool", tags: ["acme-tool"] });
});

test("rights and registry tokens for one of the two say nothing about the other", async (t) => {
  const { platform, registry, group } = await open(t);
  const { organization } = platform;
  for (const name of ["acme/web", "acme/web/cache"]) await pushImage(platform, name, "v1");
  const inner = await group(organization, "web");
  const member = await platform.identity(organization);
  await platform.bind(inner, member, await platform.role("registry.pull"));
  assert.equal((await registry("GET", "acme/web/cache/manifests/v1", member)).status, 200);
  assert.equal(
    (await registry("GET", "acme/web/manifests/v1", member)).status,
    403,
    "the group's role is not the image's",
  );

  const bearer = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  for (const [name, other] of [
    ["acme/web", "acme/web/cache"],
    ["acme/web/cache", "acme/web"],
  ] as const) {
    const { body } = await platform.call("GET", `/token?scope=repository:${name}:pull`, { token: bearer });
    const token = String(body["token"]);
    assert.equal((await platform.call("GET", `/v2/${name}/manifests/v1`, { token })).status, 200);
    assert.equal((await platform.call("GET", `/v2/${other}/manifests/v1`, { token })).status, 403);
  }
});

test("the API makes and renames both, while names stay unique among groups and among repos", async (t) => {
  const { platform } = await open(t);
  const { organization } = platform;
  const web = await platform.repo(organization, { name: "web" });
  const inner = await platform.group(organization, { name: "web" });
  const [other, outer] = [
    await platform.repo(organization, { name: "other" }),
    await platform.group(organization, { name: "outer" }),
  ];
  const refused = (method: string, path: string, body: object): Promise<number> =>
    refusedWith(platform, method, path, body);
  assert.equal(await refused("POST", `/registry/v2/repos/${organization}`, { name: "web" }), 409);
  assert.equal(await refused("POST", `/iam/v2/groups/${organization}`, { name: "web" }), 409);
  assert.equal(await refused("PATCH", `/registry/v2/repos/${other.uid}?updateMask=name`, { name: "web" }), 409);
  assert.equal(await refused("PATCH", `/iam/v2/groups/${outer.uid}?updateMask=name`, { name: "web" }), 409);
  await platform.ok("PATCH", `/registry/v2/repos/${other.uid}?updateMask=name`, { name: "outer" });
  await platform.ok("PATCH", `/iam/v2/groups/${inner.uid}?updateMask=name`, { name: "moved" });
  await platform.ok("PATCH", `/registry/v2/repos/${web.uid}?updateMask=name`, { name: "moved" });
  assert.equal(await refused("PATCH", `/registry/v2/repos/${web.uid}?updateMask=name`, { name: "moved" }), 200);
});

test("a part of a path may have one or two characters: a push creates the groups", async (t) => {
  const { platform, registry, tagsOf, group } = await open(t);
  for (const name of ["acme/ci/app", "acme/q/a/api"]) {
    await pushImage(platform, name, "v1");
    assert.equal((await registry("GET", `${name}/manifests/v1`)).status, 200, name);
    assert.deepEqual(await tagsOf(name), { name, tags: ["v1"] });
  }
  assert.notEqual(await group(await group(platform.organization, "q"), "a"), "");
});
