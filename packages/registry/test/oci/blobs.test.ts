import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { connect } from "node:http2";
import type { Socket } from "node:net";
import { test } from "node:test";
import { Capability } from "@moorage/api";
import fc from "fast-check";
import { openEndpoint } from "../../../server/test/support/registry-endpoint.ts";
import {
  acme,
  ask,
  bearer,
  begin,
  bytes,
  endpoint,
  filesIn,
  folder,
  owner,
  ownerIdentity,
  push,
  rejection,
  REPO,
  sha,
  waitFor,
} from "../../../server/test/support/registry-endpoint-client.ts";

test("a blob is pushed in one request and pulled whole, by HEAD and by GET", async () => {
  for (const size of [0, 1, 64 * 1024, 64 * 1024 + 1, 3_000_000]) {
    const content = randomBytes(size);
    const digest = await push(content);
    const head = await ask("HEAD", `/v2/${REPO}/blobs/${digest}`);
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("content-length"), String(size));
    assert.equal(head.headers.get("docker-content-digest"), digest);
    assert.equal(head.headers.get("docker-distribution-api-version"), "registry/2.0");
    const get = await ask("GET", `/v2/${REPO}/blobs/${digest}`);
    assert.equal(get.headers.get("content-type"), "application/octet-stream");
    assert.ok((await bytes(get)).equals(content));
    assert.equal(
      (await ask("GET", `/v2/${REPO}/blobs/${digest}`, { headers: { "if-none-match": get.headers.get("etag") ?? "" } }))
        .status,
      304,
    );
  }
});

test("a Range request answers the selected bytes", async () => {
  const content = randomBytes(200_000);
  const path = `/v2/${REPO}/blobs/${await push(content)}`;
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 220_000 }),
      fc.nat({ max: 220_000 }),
      fc.constantFrom("both", "open", "suffix"),
      async (first, more, kind) => {
        const range = kind === "both" ? `${first}-${first + more}` : kind === "open" ? `${first}-` : `-${more}`;
        const last = kind === "both" ? first + more + 1 : undefined;
        const expected =
          kind === "suffix" ? content.subarray(Math.max(0, content.length - more)) : content.subarray(first, last);
        const response = await ask("GET", path, { headers: { range: `bytes=${range}` } });
        if (expected.length === 0) {
          assert.equal(response.headers.get("content-range"), `bytes */${content.length}`);
          await rejection(response, 416, "RANGE_INVALID");
          return;
        }
        assert.equal(response.status, 206);
        assert.ok((await bytes(response)).equals(expected));
      },
    ),
    { numRuns: 60 },
  );
  assert.equal((await ask("GET", path, { headers: { range: "bytes=0-1,5-6" } })).status, 200);
  assert.equal((await ask("GET", path, { headers: { range: "bytes=0-1", "if-range": '"other"' } })).status, 200);
});

test("no header and no path causes an internal error", async () => {
  const upload = await begin();
  const text = fc.string({ unit: "grapheme-ascii", maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(text, text, async (header, path) => {
      const range = header.trim() || "x";
      assert.ok((await ask("PATCH", upload, { headers: { "content-range": range } })).status < 500);
      assert.ok((await ask("GET", `/v2/${path.replace(/[\\#]/g, "")}`, { headers: { range } })).status < 500);
      assert.ok(
        (await ask("POST", `/v2/${REPO}/blobs/uploads/?digest=${encodeURIComponent(path)}&mount=x`)).status < 500,
      );
    }),
    { numRuns: 80 },
  );
});

test("a blob is mounted from a repo the caller may pull from, and from no other", async () => {
  const content = randomBytes(1000);
  const digest = await push(content, "acme/source");
  const mount = (as: string, from = "acme/source"): Promise<Response> =>
    ask("POST", `/v2/acme/target/blobs/uploads/?mount=${digest}&from=${from}`, { as });
  await begin({}, "acme/target");
  const covered = await bearer({
    identity: ownerIdentity,
    repositories: [{ name: "acme/target", actions: ["pull", "push"] }],
  });
  assert.equal((await mount(covered)).status, 202);
  for (const from of ["acme/nowhere", "../x", "other/x"]) assert.equal((await mount(owner, from)).status, 202);
  await rejection(await ask("GET", `/v2/acme/target/blobs/${digest}`), 404, "BLOB_UNKNOWN");
  const mounted = await mount(owner);
  assert.equal(mounted.status, 201);
  assert.equal(mounted.headers.get("location"), `/v2/acme/target/blobs/${digest}`);
  assert.ok((await bytes(await ask("GET", `/v2/acme/target/blobs/${digest}`))).equals(content));
});

test("a deleted blob is removed from its repo, and from the disk with its last repo", async () => {
  const content = randomBytes(1000);
  const digest = await push(content, "acme/one");
  await push(content, "acme/two");
  const onDisk = async (): Promise<boolean> =>
    (await filesIn("blobs")).some((name) => name.startsWith(digest.slice("sha256:".length)));
  assert.equal((await ask("DELETE", `/v2/acme/one/blobs/${digest}`)).status, 202);
  await rejection(await ask("GET", `/v2/acme/one/blobs/${digest}`), 404, "BLOB_UNKNOWN");
  await rejection(await ask("DELETE", `/v2/acme/one/blobs/${digest}`), 404, "BLOB_UNKNOWN");
  assert.ok(await onDisk());
  assert.equal((await ask("DELETE", `/v2/acme/two/blobs/${digest}`)).status, 202);
  assert.ok(!(await onDisk()));
  await push(content, "acme/one");
  assert.ok((await bytes(await ask("GET", `/v2/acme/one/blobs/${digest}`))).equals(content));
});

test("a blob that a manifest refers to is not deleted", async () => {
  const digest = await push(Buffer.from("needed"), "acme/needing");
  const { uid } = await endpoint.db
    .selectFrom("repos")
    .select("uid")
    .where("name", "=", "needing")
    .executeTakeFirstOrThrow();
  await endpoint.db
    .insertInto("manifest_references")
    .values({ repo: uid, digest: sha(Buffer.from("manifest")), target: digest, kind: "blob" })
    .execute();
  const rejected = await ask("DELETE", `/v2/acme/needing/blobs/${digest}`);
  assert.equal(rejected.headers.get("allow"), "GET, HEAD");
  await rejection(rejected, 405, "UNSUPPORTED");
  assert.equal((await ask("GET", `/v2/acme/needing/blobs/${digest}`)).status, 200);
});

test("tokens are checked before anything else", async () => {
  const path = `/v2/${REPO}/blobs/${await push(Buffer.from("guarded"))}`;
  const bare = await ask("GET", path, { as: "" });
  assert.equal(
    bare.headers.get("www-authenticate"),
    `Bearer realm="http://registry.test/token",service="registry.test",scope="repository:${REPO}:pull"`,
  );
  await rejection(bare, 401, "UNAUTHORIZED");
  const mount = await ask("POST", `/v2/${REPO}/blobs/uploads/?mount=${sha(Buffer.from("guarded"))}&from=acme/other`, {
    as: "",
  });
  assert.match(
    mount.headers.get("www-authenticate") ?? "",
    /scope="repository:acme\/api:pull,push repository:acme\/other:pull"$/,
    "a mount needs the scope of its source too",
  );
  const broken = await ask("POST", `/v2/${REPO}/blobs/uploads/`, { as: "Bearer broken" });
  assert.match(
    broken.headers.get("www-authenticate") ?? "",
    /scope="repository:acme\/api:pull,push",error="invalid_token",error_description="[^"]+"$/,
  );
  await rejection(broken, 401, "UNAUTHORIZED");
  await rejection(
    await ask("GET", path, { as: await bearer({ identity: ownerIdentity }, "elsewhere") }),
    401,
    "UNAUTHORIZED",
  );
  const pull = await bearer({ identity: ownerIdentity, repositories: [{ name: REPO, actions: ["pull"] }] });
  assert.equal((await ask("GET", path, { as: pull })).status, 200);
  const more = await ask("POST", `/v2/${REPO}/blobs/uploads/`, { as: pull });
  assert.match(
    more.headers.get("www-authenticate") ?? "",
    /scope="repository:acme\/api:pull,push",error="insufficient_scope",error_description="[^"]*"$/,
    "clients exchange it for one that covers more",
  );
  await rejection(more, 401, "UNAUTHORIZED");
  for (const name of ["acme/missing", "nobody/x", "acme/other"])
    await rejection(await ask("GET", path.replace(REPO, name), { as: pull }), 403, "DENIED");
});

test("rights come from role bindings, and a stranger cannot find out what exists", async () => {
  const digest = await push(Buffer.from("rights"));
  const reader = await bearer({
    identity: await endpoint.addIdentity(acme, [Capability.CAP_MANIFEST_LIST, Capability.CAP_REPO_BLOBS_GET]),
  });
  const pusher = await bearer({ identity: await endpoint.addIdentity(acme, [Capability.CAP_MANIFEST_CREATE]) });
  const stranger = await bearer({ identity: await endpoint.addIdentity(endpoint.elsewhere) });
  assert.equal((await ask("GET", `/v2/${REPO}/blobs/${digest}`, { as: reader })).status, 200);
  await rejection(await ask("GET", `/v2/acme/missing/blobs/${digest}`, { as: reader }), 404, "NAME_UNKNOWN");
  await rejection(await ask("POST", `/v2/${REPO}/blobs/uploads/`, { as: reader }), 403, "DENIED");
  await rejection(await ask("DELETE", `/v2/${REPO}/blobs/${digest}`, { as: reader }), 403, "DENIED");
  assert.equal((await ask("POST", `/v2/${REPO}/blobs/uploads/`, { as: pusher })).status, 202);
  await rejection(await ask("POST", "/v2/acme/new-one/blobs/uploads/", { as: pusher }), 403, "DENIED");
  await rejection(await ask("GET", `/v2/${REPO}/blobs/${digest}`, { as: pusher }), 403, "DENIED");
  for (const name of [REPO, "acme/missing", "nowhere/x"]) {
    await rejection(await ask("GET", `/v2/${name}/blobs/${digest}`, { as: stranger }), 403, "DENIED");
    await rejection(await ask("POST", `/v2/${name}/blobs/uploads/`, { as: stranger }), 403, "DENIED");
  }
});

test("concurrent pushes create the repo and its subgroups once", async () => {
  await Promise.all(
    Array.from({ length: 5 }, (_, index) => push(Buffer.from(`blob ${index}`), "acme/team-a/deep/api")),
  );
  const found = await endpoint.db.selectFrom("repos").select("uid").where("name", "=", "api").execute();
  assert.equal(found.filter(({ uid }) => uid.split("/").length === 4).length, 1);
  // An organization cannot be an image.
  await rejection(await ask("POST", "/v2/acme/blobs/uploads/"), 403, "DENIED");
  await rejection(await ask("POST", "/v2/new-organization/api/blobs/uploads/"), 403, "DENIED");
});

test("the connection of a client that takes or sends nothing is closed", async () => {
  const quiet = await openEndpoint(folder, { prepared: true });
  quiet.deps.config.idleTimeoutMs = 100;
  const sockets: Socket[] = [];
  const accepted = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    if (String(socket.localPort) === new URL(quiet.url).port) sockets.push(socket);
  };
  subscribe("net.server.socket", accepted);
  try {
    const digest = await push(randomBytes(64 * 1024 * 1024));
    const download = request(`${quiet.url}/v2/${REPO}/blobs/${digest}`, { headers: { authorization: owner } });
    download.end();
    const [response] = (await once(download, "response")) as [IncomingMessage];
    let received = 0;
    assert.equal(sockets.length, 1);
    await waitFor(async () => sockets.every(({ closed }) => closed));
    await assert.rejects(async () => {
      for await (const chunk of response) received += (chunk as Buffer).length;
    });
    assert.ok(received < 64 * 1024 * 1024);
    const upload = await begin();
    const half = request(quiet.url + upload, {
      method: "PATCH",
      headers: { authorization: owner, "content-length": 10 },
    });
    half.write("abc");
    await assert.rejects(once(half, "response"));
    // What arrived before the connection was closed may still be being written.
    const resume = async (): Promise<number> =>
      (await ask("PATCH", upload, { body: "defghij", headers: { "content-range": "3-9" } })).status;
    let status = 409;
    await waitFor(async () => (status = await resume()) !== 409);
    assert.equal(status, 202);
  } finally {
    unsubscribe("net.server.socket", accepted);
    await quiet.close();
  }
});

test("the registry works over HTTP/2", async () => {
  const session = connect(endpoint.url);
  const ask2 = async (
    headers: Record<string, string>,
    body?: Buffer,
  ): Promise<{ headers: IncomingHttpHeaders & { ":status"?: number }; body: Buffer }> => {
    const stream = session.request({ authorization: owner, ...headers }, { endStream: body === undefined });
    if (body) stream.end(body);
    const answered = once(stream, "response") as Promise<[IncomingHttpHeaders]>;
    const parts: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => parts.push(chunk));
    const [answer] = await answered;
    await once(stream, "close");
    return { headers: answer, body: Buffer.concat(parts) };
  };
  try {
    const content = randomBytes(3_000_000);
    const begun = await ask2({ ":method": "POST", ":path": `/v2/${REPO}/blobs/uploads/` });
    assert.equal(begun.headers[":status"], 202);
    const upload = begun.headers.location ?? "";
    assert.equal((await ask2({ ":method": "PATCH", ":path": upload }, content)).headers.range, "0-2999999");
    assert.equal(
      (await ask2({ ":method": "PATCH", ":path": upload, "content-range": "0-9" }, content.subarray(0, 10))).headers[
        ":status"
      ],
      416,
    );
    assert.equal((await ask2({ ":method": "GET", ":path": upload })).headers[":status"], 204);
    assert.equal(
      (await ask2({ ":method": "PUT", ":path": `${upload}?digest=${sha(content)}` })).headers[":status"],
      201,
    );
    const path = `/v2/${REPO}/blobs/${sha(content)}`;
    assert.ok((await ask2({ ":method": "GET", ":path": path })).body.equals(content));
    assert.equal((await ask2({ ":method": "HEAD", ":path": path })).headers["content-length"], "3000000");
    assert.equal((await ask2({ ":method": "HEAD", ":path": path.slice(0, -1) + "x" })).headers[":status"], 400);
    assert.ok(
      (await ask2({ ":method": "GET", ":path": path, range: "bytes=5-1000000" })).body.equals(
        content.subarray(5, 1_000_001),
      ),
    );
  } finally {
    session.destroy();
  }
});

test("the base path, unknown paths, wrong methods and invalid names", async () => {
  assert.deepEqual(await (await ask("GET", "/v2/")).json(), {});
  assert.equal((await ask("GET", "/v2/", { as: await bearer({ repositories: [] }) })).status, 200);
  const bare = await ask("GET", "/v2/", { as: "" });
  assert.equal(
    bare.headers.get("www-authenticate"),
    'Bearer realm="http://registry.test/token",service="registry.test"',
  );
  await rejection(bare, 401, "UNAUTHORIZED");
  const wrong = await ask("PUT", `/v2/${REPO}/blobs/${sha(Buffer.from(""))}`, { body: "x" });
  assert.equal(wrong.headers.get("allow"), "GET, HEAD, DELETE");
  await rejection(wrong, 405, "UNSUPPORTED");
  await rejection(await ask("GET", "/v2/acme/api/nothing/here"), 404, "UNSUPPORTED");
  await rejection(await ask("GET", `/v2/Acme/api/blobs/${sha(Buffer.from(""))}`), 400, "NAME_INVALID");
  await rejection(await ask("GET", "/v2/acme/api/blobs/sha256:abc"), 400, "DIGEST_INVALID");
  await rejection(await ask("GET", "/v2/%zz/api/tags/list"), 400, "NAME_INVALID");
});
