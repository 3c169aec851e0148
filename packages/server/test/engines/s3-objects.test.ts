// Objects of a bucket become blobs: copied by the S3 server itself where it can, and through this process elsewhere.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type BlobStore, openContentBucket, openFilesystemBlobs } from "../../../kernel/src/blobs/index.ts";
import { openS3Blobs } from "../../../kernel/src/blobs/s3.ts";
import { openBucket } from "../../../kernel/src/blobs/s3-bucket.ts";
import { parseS3Url } from "../../../kernel/src/blobs/s3-url.ts";
import { digestOf } from "../../../kernel/src/blobs/suite.ts";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { NO_S3, s3Url, wayTo } from "../support/s3.ts";

const MIB = 1024 * 1024;

const refuses =
  (code: Code, text: RegExp) =>
  (error: unknown): boolean =>
    error instanceof MoorageError && error.code === code && text.test(JSON.stringify([error.message, error.details]));

/** Writes an object as another program does. */
async function put(url: string, key: string, content: Buffer): Promise<void> {
  const location = parseS3Url(url);
  await openBucket(location).put(`${location.prefix}${key}`, content);
}

async function contentOf(store: BlobStore, blob: { digest: string; generation: string; size: number }) {
  const chunks: Buffer[] = [];
  await store.readAll(blob, async (chunk) => void chunks.push(Buffer.from(chunk)));
  return Buffer.concat(chunks);
}

/** The stores that objects come to, each by its name. */
async function storesOf(t: TestContext): Promise<[name: string, store: BlobStore][]> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-objects-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const elsewhere = new URL(s3Url());
  // The same server by another address: its store cannot know that.
  elsewhere.searchParams.set(
    "endpoint",
    (elsewhere.searchParams.get("endpoint") ?? "").replace("127.0.0.1", "localhost"),
  );
  return [
    ["files", await openFilesystemBlobs(folder)],
    ["S3", await openS3Blobs(s3Url())],
    // In parts of 11 MiB and less.
    ["S3 in parts", await openS3Blobs(s3Url(), { copyBytes: 11 * MIB })],
    ["another S3 server", await openS3Blobs(elsewhere.href)],
  ];
}

if (NO_S3 !== false) {
  test("objects become blobs", { skip: NO_S3 }, () => {});
} else {
  test("an object becomes a blob, and stays as it is; what it should not be does not", async (t) => {
    const url = s3Url();
    const bucket = await openContentBucket(url);
    for (const size of [0, 1, 3 * MIB + 17, 23 * MIB]) {
      const content = randomBytes(size);
      await put(url, `data/${size}`, content);
      for (const [name, store] of await storesOf(t)) {
        const object = bucket.object(`data/${size}`);
        const digest = digestOf(content);
        const lying = digestOf(Buffer.from("other"));
        const wrong = refuses(Code.InvalidArgument, /is not the digest of the content/);
        await assert.rejects(store.adopt(object, { digest: lying, size }), wrong, name);
        await assert.rejects(
          store.adopt(object, { digest, size: size + 1 }),
          refuses(Code.InvalidArgument, new RegExp(`has ${size} bytes, and should have ${size + 1}`)),
        );
        await assert.rejects(store.adopt(bucket.object("data/none"), { digest, size }), refuses(Code.NotFound, /none/));
        const { how, ...blob } = await store.adopt(object, { digest, size });
        assert.deepEqual([name, how, blob.size], [name, "copy", size]);
        assert.ok((await contentOf(store, blob)).equals(content), `${name}: ${size} bytes`);
        await store.remove(digest, blob.generation);
        for await (const left of store.listBlobs()) assert.fail(`${name}: ${left.digest} was left behind`);
        for await (const left of store.listUploads()) assert.fail(`${name}: the upload ${left.id} was left behind`);
      }
      assert.equal(await bucket.size(`data/${size}`), size);
    }
  });

  test("the bytes of an object of the store's own server do not pass through this process", async (t) => {
    const url = s3Url();
    const content = randomBytes(8 * MIB);
    await put(url, "data", content);
    const way = await wayTo(t, url);
    const store = await openS3Blobs(way.url);
    const object = (await openContentBucket(way.url)).object("data");
    const blob = await store.adopt(object, { digest: digestOf(content), size: content.length });
    assert.ok((await contentOf(store, blob)).equals(content));
    assert.ok(way.proxy.toServer.bytes < content.length, "the content was sent to the server");
  });

  test("an object that is replaced while it is read does not become a blob", async (t) => {
    const url = s3Url();
    const [first, second] = [randomBytes(MIB), randomBytes(MIB)];
    await put(url, "data", first);
    const object = (await openContentBucket(url)).object("data");
    const replaced = {
      ...object,
      async stat() {
        const found = await object.stat();
        await put(url, "data", second);
        return found;
      },
    };
    for (const [name, store] of await storesOf(t)) {
      await put(url, "data", first);
      const blob = { digest: digestOf(first), size: MIB };
      await assert.rejects(
        store.adopt(replaced, blob),
        refuses(Code.InvalidArgument, /changed while it was read/),
        name,
      );
      for await (const left of store.listBlobs()) assert.fail(`${name}: ${left.digest} was left behind`);
    }
  });

  test("what is in a bucket is listed by folders, and read within limits; what cannot be read is said", async (t) => {
    const url = s3Url();
    for (const key of ["a/x/link", "a/y/link", "a/z", "b"]) await put(url, key, Buffer.from(key));
    const bucket = await openContentBucket(url);
    const names = async (folder: string): Promise<string[]> => {
      const found: string[] = [];
      for await (const { name, isFolder } of bucket.list(folder)) found.push(isFolder ? `${name}/` : name);
      return found.toSorted();
    };
    assert.deepEqual([await names(""), await names("a"), await names("none")], [["a/", "b"], ["x/", "y/", "z"], []]);
    assert.deepEqual((await bucket.read("a/x/link", 8))?.content.toString(), "a/x/link");
    assert.equal(await bucket.read("a/none", 8), undefined);
    await assert.rejects(bucket.read("a/x/link", 7), /has more than 7 bytes/);
    assert.equal((await bucket.below("a").read("z", 9))?.content.toString(), "a/z");
    assert.equal((await openContentBucket(bucket.below("a").url)).url, bucket.below("a").url);
    const way = await wayTo(t, url);
    await way.cut();
    const away = await openContentBucket(way.url, { silenceTimeoutMs: 200 });
    await assert.rejects(away.read("b", 9), /cannot be read \(ECONNREFUSED/);
    const other = new URL(url);
    other.host = "none-of-this-name";
    await assert.rejects(
      (await openContentBucket(other.href)).list("").next(),
      /cannot be read \((NoSuchBucket|AccessDenied)/,
    );
  });
}
