import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import {
  type BlobStore,
  openFilesystemBlobs,
  readInto,
  SMALL_BLOB_BYTES,
  type StoredBlob,
} from "@moorage/kernel/blobs";
import { systemClock } from "@moorage/kernel/lib/clock";
import { dropFile, keepFiles, receiveFile } from "./receive.ts";

async function openBlobs(t: TestContext, disk = { isFull: () => false }): Promise<BlobStore> {
  const folder = await mkdtemp(join(tmpdir(), "moorage-received-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return await openFilesystemBlobs(folder, disk);
}

/** What else `keepFiles` needs is for content that was stored before. */
function depsOf(blobs: BlobStore): Parameters<typeof keepFiles>[0] {
  const unused = (): Promise<never> => Promise.reject(new Error("no database is needed here"));
  return { blobs, clock: systemClock, transactor: { read: unused, write: unused } };
}

async function* inPieces(content: Buffer, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes);
}

async function leftIn(blobs: BlobStore): Promise<[uploads: number, blobs: number]> {
  const count = async (list: AsyncIterable<unknown>): Promise<number> => {
    let sum = 0;
    for await (const each of list) sum += each === undefined ? 0 : 1;
    return sum;
  };
  return [await count(blobs.listUploads()), await count(blobs.listBlobs())];
}

const maxBytes = 10 * SMALL_BLOB_BYTES;

test("a file of any size is stored as it came, with its sums", async (t) => {
  const blobs = await openBlobs(t);
  const sizes = [0, 1, SMALL_BLOB_BYTES - 1, SMALL_BLOB_BYTES, SMALL_BLOB_BYTES + 1, maxBytes];
  for (const size of sizes) {
    const content = randomBytes(size);
    const sum = (algorithm: string): string => createHash(algorithm).update(content).digest("hex");
    const received = await receiveFile(blobs, inPieces(content, 10_000), { maxBytes });
    const { md5, sha1, sha256, sha512 } = received;
    assert.deepEqual([md5, sha1, sha256, sha512], ["md5", "sha1", "sha256", "sha512"].map(sum), String(size));
    assert.equal(received.size, size);
    let kept: StoredBlob | undefined;
    await keepFiles(depsOf(blobs), [received], async ([stored]) => {
      kept = stored;
      return { generations: [stored?.generation ?? ""] };
    });
    assert.deepEqual([kept?.digest, kept?.size], [`sha256:${sha256}`, size]);
    assert.ok(content.equals(await readInto(blobs, kept as StoredBlob)), String(size));
  }
  assert.deepEqual(await leftIn(blobs), [0, sizes.length]);
});

test("nothing stays of a file that is too large, breaks off, is dropped or not wanted", async (t) => {
  const blobs = await openBlobs(t);
  for (const size of [100, 3 * SMALL_BLOB_BYTES]) {
    const content = randomBytes(size);
    let ended = 0;
    async function* broken(error?: Error): AsyncGenerator<Uint8Array> {
      try {
        yield* inPieces(content, 50);
        if (error !== undefined) throw error;
      } finally {
        ended += 1;
      }
    }
    await assert.rejects(receiveFile(blobs, broken(), { maxBytes: size - 1 }), /413|more than/);
    await assert.rejects(receiveFile(blobs, broken(new Error("broke off")), { maxBytes }), /broke off/);
    assert.equal(ended, 2, "the source is ended");
    await dropFile(blobs, await receiveFile(blobs, inPieces(content, 50), { maxBytes }));
    const received = await receiveFile(blobs, inPieces(content, 50), { maxBytes });
    await keepFiles(depsOf(blobs), [received], async () => ({ generations: [""] }));
    assert.deepEqual(await leftIn(blobs), [0, 0], String(size));
  }
});

test("on a full disk a file is rejected, its source is ended, and nothing of it stays", async (t) => {
  const blobs = await openBlobs(t, { isFull: () => true });
  let ended = 0;
  async function* watched(size: number): AsyncGenerator<Uint8Array> {
    try {
      yield* inPieces(randomBytes(size), 1_000);
    } finally {
      ended += 1;
    }
  }
  await assert.rejects(receiveFile(blobs, watched(3 * SMALL_BLOB_BYTES), { maxBytes }), /full/);
  assert.equal(ended, 1);
  const small = await receiveFile(blobs, watched(100), { maxBytes });
  await assert.rejects(
    keepFiles(depsOf(blobs), [small], async () => assert.fail("it was recorded")),
    /full/,
  );
  assert.deepEqual(await leftIn(blobs), [0, 0]);
});
