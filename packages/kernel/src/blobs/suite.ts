import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Code, MoorageError } from "../errors.ts";
import { type BlobStore, type DigestAlgorithm, SMALL_BLOB_BYTES, type StoredBlob } from "./blob-store.ts";

/** How the suite opens a store: an empty one, and the same one again, as after a restart of the process. */
export interface Engine {
  open(): Promise<{ store: BlobStore; reopen(): Promise<BlobStore> }>;
}

const MIB = 1024 * 1024;

/** The tests that every engine must pass. */
export function blobStoreSuite(name: string, engine: Engine): void {
  test(`${name}: an uploaded blob is read back, whole and in ranges`, async () => {
    const { store } = await engine.open();
    const content = randomBytes(3 * MIB + 17);
    const id = await filled(store, [content.subarray(0, MIB), content.subarray(MIB)]);
    const blob = await store.finish(id, digestOf(content));
    assert.equal(blob.size, content.length);
    assert.deepEqual(await store.readWhole(blob.digest, blob.generation), content);
    for (const [start, end] of [
      [0, content.length - 1],
      [0, 0],
      [content.length - 1, content.length - 1],
      [MIB - 3, 2 * MIB + 5],
    ] as const) {
      assert.deepEqual(await received(store, blob, start, end), content.subarray(start, end + 1));
    }
    await assert.rejects(store.uploadSize(id), isCode(Code.NotFound));
  });

  test(`${name}: a blob is stored from memory, and survives a restart`, async () => {
    const { store, reopen } = await engine.open();
    const blobs: [StoredBlob, Buffer][] = [];
    for (const size of [0, 1, SMALL_BLOB_BYTES])
      for (let times = 0; times < 2; times += 1) {
        const content = randomBytes(size);
        blobs.push([await store.storeWhole(content, digestOf(content)), content]);
      }
    const again = await reopen();
    for (const [blob, content] of blobs) {
      assert.deepEqual([blob.digest, blob.size], [digestOf(content), content.length]);
      assert.deepEqual(await again.readWhole(blob.digest, blob.generation), content);
    }
    assert.equal(new Set(blobs.map(([{ generation }]) => generation)).size, blobs.length);
    await assert.rejects(store.storeWhole(Buffer.alloc(1), "sha256:../../x"), isCode(Code.NotFound));
  });

  test(`${name}: a file becomes a blob, and stays as it is; one with other content does not`, async (t) => {
    const { store, reopen } = await engine.open();
    const folder = await mkdtemp(join(tmpdir(), "moorage-file-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    for (const size of [0, 1, SMALL_BLOB_BYTES + 1, 3 * MIB + 17]) {
      const content = randomBytes(size);
      const file = join(folder, String(size));
      await writeFile(file, content);
      const wrong = { digest: digestOf(Buffer.from("other")), size };
      await assert.rejects(store.adopt(file, wrong), isCode(Code.InvalidArgument));
      await assert.rejects(store.adopt(file, { ...wrong, size: size + 1 }), isCode(Code.InvalidArgument));
      const { digest, generation } = await store.adopt(file, { digest: digestOf(content), size });
      assert.equal(await store.contentSize(digest, generation), size);
      const received: Buffer[] = [];
      await (
        await reopen()
      ).readAll({ digest, generation, size }, async (chunk) => void received.push(Buffer.from(chunk)));
      assert.deepEqual(Buffer.concat(received), content);
      await store.remove(digest, generation);
      assert.deepEqual(await readFile(file), content);
    }
    for await (const left of store.listBlobs()) assert.fail(`${left.digest} was left behind`);
  });

  test(`${name}: a blob that comes whole is stored, whether its length is announced or not`, async () => {
    const { store, reopen } = await engine.open();
    const blobs: [StoredBlob, Buffer][] = [];
    for (const size of [0, 1, SMALL_BLOB_BYTES, SMALL_BLOB_BYTES + 1, 3 * MIB + 17])
      for (const options of [undefined, { length: size }, { length: size, givesChunks: true }]) {
        const content = randomBytes(size);
        const algorithm = options === undefined ? "sha512" : "sha256";
        blobs.push([await store.store(chunks(Buffer.from(content)), digestOf(content, algorithm), options), content]);
      }
    const again = await reopen();
    for (const [blob, content] of blobs) {
      assert.equal(blob.size, content.length);
      assert.deepEqual(await again.readWhole(blob.digest, blob.generation), content);
    }
    assert.equal(new Set(blobs.map(([{ generation }]) => generation)).size, blobs.length);
    assert.deepEqual(await listed(again.listUploads()), []);
  });

  test(`${name}: a blob that comes whole leaves nothing when it has another digest or length, or breaks off`, async () => {
    const { store } = await engine.open();
    for (const size of [0, 100, SMALL_BLOB_BYTES + 1, 3 * MIB]) {
      const content = randomBytes(size);
      const digest = digestOf(content);
      const wrong = digestOf(Buffer.from("another"));
      await assert.rejects(store.store(chunks(content), wrong), isCode(Code.InvalidArgument));
      await assert.rejects(store.store(chunks(content), digest, { length: size + 1 }), isCode(Code.InvalidArgument));
      if (size > 0)
        await assert.rejects(store.store(chunks(content), digest, { length: size - 1 }), isCode(Code.InvalidArgument));
      await assert.rejects(store.store(failing(content), digest), /the client went away/);
      await assert.rejects(store.store(failing(content), digest, { length: size }), /the client went away/);
    }
    await assert.rejects(store.store(chunks(Buffer.alloc(1)), "sha256:../../x"), isCode(Code.NotFound));
    assert.deepEqual(await listed(store.listBlobs()), []);
    assert.deepEqual(await listed(store.listUploads()), []);
  });

  test(`${name}: a blob may be empty`, async () => {
    const { store } = await engine.open();
    const blob = await store.finish(await filled(store, []), digestOf(Buffer.alloc(0)));
    assert.equal(blob.size, 0);
    assert.equal((await store.readWhole(blob.digest, blob.generation)).length, 0);
  });

  test(`${name}: an upload hashed as sha256 can be finished as sha512, and the other way round`, async () => {
    const { store } = await engine.open();
    const content = randomBytes(MIB);
    for (const [guessed, asked] of [
      ["sha256", "sha512"],
      ["sha512", "sha256"],
      ["sha512", "sha512"],
    ] as const) {
      const id = newId();
      await store.startUpload(id);
      await store.append(id, 0, chunks(content), { algorithm: guessed });
      const blob = await store.finish(id, digestOf(content, asked));
      assert.deepEqual(await store.readWhole(blob.digest, blob.generation), content);
    }
  });

  test(`${name}: a wrong digest leaves nothing`, async () => {
    const { store } = await engine.open();
    const id = await filled(store, [Buffer.from("content")]);
    await assert.rejects(store.finish(id, digestOf(Buffer.from("other"))), isCode(Code.InvalidArgument));
    await assert.rejects(store.uploadSize(id), isCode(Code.NotFound));
    assert.deepEqual(await listed(store.listUploads()), []);
    assert.deepEqual(await listed(store.listBlobs()), []);
  });

  test(`${name}: a chunk at any offset but the end is not accepted`, async () => {
    const { store } = await engine.open();
    const id = await filled(store, [Buffer.from("abc")]);
    for (const offset of [0, 2, 4])
      assert.deepEqual(await store.append(id, offset, chunks(Buffer.from("x"))), { accepted: false, size: 3 });
    assert.deepEqual(await store.append(id, 3, chunks(Buffer.from("d"))), { accepted: true, size: 4 });
    await store.finish(id, digestOf(Buffer.from("abcd")));
  });

  test(`${name}: an upload continues after a restart, and a blob survives it`, async () => {
    const { store, reopen } = await engine.open();
    const content = randomBytes(MIB);
    const id = await filled(store, [content.subarray(0, 1000)]);
    const kept = await store.finish(await filled(store, [Buffer.from("kept")]), digestOf(Buffer.from("kept")));
    const again = await reopen();
    assert.equal(await again.uploadSize(id), 1000);
    await again.append(id, 1000, chunks(content.subarray(1000)));
    await again.finish(id, digestOf(content));
    assert.equal((await again.readWhole(kept.digest, kept.generation)).toString(), "kept");
  });

  test(`${name}: an upload that one process began can be continued and finished by others`, async () => {
    const { store, reopen } = await engine.open();
    const other = await reopen();
    const content = randomBytes(MIB);
    for (const [first, second, last] of [
      [store, other, store],
      [store, other, other],
      [store, store, other],
    ] as const) {
      const id = newId();
      await first.startUpload(id);
      assert.deepEqual(await first.append(id, undefined, chunks(content.subarray(0, 1000))), {
        accepted: true,
        size: 1000,
      });
      assert.equal(await second.uploadSize(id), 1000);
      assert.deepEqual(await second.append(id, 0, chunks(content)), { accepted: false, size: 1000 });
      assert.deepEqual(await second.append(id, undefined, chunks(content.subarray(1000, 5000))), {
        accepted: true,
        size: 5000,
      });
      assert.deepEqual(await last.append(id, 5000, chunks(content.subarray(5000))), { accepted: true, size: MIB });
      const blob = await last.finish(id, digestOf(content));
      assert.deepEqual(await received(first, blob, 0, MIB - 1), content);
      for (const process of [store, other]) await assert.rejects(process.uploadSize(id), isCode(Code.NotFound));
    }
    assert.deepEqual(await listed(other.listUploads()), []);
  });

  test(`${name}: of two processes that append at one offset, one succeeds and the other gets an error`, async () => {
    const { store, reopen } = await engine.open();
    const other = await reopen();
    const id = await filled(store, [Buffer.from("ab")]);
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("slow");
      begun.resolve();
      await gate.promise;
    };
    const first = store.append(id, 2, slow());
    await begun.promise;
    const second = other.append(id, 2, chunks(Buffer.from("fast")));
    await Promise.allSettled([second]);
    gate.resolve();
    const ended = await Promise.allSettled([first, second]);
    const lost = ended.filter((result) => result.status === "rejected");
    assert.equal(lost.length, 1);
    assert.ok(isCode(Code.Aborted)(lost[0]?.reason));
    const content = Buffer.from(ended[0].status === "fulfilled" ? "abslow" : "abfast");
    const blob = await store.finish(id, digestOf(content));
    assert.deepEqual(await other.readWhole(blob.digest, blob.generation), content);
  });

  test(`${name}: uploads are listed until they are finished or removed`, async () => {
    const { store } = await engine.open();
    const beganMs = Date.now();
    const ids = [await filled(store, []), await filled(store, [Buffer.from("a"), Buffer.from("b")])];
    const found = await listed(store.listUploads());
    assert.deepEqual(found.map(({ id }) => id).toSorted(), ids.toSorted());
    // Some file systems and servers store whole seconds.
    for (const { modifiedMs } of found) assert.ok(modifiedMs > beganMs - 2000 && modifiedMs < Date.now() + 2000);
    for (const id of ids) await store.removeUpload(id);
    await store.removeUpload(newId());
    assert.deepEqual(await listed(store.listUploads()), []);
  });

  test(`${name}: bytes received before the source failed are kept, unless the caller asks otherwise`, async () => {
    const { store } = await engine.open();
    const id = await filled(store, [Buffer.from("ab")]);
    await assert.rejects(store.append(id, 2, failing(Buffer.from("cd"))), /the client went away/);
    assert.equal(await store.uploadSize(id), 4);
    await assert.rejects(
      store.append(id, 4, failing(Buffer.from("xx")), { keepPartial: false }),
      /the client went away/,
    );
    assert.equal(await store.uploadSize(id), 4);
    await store.append(id, 4, chunks(Buffer.from("ef")));
    await store.finish(id, digestOf(Buffer.from("abcdef")));
  });

  test(`${name}: a body of another length than announced changes nothing`, async () => {
    const { store } = await engine.open();
    const id = await filled(store, [Buffer.from("ab")]);
    for (const body of ["c", "cde"])
      await assert.rejects(store.append(id, 2, chunks(Buffer.from(body)), { length: 2 }), isCode(Code.InvalidArgument));
    await store.append(id, 2, chunks(Buffer.from("cd")), { length: 2 });
    await store.finish(id, digestOf(Buffer.from("abcd")));
  });

  test(`${name}: the last bytes of an upload make it a blob in the same step, or leave it as it was`, async () => {
    const { store } = await engine.open();
    const id = await filled(store, [Buffer.from("ab")]);
    const finishAs = digestOf(Buffer.from("abcd"));
    assert.deepEqual(await store.append(id, 1, chunks(Buffer.from("cd")), { finishAs }), { accepted: false, size: 2 });
    await assert.rejects(store.append(id, 2, failing(Buffer.from("c")), { finishAs }), /the client went away/);
    await assert.rejects(
      store.append(id, 2, chunks(Buffer.from("c")), { finishAs, length: 2 }),
      isCode(Code.InvalidArgument),
    );
    assert.equal(await store.uploadSize(id), 2);
    const { blob, ...appended } = await store.append(id, 2, chunks(Buffer.from("cd")), { finishAs });
    assert.deepEqual(appended, { accepted: true, size: 4 });
    assert.ok(blob);
    assert.equal((await store.readWhole(finishAs, blob.generation)).toString(), "abcd");
    const wrong = await filled(store, [Buffer.from("ab")]);
    await assert.rejects(store.append(wrong, 2, chunks(Buffer.from("xx")), { finishAs }), isCode(Code.InvalidArgument));
    for (const gone of [id, wrong]) await assert.rejects(store.uploadSize(gone), isCode(Code.NotFound));
    assert.deepEqual(await listed(store.listUploads()), []);
  });

  test(`${name}: an upload has one writer at a time`, async () => {
    const { store } = await engine.open();
    const id = await filled(store, []);
    const gate = Promise.withResolvers<void>();
    const slow = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("slow");
      await gate.promise;
    };
    const first = store.append(id, 0, slow());
    await assert.rejects(store.append(id, 0, chunks(Buffer.from("fast"))), isCode(Code.Aborted));
    await assert.rejects(store.finish(id, digestOf(Buffer.from("slow"))), isCode(Code.Aborted));
    gate.resolve();
    assert.deepEqual(await first, { accepted: true, size: 4 });
    await store.finish(id, digestOf(Buffer.from("slow")));
  });

  test(`${name}: the generations of a digest are independent`, async () => {
    const { store } = await engine.open();
    const content = Buffer.from("twice");
    const one = await store.finish(await filled(store, [content]), digestOf(content));
    const two = await store.finish(await filled(store, [content]), digestOf(content));
    assert.notEqual(one.generation, two.generation);
    assert.equal((await listed(store.listBlobs())).length, 2);
    await store.remove(one.digest, one.generation);
    await store.remove(one.digest, one.generation);
    await assert.rejects(store.readWhole(one.digest, one.generation), isCode(Code.NotFound));
    assert.deepEqual(await store.readWhole(two.digest, two.generation), content);
  });

  test(`${name}: invalid ids, digests and generations reach no file or object`, async () => {
    const { store } = await engine.open();
    for (const id of ["", "..", "../x", "/etc/passwd", "a".repeat(33)]) {
      await assert.rejects(store.startUpload(id), isCode(Code.NotFound));
      await assert.rejects(store.uploadSize(id), isCode(Code.NotFound));
      await assert.rejects(store.append(id, 0, chunks(Buffer.from("x"))), isCode(Code.NotFound));
    }
    const id = await filled(store, [Buffer.from("x")]);
    await assert.rejects(store.finish(id, "sha256:../../x"), isCode(Code.NotFound));
    await assert.rejects(store.readWhole(digestOf(Buffer.from("x")), "../../../x"), isCode(Code.NotFound));
  });

  test(`${name}: a sink that fails stops the reading`, async () => {
    const { store } = await engine.open();
    const content = randomBytes(4 * MIB);
    const blob = await store.finish(await filled(store, [content]), digestOf(content));
    let calls = 0;
    const stopping = async (): Promise<void> => {
      calls += 1;
      throw new Error("enough");
    };
    await assert.rejects(
      store.read(blob.digest, blob.generation, { start: 0, end: content.length - 1 }, stopping),
      /enough/,
    );
    assert.ok(calls <= 2);
  });
}

export function newId(): string {
  return randomBytes(16).toString("hex");
}

export function digestOf(content: Uint8Array, algorithm: DigestAlgorithm = "sha256"): string {
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
}

/** Makes an upload of the parts, each in its own append. */
export async function filled(store: BlobStore, parts: Buffer[]): Promise<string> {
  const id = newId();
  await store.startUpload(id);
  for (const part of parts) await store.append(id, undefined, chunks(part));
  return id;
}

/** The content in chunks of the size that a socket gives. */
export async function* chunks(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
}

async function* failing(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
  throw new Error("the client went away");
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function received(
  store: BlobStore,
  blob: { digest: string; generation: string },
  start: number,
  end: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  await store.read(blob.digest, blob.generation, { start, end }, async (chunk) => {
    // Resolves after the next read has begun, as with a slow client.
    const copy = Buffer.from(chunk);
    await new Promise(setImmediate);
    assert.deepEqual(chunk, copy, "the buffer was reused too early");
    parts.push(copy);
  });
  return Buffer.concat(parts);
}

function isCode(code: Code): (error: unknown) => boolean {
  return (error) => error instanceof MoorageError && error.code === code;
}
