import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { cleanUploads } from "../../src/oci/blobs/stale-uploads.ts";
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
  uploadOf,
  waitFor,
} from "../../../server/test/support/registry-endpoint-client.ts";

test("a blob is uploaded by POST and PUT, streamed, and in chunks, with either algorithm", async () => {
  for (const algorithm of ["sha256", "sha512"]) {
    const content = randomBytes(100_000);
    const digest = sha(content, algorithm);
    const whole = await ask("PUT", `${await begin()}?digest=${digest}`, { body: content });
    assert.equal(whole.status, 201);
    assert.equal(whole.headers.get("location"), `/v2/${REPO}/blobs/${digest}`);
    const streamed = await begin();
    assert.equal((await ask("PATCH", streamed, { body: content })).headers.get("range"), "0-99999");
    assert.equal((await ask("PUT", `${streamed}?digest=${digest}`)).status, 201);
    const chunked = await begin();
    const first = await ask("PATCH", chunked, {
      body: content.subarray(0, 40_000),
      headers: { "content-range": "0-39999" },
    });
    assert.equal(first.status, 202);
    assert.equal(first.headers.get("range"), "0-39999");
    const last = await ask("PUT", `${chunked}?digest=${digest}`, {
      body: content.subarray(40_000),
      headers: { "content-range": "40000-99999" },
    });
    assert.equal(last.status, 201);
    assert.ok((await bytes(await ask("GET", `/v2/${REPO}/blobs/${digest}`))).equals(content));
  }
  assert.deepEqual(await filesIn("uploads"), []);
});

test("a chunk out of order is answered with 416 and the valid range, and the upload can continue", async () => {
  const content = randomBytes(30);
  const upload = await begin();
  const chunk = (method: string, from: number, to: number, path = upload): Promise<Response> =>
    ask(method, path, { body: content.subarray(from, to + 1), headers: { "content-range": `${from}-${to}` } });
  await rejection(await chunk("PATCH", 10, 19), 416, "BLOB_UPLOAD_INVALID");
  assert.equal((await chunk("PATCH", 0, 9)).status, 202);
  // The same chunk again, as from a client that lost the answer.
  const repeated = await chunk("PATCH", 0, 9);
  assert.equal(repeated.headers.get("range"), "0-9");
  assert.equal(repeated.headers.get("location"), upload);
  assert.equal(repeated.status, 416);
  await rejection(await chunk("PUT", 20, 29, `${upload}?digest=${sha(content)}`), 416, "BLOB_UPLOAD_INVALID");
  const status = await ask("GET", upload);
  assert.equal(status.status, 204);
  assert.equal(status.headers.get("range"), "0-9");
  assert.equal((await chunk("PATCH", 10, 19)).status, 202);
  assert.equal((await chunk("PUT", 20, 29, `${upload}?digest=${sha(content)}`)).status, 201);
});

test("malformed and contradicting chunk headers are rejected", async () => {
  const upload = await begin();
  for (const range of ["x", "5-2", "0-", "bytes=0-1"]) {
    await rejection(
      await ask("PATCH", upload, { body: "ab", headers: { "content-range": range } }),
      400,
      "BLOB_UPLOAD_INVALID",
    );
  }
  await rejection(
    await ask("PATCH", upload, { body: "abc", headers: { "content-range": "0-1" } }),
    400,
    "SIZE_INVALID",
  );
  assert.equal((await ask("GET", upload)).headers.get("range"), "0-0");
});

test("a wrong digest is rejected and leaves nothing behind", async () => {
  const blobs = await filesIn("blobs");
  const wrong = sha(Buffer.from("something else"));
  const upload = await begin();
  await ask("PATCH", upload, { body: "content" });
  await rejection(await ask("PUT", `${upload}?digest=${wrong}`), 400, "DIGEST_INVALID");
  await rejection(await ask("GET", upload), 404, "BLOB_UPLOAD_UNKNOWN");
  await rejection(
    await ask("POST", `/v2/${REPO}/blobs/uploads/?digest=${wrong}`, { body: "content" }),
    400,
    "DIGEST_INVALID",
  );
  for (const digest of ["", "sha256:x", "md5:abc"]) {
    await rejection(
      await ask("POST", `/v2/${REPO}/blobs/uploads/?digest=${digest}`, { body: "content" }),
      400,
      "DIGEST_INVALID",
    );
    await rejection(await ask("PUT", `${await begin()}?digest=${digest}`, { body: "content" }), 400, "DIGEST_INVALID");
  }
  await rejection(await ask("PUT", await begin(), { body: "content" }), 400, "DIGEST_INVALID");
  await rejection(
    await ask("HEAD", `/v2/${REPO}/blobs/${wrong}`).then(() => ask("GET", `/v2/${REPO}/blobs/${wrong}`)),
    404,
    "BLOB_UNKNOWN",
  );
  assert.deepEqual(await filesIn("blobs"), blobs);
});

test("a canceled upload is removed", async () => {
  const upload = await begin();
  await ask("PATCH", upload, { body: "content" });
  assert.equal((await ask("DELETE", upload)).status, 204);
  for (const method of ["GET", "PATCH", "DELETE"]) {
    await rejection(await ask(method, upload, method === "PATCH" ? { body: "x" } : {}), 404, "BLOB_UPLOAD_UNKNOWN");
  }
});

test("an upload is accessible only in its repo and to its identity", async () => {
  const upload = await begin();
  const id = upload.slice(upload.lastIndexOf("/") + 1);
  const other = await bearer({ identity: await endpoint.addIdentity(acme) });
  await rejection(await ask("GET", upload, { as: other }), 404, "BLOB_UPLOAD_UNKNOWN");
  await push(Buffer.from("creates the repo"), "acme/other");
  await rejection(await ask("GET", `/v2/acme/other/blobs/uploads/${id}`), 404, "BLOB_UPLOAD_UNKNOWN");
});

test("a client that disconnects can resume its upload", async () => {
  const content = randomBytes(2_000_000);
  const upload = await begin();
  const half = request(endpoint.url + upload, {
    method: "PATCH",
    headers: { authorization: owner, "content-length": content.length },
  });
  half.on("error", () => undefined);
  half.write(content.subarray(0, 1_000_000));
  // The bytes are on the disk, though not yet synced.
  await waitFor(async () => {
    const found = await stat(join(folder, "uploads", uploadOf(upload))).catch(() => undefined);
    return (found?.size ?? 0) > 0;
  });
  half.destroy();
  let received = 0;
  await waitFor(async () => {
    // The upload is busy until the server notices that the client has disconnected.
    const status = await ask("GET", upload);
    received = Number(status.headers.get("range")?.slice(2)) + 1;
    const rest = await ask("PATCH", upload, {
      body: content.subarray(received),
      headers: { "content-range": `${received}-${content.length - 1}` },
    });
    return rest.status === 202;
  });
  assert.equal((await ask("PUT", `${upload}?digest=${sha(content)}`)).status, 201);
});

test("of several concurrent writes to one upload, one succeeds and the blob is complete", async () => {
  const content = randomBytes(500_000);
  const upload = await begin();
  const headers = { "content-range": `0-${content.length - 1}` };
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask("PATCH", upload, { body: content, headers })));
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 202).length, 1, String(statuses));
  assert.ok(
    statuses.every((status) => [202, 409, 416].includes(status)),
    String(statuses),
  );
  assert.equal((await ask("PUT", `${upload}?digest=${sha(content)}`)).status, 201);
});

test("a blob that many clients push concurrently is stored once", async () => {
  const content = randomBytes(100_000);
  await Promise.all(Array.from({ length: 8 }, (_, index) => push(content, `acme/many-${index % 3}`)));
  const hex = sha(content).slice("sha256:".length);
  assert.equal((await filesIn("blobs")).filter((name) => name.startsWith(hex)).length, 1);
  for (const index of [0, 1, 2])
    assert.ok((await bytes(await ask("GET", `/v2/acme/many-${index}/blobs/${sha(content)}`))).equals(content));
});

test("abandoned uploads and files without a record are removed; content in use stays", async () => {
  const content = randomBytes(1000);
  const digest = await push(content);
  const upload = await begin();
  await ask("PATCH", upload, { body: "abandoned" });
  const orphan = "0".repeat(32);
  await endpoint.deps.blobs.startUpload(orphan);
  const lost = await endpoint.deps.blobs.finish(orphan, sha(Buffer.alloc(0), "sha512"));
  assert.deepEqual(await cleanUploads(endpoint.deps), { uploads: 0, blobs: 0 });
  assert.equal((await ask("GET", upload)).status, 204);
  endpoint.advance(endpoint.deps.config.uploadTtlMs + 60_000);
  try {
    const cleaned = await cleanUploads(endpoint.deps);
    assert.ok(cleaned.uploads >= 1);
    assert.equal(cleaned.blobs, 1);
    const as = await bearer({ identity: ownerIdentity });
    await rejection(await ask("GET", upload, { as }), 404, "BLOB_UPLOAD_UNKNOWN");
  } finally {
    endpoint.advance(-endpoint.deps.config.uploadTtlMs - 60_000);
  }
  await assert.rejects(endpoint.deps.blobs.readWhole(lost.digest, lost.generation));
  assert.ok((await bytes(await ask("GET", `/v2/${REPO}/blobs/${digest}`))).equals(content));
  assert.deepEqual(await filesIn("uploads"), []);
});

test("after a server is killed, an upload resumes on the next one from what was synced", async () => {
  const content = randomBytes(3_000_000);
  const start = async (): Promise<{ child: ReturnType<typeof spawn>; url: string }> => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL("../../../server/test/support/registry-endpoint.ts", import.meta.url)), folder],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const [line] = (await once(child.stdout ?? child, "data")) as [Buffer];
    return { child, url: line.toString().trim() };
  };
  const first = await start();
  const upload = await begin({ url: first.url });
  assert.equal((await ask("PATCH", upload, { url: first.url, body: content.subarray(0, 1_000_000) })).status, 202);
  const headers = { authorization: owner, "content-range": "1000000-2999999", "content-length": 2_000_000 };
  const half = request(first.url + upload, { method: "PATCH", headers });
  half.on("error", () => undefined);
  half.write(content.subarray(1_000_000, 2_000_000));
  const id = uploadOf(upload);
  await waitFor(async () => (await stat(join(folder, "uploads", id))).size > 1_000_000);
  assert.equal(await endpoint.deps.blobs.uploadSize(id), 1_000_000, "another process counts only what is synced");
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  half.destroy();
  const second = await start();
  try {
    const status = await ask("GET", upload, { url: second.url });
    const received = Number(status.headers.get("range")?.slice(2)) + 1;
    assert.ok(received >= 1_000_000);
    const range = { "content-range": `${received}-${content.length - 1}` };
    const rest = await ask("PATCH", upload, { url: second.url, body: content.subarray(received), headers: range });
    assert.equal(rest.status, 202);
    assert.equal((await ask("PUT", `${upload}?digest=${sha(content)}`, { url: second.url })).status, 201);
    assert.ok(
      (await bytes(await ask("GET", `/v2/${REPO}/blobs/${sha(content)}`, { url: second.url }))).equals(content),
    );
  } finally {
    second.child.kill("SIGKILL");
    await once(second.child, "exit");
  }
});
