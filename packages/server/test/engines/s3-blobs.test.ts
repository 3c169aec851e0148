import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { LookupFunction } from "node:net";
import { test } from "node:test";
import { UploadPartCommand } from "@aws-sdk/client-s3";
import { openS3Blobs } from "../../../kernel/src/blobs/s3.ts";
import { openBucket } from "../../../kernel/src/blobs/s3-bucket.ts";
import { parseS3Url } from "../../../kernel/src/blobs/s3-url.ts";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { blobStoreSuite, chunks, digestOf, filled, newId } from "../../../kernel/src/blobs/suite.ts";
import { NO_S3, s3Url, wayTo } from "../support/s3.ts";

const MIB = 1024 * 1024;

/** The paths of all objects in the bucket below the URL's prefix. */
async function objectsAt(url: string): Promise<string[]> {
  const location = parseS3Url(url);
  const found: string[] = [];
  for await (const { key } of openBucket(location).list(location.prefix)) found.push(key.slice(location.prefix.length));
  return found;
}

async function unfinishedAt(url: string): Promise<string[]> {
  const location = parseS3Url(url);
  const found: string[] = [];
  for await (const { key } of openBucket(location).listMultiparts(location.prefix))
    found.push(key.slice(location.prefix.length));
  return found;
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

if (NO_S3 !== false) {
  test("blobs in S3", { skip: NO_S3 }, () => {});
} else {
  blobStoreSuite("S3", {
    async open() {
      const url = s3Url();
      return { store: await openS3Blobs(url), reopen: () => openS3Blobs(url) };
    },
  });

  test("objects have the documented keys, and finished uploads leave none", async () => {
    const url = s3Url();
    const store = await openS3Blobs(url);
    const content = Buffer.from("drawn");
    const id = await filled(store, [content.subarray(0, 2), content.subarray(2)]);
    assert.deepEqual(await objectsAt(url), [
      `uploads/${id}/0000000000000000`,
      `uploads/${id}/0000000000000002`,
      `uploads/${id}/start`,
    ]);
    const { digest, generation } = await store.finish(id, digestOf(content));
    const hex = digest.slice("sha256:".length);
    assert.deepEqual(await objectsAt(url), [`blobs/sha256/${hex.slice(0, 2)}/${hex}.${generation}`]);
    assert.deepEqual(
      await allOf(store.listBlobs()).then((found) => found.map((blob) => [blob.digest, blob.generation])),
      [[digest, generation]],
    );
  });

  test("appends of every size are assembled, by copies of several parts and by reading", async () => {
    const url = s3Url();
    const store = await openS3Blobs(url, { partBytes: 5 * MIB, maxParts: 2, copyBytes: 11 * MIB });
    // By one part; by two; by a second object when the first has no more parts; larger than one copy.
    for (const sizes of [
      [4 * MIB],
      [5 * MIB],
      [5 * MIB + 1],
      [10 * MIB + 1],
      [23 * MIB + 7],
      [100, 13 * MIB, 1, 2 * MIB, 6 * MIB, 3],
      [6 * MIB, 7],
    ]) {
      const content = randomBytes(sizes.reduce((sum, size) => sum + size, 0));
      let at = 0;
      const id = await filled(
        store,
        sizes.map((size) => content.subarray(at, (at += size))),
      );
      const blob = await store.finish(id, digestOf(content));
      assert.equal(blob.size, content.length);
      assert.ok((await store.readWhole(blob.digest, blob.generation)).equals(content), sizes.join());
    }
    assert.equal((await objectsAt(url)).length, 7);
    assert.deepEqual(await unfinishedAt(url), []);
  });

  test("a truncated upload, or one that is too long, leaves no object, not even of a second segment", async () => {
    const url = s3Url();
    const store = await openS3Blobs(url, { partBytes: 5 * MIB, maxParts: 2 });
    const id = await filled(store, []);
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield* chunks(randomBytes(17 * MIB));
      throw new Error("the client went away");
    };
    await assert.rejects(store.append(id, 0, failing(), { keepPartial: false }), /the client went away/);
    await assert.rejects(store.append(id, 0, chunks(randomBytes(17 * MIB)), { length: 16 * MIB }), /length/);
    assert.deepEqual(await objectsAt(url), [`uploads/${id}/start`]);
    assert.deepEqual(await unfinishedAt(url), []);
    await assert.rejects(store.append(id, 0, failing()), /the client went away/);
    assert.equal(await store.uploadSize(id), 17 * MIB);
    await store.removeUpload(id);
    assert.deepEqual(await objectsAt(url), []);
  });

  test("a hash in memory is not used for bytes that another process wrote", async () => {
    const url = s3Url();
    const store = await openS3Blobs(url);
    const id = await filled(store, [Buffer.from("mine")]);
    // A server without conditional writes would allow the overwrite.
    const { prefix } = parseS3Url(url);
    await openBucket(parseS3Url(url)).put(`${prefix}uploads/${id}/0000000000000000`, Buffer.from("them"));
    await assert.rejects(store.finish(id, digestOf(Buffer.from("mine"))), /not the digest/);
    assert.deepEqual(await objectsAt(url), []);
  });

  test("multipart uploads of a process that died are listed with their upload, and aborted with it", async () => {
    const url = s3Url();
    const location = parseS3Url(url);
    const bucket = openBucket(location);
    const store = await openS3Blobs(url);
    const [appending, finishing] = [newId(), await filled(store, [Buffer.from("x")])];
    const segment = `${location.prefix}uploads/${appending}/0000000000000000`;
    const { uploadId } = await bucket.startMultipart(segment);
    await bucket.client.send(
      new UploadPartCommand({
        Bucket: bucket.name,
        Key: segment,
        UploadId: uploadId,
        PartNumber: 1,
        Body: randomBytes(1000),
      }),
    );
    const [hex, generation] = ["ab".repeat(32), "0123456789abcdef"];
    await bucket.put(`${location.prefix}uploads/${finishing}/into-sha256-${hex}.${generation}`, Buffer.alloc(0));
    await bucket.startMultipart(`${location.prefix}blobs/sha256/ab/${hex}.${generation}`);
    const other = await bucket.startMultipart(`${location.prefix}blobs/sha256/ab/${hex}.fedcba9876543210`);

    assert.deepEqual(
      (await allOf(store.listUploads())).map(({ id }) => id).toSorted(),
      [appending, finishing].toSorted(),
    );
    for (const { modifiedMs } of await allOf(store.listUploads()))
      assert.ok(Math.abs(Date.now() - modifiedMs) < 60_000);
    await store.removeUpload(appending);
    await store.removeUpload(finishing);
    assert.deepEqual(await allOf(store.listUploads()), []);
    assert.deepEqual(await objectsAt(url), []);
    assert.deepEqual(
      await unfinishedAt(url),
      [`blobs/sha256/ab/${hex}.fedcba9876543210`],
      "another generation is another's",
    );
    await bucket.abortMultipart(`${location.prefix}blobs/sha256/ab/${hex}.fedcba9876543210`, other.uploadId);
  });

  test("a server that accepts requests and never answers is UNAVAILABLE after the timeout", async (t) => {
    const url = s3Url();
    const way = await wayTo(t, url);
    const store = await openS3Blobs(way.url, { silenceTimeoutMs: 200 });
    const content = Buffer.from("content");
    const blob = await store.finish(await filled(store, [content]), digestOf(content));
    way.freeze();
    const unavailable = (error: unknown): boolean => error instanceof MoorageError && error.code === Code.Unavailable;
    await assert.rejects(store.readWhole(blob.digest, blob.generation), unavailable);
    await assert.rejects(store.startUpload(newId()), unavailable);
  });

  test("the bucket is in the path or in the host name, as the URL says, also in presigned URLs", async (t) => {
    const lookup: LookupFunction = (_host, { all }, callback) => {
      if (all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
      else callback(null, "127.0.0.1", 4);
    };
    const content = Buffer.from("where");
    const blob = { digest: digestOf(content), generation: "0123456789abcdef" };
    const { bucket } = parseS3Url(s3Url());
    const path = new URL(
      (await (await openS3Blobs(s3Url())).redirectUrl?.(blob.digest, blob.generation, 60_000)) ?? "",
    );
    assert.ok(path.pathname.startsWith(`/${bucket}/`) && !path.host.startsWith(bucket));
    assert.equal(path.searchParams.get("X-Amz-Expires"), "60");
    if (!process.env["MOORAGE_TEST_S3_VIRTUAL_URL"]) return t.diagnostic("MOORAGE_TEST_S3_VIRTUAL_URL is not set");
    const store = await openS3Blobs(s3Url("virtual"), { lookup });
    const stored = await store.finish(await filled(store, [content]), blob.digest);
    assert.deepEqual(await store.readWhole(stored.digest, stored.generation), content);
    const host = new URL((await store.redirectUrl?.(stored.digest, stored.generation, 60_000)) ?? "");
    assert.ok(host.host.startsWith(`${bucket}.`) && !host.pathname.startsWith(`/${bucket}/`));
  });
}
