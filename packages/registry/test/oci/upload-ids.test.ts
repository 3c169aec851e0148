import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
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
  openOther,
  ownerIdentity,
  push,
  rejection,
  REPO,
  sha,
  uploadOf,
} from "../../../server/test/support/registry-endpoint-client.ts";

// What the id of an upload is worth: nothing is stored for it until bytes arrive, and it says itself whose it is.
const other = await openOther();

const METHODS = ["GET", "PATCH", "PUT", "DELETE"] as const;
const CONTENT = Buffer.from("content");

/** Asks each method of the upload, which must know it under none of them. */
async function unknownTo(path: string, { as, url }: { as?: string; url?: string } = {}): Promise<void> {
  for (const method of METHODS) {
    const query = method === "PUT" ? `?digest=${sha(CONTENT)}` : "";
    const body = method === "PATCH" || method === "PUT" ? { body: CONTENT } : {};
    const response = await ask(method, `${path}${query}`, { ...body, ...(as && { as }), ...(url && { url }) });
    await rejection(response, 404, "BLOB_UPLOAD_UNKNOWN");
  }
}

async function rowsOf(table: "uploads" | "ended_uploads"): Promise<string[]> {
  return (await endpoint.db.selectFrom(table).select("uid").execute()).map(({ uid }) => uid);
}

async function stored(content: Buffer, repo = REPO): Promise<void> {
  const found = await ask("GET", `/v2/${repo}/blobs/${sha(content)}`);
  assert.equal(found.status, 200);
  assert.ok((await bytes(found)).equals(content));
}

test("until its first bytes nothing is stored of an upload, and its status is that of an empty one", async () => {
  await push(CONTENT);
  const upload = await begin();
  assert.deepEqual(await rowsOf("uploads"), []);
  assert.deepEqual(await readdir(join(folder, "uploads")), []);
  const status = await ask("GET", upload);
  assert.equal(status.status, 204);
  assert.equal(status.headers.get("range"), "0-0");
  assert.equal(status.headers.get("location"), upload);
  const content = randomBytes(100_000);
  assert.equal((await ask("PUT", `${upload}?digest=${sha(content)}`, { body: content })).status, 201);
  await stored(content);
  const chunked = await begin();
  assert.equal((await ask("PATCH", chunked, { body: CONTENT })).status, 202);
  assert.deepEqual(await rowsOf("uploads"), [uploadOf(chunked)]);
  assert.equal((await ask("DELETE", chunked)).status, 204);
  assert.deepEqual(await rowsOf("uploads"), []);
  assert.deepEqual(await filesIn("uploads"), []);
});

test("an upload of which nothing is stored takes an empty blob, and a first chunk that begins at 0", async () => {
  const empty = Buffer.alloc(0);
  assert.equal((await ask("PUT", `${await begin()}?digest=${sha(empty)}`)).status, 201);
  await stored(empty);
  const upload = await begin();
  const put = (range: string, body: Buffer<ArrayBuffer>): Promise<Response> =>
    ask("PUT", `${upload}?digest=${sha(CONTENT)}`, { body, headers: { "content-range": range } });
  const misplaced = await put("3-6", CONTENT.subarray(3));
  assert.equal(misplaced.headers.get("range"), "0-0");
  assert.equal(misplaced.headers.get("location"), upload);
  await rejection(misplaced, 416, "BLOB_UPLOAD_INVALID");
  await rejection(await put("x", CONTENT), 400, "BLOB_UPLOAD_INVALID");
  await rejection(await put("0-1", CONTENT), 400, "SIZE_INVALID");
  assert.equal((await put(`0-${CONTENT.length - 1}`, CONTENT)).status, 201);
});

test("an id that the server did not make, or made for another repo or identity, is unknown", async () => {
  await push(CONTENT, "acme/other");
  const upload = await begin();
  const id = upload.slice(upload.lastIndexOf("/") + 1);
  const path = (text: string, repo = REPO): string => `/v2/${repo}/blobs/uploads/${text}`;
  const first = id.startsWith("A") ? "B" : "A";
  for (const forged of [`${first}${id.slice(1)}`, `${id}A`, id.slice(1), uploadOf(upload), "0".repeat(32), "x"])
    await unknownTo(path(forged));
  const stranger = await bearer({ identity: await endpoint.addIdentity(acme) });
  await unknownTo(upload, { as: stranger });
  await unknownTo(path(id, "acme/other"));
  assert.equal((await ask("GET", upload)).status, 204, "nobody else ended it");
});

test("an upload that ended is unknown: completed, canceled, or of a wrong digest, and to every process", async () => {
  const ended: string[] = [];
  const completed = async (): Promise<string> => {
    ended.push(await begin());
    return ended.at(-1) ?? "";
  };
  const put = (path: string, options: object = {}): Promise<Response> =>
    ask("PUT", `${path}?digest=${sha(CONTENT)}`, options);
  assert.equal((await put(await completed(), { body: CONTENT })).status, 201);
  const chunked = await completed();
  await ask("PATCH", chunked, { body: CONTENT });
  assert.equal((await put(chunked)).status, 201);
  await rejection(await put(await completed(), { body: "another" }), 400, "DIGEST_INVALID");
  assert.equal((await ask("DELETE", await completed())).status, 204);
  await cleanUploads(endpoint.deps);
  for (const path of ended) for (const { url } of [endpoint, other]) await unknownTo(path, { url });
  assert.deepEqual(await rowsOf("uploads"), []);
  assert.deepEqual(await filesIn("uploads"), []);
});

test("an id expires with the time for which an upload may receive nothing, and then nothing of it is left", async () => {
  const [upload, ended] = [await begin(), await begin()];
  assert.equal((await ask("DELETE", ended)).status, 204);
  assert.ok((await rowsOf("ended_uploads")).includes(uploadOf(ended)));
  const afterMs = endpoint.deps.config.uploadTtlMs + 60_000;
  endpoint.advance(afterMs);
  try {
    const as = await bearer({ identity: ownerIdentity });
    for (const path of [upload, ended]) await unknownTo(path, { as });
    await cleanUploads(endpoint.deps);
    assert.deepEqual(await rowsOf("ended_uploads"), []);
    for (const path of [upload, ended]) await unknownTo(path, { as });
  } finally {
    endpoint.advance(-afterMs);
  }
});

test("each request of an upload may reach another process", async () => {
  for (const [posted, patched, put] of [
    [endpoint, other, endpoint],
    [other, endpoint, other],
    [endpoint, other, other],
    [other, undefined, endpoint],
  ] as const) {
    const content = randomBytes(10_000);
    const upload = await begin({ url: posted.url });
    const split = patched === undefined ? 0 : 4_000;
    if (patched !== undefined) {
      const chunk = await ask("PATCH", upload, { url: patched.url, body: content.subarray(0, split) });
      assert.equal(chunk.headers.get("range"), `0-${split - 1}`);
      const status = await ask("GET", upload, { url: put.url });
      assert.equal(status.headers.get("range"), `0-${split - 1}`);
    }
    const last = { url: put.url, body: content.subarray(split) };
    assert.equal((await ask("PUT", `${upload}?digest=${sha(content)}`, last)).status, 201);
    await stored(content);
    await unknownTo(upload, { url: posted.url });
  }
});

test("of several requests that complete one upload, at two processes, one succeeds", async () => {
  const content = randomBytes(50_000);
  const upload = await begin();
  const put = (url: string): Promise<Response> =>
    ask("PUT", `${upload}?digest=${sha(content)}`, { url, body: content });
  const answers = await Promise.all([endpoint, other, endpoint, other].map(({ url }) => put(url)));
  const statuses = answers.map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [201, 404, 404, 404]);
  await stored(content);
  const hex = sha(content).slice("sha256:".length);
  assert.equal((await filesIn("blobs")).filter((name) => name.startsWith(hex)).length, 1);
});

test("an upload that an earlier version began is continued by its row", async () => {
  const uid = randomBytes(16).toString("hex");
  const row = await endpoint.db.selectFrom("repo_blobs").select("repo").where("digest", "=", sha(CONTENT)).execute();
  const { repo } = row.at(0) ?? { repo: "" };
  const path = (await endpoint.db.selectFrom("repos").select("name").where("uid", "=", repo).execute()).at(0)?.name;
  const nowMs = Date.now();
  await endpoint.deps.blobs.startUpload(uid);
  const began = { uid, repo, identity: ownerIdentity, create_time: nowMs, update_time: nowMs };
  await endpoint.db.insertInto("uploads").values(began).execute();
  const upload = `/v2/acme/${path}/blobs/uploads/${uid}`;
  assert.equal((await ask("PATCH", upload, { body: CONTENT })).status, 202);
  assert.equal((await ask("PUT", `${upload}?digest=${sha(CONTENT)}`)).status, 201);
  await unknownTo(upload);
});
