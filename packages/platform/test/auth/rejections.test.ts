import assert from "node:assert/strict";
import { test } from "node:test";
import { Capability } from "@moorage/api";
import { type Answer, anyDigest, startRegistry } from "../../../server/test/support/registry-server.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";

// A refused push, pull or deletion names the identity, the capability it lacks and the path, and must not reveal what
// exists.

const lacks = (identity: string, capability: string, repository: string) => ({
  message: `Permission denied: identity ${identity} lacks ${capability} for ${repository}: no role binding on a group of that path gives it`,
  detail: { identity, capability, repository },
});
const narrowedLacks = (identity: string, capability: string, repository: string) => ({
  message: `Permission denied: the narrowed token of identity ${identity} lacks ${capability} for ${repository}`,
  detail: { identity, capability, repository },
});
const needs = (action: string, repository: string, identity: string, capability: string): string =>
  `to ${action} ${repository}, identity ${identity} needs a role binding with ${capability} on a group of that path`;
/** Without what is added to a push: to which groups the caller may push (test/oci/first-push.test.ts). */
const errorOf = ({ json }: Answer): object => {
  const { pushTo: _, more: __, ...detail } = Object(json.errors[0]?.detail) as Record<string, unknown>;
  return { message: json.errors[0]?.message.replace(/\. Image names begin with .*/, ""), detail };
};
const PULLED = "CAP_MANIFEST_LIST and CAP_REPO_BLOBS_GET";

test("a rejection names identity, capability and path, for every request, the same for content that exists and content that does not", async (t) => {
  const registry = await startRegistry(t);
  const { stranger, viewer, ask } = registry;
  const { body, digest, layer } = await registry.image("acme/real", "one");
  await registry.pushManifest("acme/real", "v1", body);
  const [strange, viewing] = [await registry.mint(stranger), await registry.mint(viewer)];
  // acme/real exists, acme/none and nono/none do not.
  for (const name of ["acme/real", "acme/none", "nono/none", "acme/deep/none"]) {
    const refused: [method: string, path: string, token: string, identity: string, capability: string][] = [
      ["GET", `/v2/${name}/manifests/v1`, strange, stranger, PULLED],
      ["GET", `/v2/${name}/manifests/${digest}`, strange, stranger, PULLED],
      ["GET", `/v2/${name}/blobs/${layer}`, strange, stranger, PULLED],
      ["GET", `/v2/${name}/tags/list`, strange, stranger, "CAP_TAG_LIST"],
      ["GET", `/v2/${name}/referrers/${digest}`, strange, stranger, "CAP_REFERRERS_LIST"],
      ["GET", `/v2/${name}/_service/history/v1`, strange, stranger, "CAP_TAG_LIST"],
      ["POST", `/v2/${name}/blobs/uploads/`, strange, stranger, "CAP_MANIFEST_CREATE"],
      ["POST", `/v2/${name}/blobs/uploads/`, viewing, viewer, "CAP_MANIFEST_CREATE"],
      ["DELETE", `/v2/${name}/manifests/${digest}`, strange, stranger, "CAP_MANIFEST_DELETE"],
      ["DELETE", `/v2/${name}/manifests/v1`, strange, stranger, "CAP_TAG_DELETE"],
      ["DELETE", `/v2/${name}/blobs/${layer}`, strange, stranger, "CAP_MANIFEST_DELETE"],
    ];
    for (const [method, path, token, identity, capability] of refused) {
      const answer = await ask(path, { method, token });
      assert.equal(answer.status, 403, `${method} ${path} ${answer.text}`);
      assert.deepEqual(errorOf(answer), lacks(identity, capability, name), `${method} ${path}`);
    }
    const pushed = await registry.pushManifest(name, "v1", body, { token: strange });
    assert.deepEqual(
      [pushed.status, errorOf(pushed)],
      [403, lacks(stranger, "CAP_MANIFEST_CREATE", name)],
      "it comes from the writing thread",
    );
  }
});

test("the rejection of a push that would create a repository, a group or a tag names the capability for that", async (t) => {
  const registry = await startRegistry(t);
  const C = Capability;
  const { body, manifest } = await registry.image("acme/real", "one");
  await registry.pushManifest("acme/real", "v1", body);
  const changed = JSON.stringify({ ...manifest, annotations: { changed: "yes" } });
  const narrowed = (...capabilities: Capability[]): Promise<string> => registry.mint(registry.owner, { capabilities });
  const push = (name: string, tag: string, token: string): Promise<Answer> =>
    registry.pushManifest(name, tag, changed, { token });
  const pushing = await narrowed(C.CAP_MANIFEST_CREATE);
  assert.deepEqual(
    errorOf(await push("acme/none", "v1", pushing)),
    narrowedLacks(registry.owner, "CAP_REPO_CREATE", "acme/none"),
  );
  const both = "CAP_REPO_CREATE and CAP_IAM_GROUPS_CREATE";
  assert.deepEqual(
    errorOf(await push("acme/deep/none", "v1", pushing)),
    narrowedLacks(registry.owner, both, "acme/deep/none"),
  );
  // Without either capability, an existing tag and a new one are refused alike.
  for (const tag of ["v1", "v2"]) {
    const answer = await push("acme/real", tag, pushing);
    assert.deepEqual(
      [answer.status, errorOf(answer)],
      [403, narrowedLacks(registry.owner, "CAP_TAG_CREATE and CAP_TAG_UPDATE", "acme/real")],
      tag,
    );
  }
  const making = await narrowed(C.CAP_MANIFEST_CREATE, C.CAP_TAG_CREATE);
  assert.deepEqual(
    errorOf(await push("acme/real", "v1", making)),
    narrowedLacks(registry.owner, "CAP_TAG_UPDATE", "acme/real"),
  );
  assert.equal((await push("acme/real", "v2", making)).status, 201);
  const moving = await narrowed(C.CAP_MANIFEST_CREATE, C.CAP_TAG_UPDATE);
  assert.deepEqual(
    errorOf(await push("acme/real", "v3", moving)),
    narrowedLacks(registry.owner, "CAP_TAG_CREATE", "acme/real"),
  );
  assert.equal((await push("acme/real", "v1", moving)).status, 201);
});

test("the rejection of a token without the action names the scope that is needed, whether the content exists or not", async (t) => {
  const registry = await startRegistry(t);
  await registry.pushManifest("acme/real", "v1", (await registry.image("acme/real", "one")).body);
  const { viewer } = registry;
  const pulling = await registry.mint(viewer, {
    type: "registry",
    access: [{ type: "repository", name: "acme/real", actions: ["pull"] }],
  });
  const more = await registry.ask("/v2/acme/real/blobs/uploads/", { method: "POST", token: pulling });
  assert.equal(more.status, 401, "clients trade it for one that covers more");
  assert.match(more.headers.get("www-authenticate") ?? "", /error="insufficient_scope"/);
  assert.deepEqual(errorOf(more), {
    message: `Unauthenticated: the token does not cover this action: ${needs("push", "acme/real", viewer, "CAP_MANIFEST_CREATE")}`,
    detail: { identity: viewer, capability: "CAP_MANIFEST_CREATE", repository: "acme/real" },
  });
  const empty = await registry.mint(viewer, { type: "registry", access: [] });
  for (const name of ["acme/real", "acme/none"]) {
    for (const [method, path, action, capability] of [
      ["GET", `manifests/${anyDigest()}`, "pull", PULLED],
      ["POST", "blobs/uploads/", "push", "CAP_MANIFEST_CREATE"],
      ["DELETE", "manifests/v1", "delete", "CAP_MANIFEST_DELETE or CAP_TAG_DELETE"],
    ] as const) {
      const answer = await registry.ask(`/v2/${name}/${path}`, { method, token: empty });
      assert.deepEqual(
        [answer.status, errorOf(answer)],
        [
          403,
          {
            message: `Permission denied: the token does not cover this repository: ${needs(action, name, viewer, capability)}`,
            detail: { identity: viewer, capability, repository: name },
          },
        ],
      );
    }
  }
  const { token } = (await registry.ask("/token?scope=repository:public/app:pull")).json;
  const anonymous = await registry.ask("/v2/acme/real/manifests/v1", { token });
  assert.deepEqual(
    [anonymous.status, anonymous.json.errors[0]?.detail],
    [403, { identity: "", capability: PULLED, repository: "acme/real" }],
  );
  assert.match(anonymous.json.errors[0]?.message ?? "", /log in first/);
});

test("actions that the token endpoint does not grant are logged with the missing capability", async (t) => {
  const server = await startInstallation(t);
  const { identity } = await server.addIdentity(server.bootstrap.organization.uid, "reader", "registry.pull");
  const token = await server.tokenFor("platform", identity);
  const { access } = await server.grantsOf(
    ["repository:acme/app:pull,push,delete", "repository:nono/app:pull"],
    `reader:${token}`,
  );
  assert.deepEqual(access, { "acme/app": ["pull"] });
  const lines = server.lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === "scopes left out of a registry token");
  assert.deepEqual(
    lines.map((line) => [line["level"], line["identity"], typeof line["requestId"], line["leftOut"]]),
    [
      [
        30,
        identity,
        "string",
        [
          { repository: "acme/app", action: "push", lacking: ["CAP_MANIFEST_CREATE"] },
          { repository: "acme/app", action: "delete", lacking: ["CAP_MANIFEST_DELETE", "CAP_TAG_DELETE"] },
          { repository: "nono/app", action: "pull", lacking: ["CAP_MANIFEST_LIST", "CAP_REPO_BLOBS_GET"] },
        ],
      ],
    ],
  );
  await server.ask("GET", "/token?scope=repository:acme/app:pull");
  assert.equal(
    server.lines.filter((line) => line.includes("scopes left out")).length,
    1,
    "whoever names nobody is not worth a line",
  );
});
