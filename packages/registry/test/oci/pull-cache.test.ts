import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import {
  digestOf,
  OCI_IMAGE,
  type RegistryServer,
  startRegistry,
} from "../../../server/test/support/registry-server.ts";

// A repeated pull is answered from memory while the database does not change. After any change the next pull must see
// it.

const REPO = "acme/team/app";

async function pulled(registry: RegistryServer, token = "") {
  const image = await registry.image(REPO, "one");
  assert.equal((await registry.pushManifest(REPO, "v1", image.body)).status, 201);
  const targets = [
    `/v2/${REPO}/manifests/v1`,
    `/v2/${REPO}/manifests/${image.digest}`,
    `/v2/${REPO}/blobs/${image.layer}`,
  ];
  const statuses = async (bearer = token): Promise<number[]> =>
    Promise.all(targets.map(async (target) => (await registry.ask(target, { token: bearer })).status));
  return { image, targets, statuses };
}

/** Pulls by tag, by digest and a blob: twice before the change and twice after it. */
async function changes(
  registry: RegistryServer,
  token: string,
  change: (image: { digest: string; layer: string }) => Promise<unknown>,
  after: number[],
): Promise<void> {
  const { image, statuses } = await pulled(registry, token);
  assert.deepEqual(await statuses(), [200, 200, 200]);
  assert.deepEqual(await statuses(), [200, 200, 200]);
  await change(image);
  assert.deepEqual(await statuses(), after);
  assert.deepEqual(await statuses(), after);
}

const DENIED = [403, 403, 403];

test("the next pull sees it when a role binding is removed and created again", async (t) => {
  const registry = await startRegistry(t);
  const { db, viewer } = registry;
  const token = await registry.mint(viewer);
  const binding = await db
    .selectFrom("role_bindings")
    .selectAll()
    .where("identity_uid", "=", viewer)
    .executeTakeFirstOrThrow();
  await changes(registry, token, () => db.deleteFrom("role_bindings").where("uid", "=", binding.uid).execute(), DENIED);
  await db.insertInto("role_bindings").values(binding).execute();
  assert.equal((await registry.ask(`/v2/${REPO}/manifests/v1`, { token })).status, 200);
});

test("the next pull sees it when a role loses capabilities", async (t) => {
  const registry = await startRegistry(t);
  await changes(
    registry,
    await registry.mint(registry.viewer),
    () => registry.db.updateTable("roles").set({ capabilities: "[]" }).where("uid", "=", registry.pullRole).execute(),
    DENIED,
  );
});

test("the next pull sees it when an identity is deleted", async (t) => {
  const registry = await startRegistry(t);
  await changes(
    registry,
    await registry.mint(registry.viewer),
    () => registry.db.deleteFrom("identities").where("uid", "=", registry.viewer).execute(),
    [401, 401, 401],
  );
});

test("the next pull sees it when a group and a repo are renamed", async (t) => {
  const registry = await startRegistry(t);
  const { db } = registry;
  await changes(
    registry,
    await registry.mint(registry.viewer),
    () => db.updateTable("groups").set({ name: "crew" }).where("name", "=", "team").execute(),
    [404, 404, 404],
  );
  assert.equal((await registry.ask("/v2/acme/crew/app/manifests/v1", { token: registry.ownerToken })).status, 200);
  await db.updateTable("repos").set({ name: "application" }).where("name", "=", "app").execute();
  assert.equal((await registry.ask("/v2/acme/crew/app/manifests/v1", { token: registry.ownerToken })).status, 404);
});

test("the next pull sees it when a tag moves and is deleted, and a manifest and a blob are deleted", async (t) => {
  const registry = await startRegistry(t);
  const token = await registry.mint(registry.viewer);
  const { image, targets } = await pulled(registry, token);
  const [byTag = "", byDigest = "", blob = ""] = targets;
  const digest = async (target: string): Promise<string | null> =>
    (await registry.ask(target, { token })).headers.get("docker-content-digest");
  for (const target of [byTag, byDigest, byTag]) assert.equal(await digest(target), image.digest);
  const next = await registry.image(REPO, "two");
  assert.equal((await registry.pushManifest(REPO, "v1", next.body)).status, 201);
  const moved = await registry.ask(byTag, { token });
  assert.deepEqual([moved.headers.get("docker-content-digest"), moved.text], [next.digest, next.body]);
  assert.equal(await digest(byDigest), image.digest);
  const remove = async (target: string): Promise<number> =>
    (await registry.ask(target, { token: registry.ownerToken, method: "DELETE" })).status;
  assert.equal(await remove(byTag), 202);
  assert.equal((await registry.ask(byTag, { token })).status, 404);
  assert.equal((await registry.ask(byDigest, { token })).status, 200);
  assert.equal(await remove(byDigest), 202);
  assert.equal((await registry.ask(byDigest, { token })).status, 404);
  assert.equal((await registry.ask(blob, { token })).status, 200);
  assert.equal(await remove(blob), 202);
  assert.equal((await registry.ask(blob, { token })).status, 404);
});

test("the next pull sees it when a token expires, and a signing key is removed", async (t) => {
  const registry = await startRegistry(t);
  const { clock, db } = registry;
  const short = await registry.mint(registry.viewer, { ttlMs: 60_000 });
  const { statuses } = await pulled(registry, short);
  assert.deepEqual(
    [await statuses(), await statuses()],
    [
      [200, 200, 200],
      [200, 200, 200],
    ],
  );
  clock.offsetMs += 61_000;
  assert.deepEqual(await statuses(), [401, 401, 401]);
  const token = await registry.mint(registry.viewer);
  assert.deepEqual(await statuses(token), [200, 200, 200]);
  await db.deleteFrom("signing_keys").execute();
  // The signing keys are cached for 30 s, also for a pull that is answered from the cache.
  assert.deepEqual(
    [await statuses(token), await statuses(token)],
    [
      [200, 200, 200],
      [200, 200, 200],
    ],
  );
  clock.offsetMs += 30_001;
  assert.deepEqual(await statuses(token), [401, 401, 401]);
});

test("an answer cached for one token is not given to another", async (t) => {
  const registry = await startRegistry(t);
  const { statuses } = await pulled(registry, registry.ownerToken);
  assert.deepEqual(
    [await statuses(), await statuses()],
    [
      [200, 200, 200],
      [200, 200, 200],
    ],
  );
  assert.deepEqual(await statuses(await registry.mint(registry.stranger)), DENIED);
  assert.deepEqual(
    await statuses(await registry.mint(registry.owner, { audiences: ["https://elsewhere.test"] })),
    [401, 401, 401],
  );
  assert.deepEqual(await statuses(await registry.mint(registry.owner, { capabilities: [] })), DENIED);
  const other = { type: "registry", access: [{ type: "repository", name: "acme/other", actions: ["pull"] }] } as const;
  assert.deepEqual(
    await statuses(
      await registry.mint(registry.owner, {
        ...other,
        access: [...other.access].map((one) => ({ ...one, actions: [...one.actions] })),
      }),
    ),
    DENIED,
  );
  assert.deepEqual(await statuses("nonsense"), [401, 401, 401]);
});

test("an image is pulled anonymously until it is no longer public", async (t) => {
  const registry = await startRegistry(t);
  const image = await registry.image("public/tool", "one");
  for (const tag of ["latest", "nightly"])
    assert.equal((await registry.pushManifest("public/tool", tag, image.body)).status, 201);
  const { token } = (await registry.ask("/token?scope=repository:public/tool:pull")).json;
  const status = async (target: string): Promise<number> =>
    (await registry.ask(`/v2/public/tool/${target}`, { token })).status;
  for (const target of ["manifests/latest", `manifests/${image.digest}`, `blobs/${image.layer}`]) {
    assert.deepEqual([await status(target), await status(target)], [200, 200]);
  }
  await registry.db.updateTable("groups").set({ name: "private" }).where("name", "=", "public").execute();
  await registry.db.updateTable("groups").set({ name: "public" }).where("uid", "=", registry.acme).execute();
  for (const target of ["manifests/latest", `manifests/${image.digest}`, `blobs/${image.layer}`])
    assert.equal(await status(target), 404);
});

test("a cached answer has the same bytes and headers, for every method and condition", async (t) => {
  const registry = await startRegistry(t);
  const token = registry.ownerToken;
  const everyByte = Buffer.from(Uint8Array.from({ length: 512 }, (_, at) => at & 255));
  const upload = await registry.ask(`/v2/${REPO}/blobs/uploads/?digest=${digestOf(everyByte)}`, {
    method: "POST",
    token,
    headers: { "content-type": "application/octet-stream" },
    body: everyByte,
  });
  assert.equal(upload.status, 201);
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: OCI_IMAGE,
      annotations: { name: "größer ☃ 🎁" },
      layers: [],
      config: { mediaType: "application/octet-stream", digest: digestOf(everyByte), size: 512 },
    }),
  );
  assert.equal((await registry.pushManifest(REPO, "v1", manifest.toString())).status, 201);
  for (const [target, bytes] of [
    [`/v2/${REPO}/manifests/v1`, manifest],
    [`/v2/${REPO}/blobs/${digestOf(everyByte)}`, everyByte],
  ] as const) {
    const get = async (method: string, headers: Record<string, string> = {}) => {
      const response = await fetch(registry.baseUrl + target, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      const {
        date: _,
        connection: _closing,
        "keep-alive": _alive,
        "x-request-id": _id,
        ...rest
      } = Object.fromEntries(response.headers);
      return { status: response.status, headers: rest, bytes: Buffer.from(await response.arrayBuffer()) };
    };
    const notCached = await get("GET", { "if-none-match": "*" });
    const first = await get("GET");
    assert.deepEqual([first.status, first.bytes], [200, bytes]);
    assert.deepEqual(await get("GET", { "if-none-match": "*" }), notCached);
    assert.deepEqual(await get("GET"), first);
    assert.deepEqual(await get("HEAD"), { ...first, bytes: Buffer.alloc(0) });
    for (const condition of [first.headers["etag"] ?? "", "*", `"other", W/${first.headers["etag"]}`]) {
      const same = await get("GET", { "if-none-match": condition });
      assert.deepEqual(
        [same.status, same.bytes.length, same.headers["content-type"], same.headers["etag"]],
        [304, 0, undefined, first.headers["etag"]],
      );
    }
    assert.deepEqual(await get("GET", { "if-none-match": `"other"` }), first);
    const cached = registry.pulls.get(`${target} Bearer ${token}`, registry.clock.nowMs());
    assert.equal(
      cached !== undefined,
      registry.pulls.snapshot() !== undefined,
      "the answer is cached where the engine reports commits",
    );
  }
  const part = await fetch(`${registry.baseUrl}/v2/${REPO}/blobs/${digestOf(everyByte)}`, {
    headers: { authorization: `Bearer ${token}`, range: "bytes=250-259" },
  });
  assert.deepEqual([part.status, Buffer.from(await part.arrayBuffer())], [206, everyByte.subarray(250, 260)]);
});

test("each answer has each of its headers once: worked on, from memory, in part, and rejected", async (t) => {
  const registry = await startRegistry(t);
  const token = await registry.mint(registry.viewer);
  const { image, targets } = await pulled(registry);
  const [byTag = "", , blob = ""] = targets;
  const asked: [target: string, method?: string, headers?: Record<string, string>][] = [
    ...[...targets, ...targets].map((target): [string] => [target]),
    ...targets.map((target): [string, string] => [target, "HEAD"]),
    [blob, "GET", { range: "bytes=0-1" }],
    [blob, "GET", { range: "bytes=1000000-" }],
    [byTag, "GET", { "if-none-match": `"${image.digest}"` }],
    [blob, "GET", { "if-none-match": `"${image.layer}"` }],
    [`/v2/${REPO}/manifests/none`],
    [`/v2/${REPO}/tags/list`],
    ["/v2/"],
  ];
  for (const [target, method = "GET", headers = {}] of asked) {
    const names = await headerNames(registry.baseUrl + target, method, {
      ...headers,
      authorization: `Bearer ${token}`,
    });
    assert.deepEqual(names, [...new Set(names)], `${method} ${target}`);
    for (const name of ["x-request-id", "docker-distribution-api-version"]) assert.ok(names.includes(name), target);
  }
});

async function headerNames(url: string, method: string, headers: Record<string, string>): Promise<string[]> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers, timeout: 60_000 }, resolve).on("error", reject).end();
  });
  await answer.resume().toArray();
  return answer.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
}
