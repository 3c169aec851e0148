import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Code, MoorageError } from "../errors.ts";
import type { BlobStore, StoredBlob } from "./blob-store.ts";
import { openFilesystemBlobs } from "./filesystem.ts";
import { digestOf } from "./suite.ts";

interface World {
  store: BlobStore;
  root: string;
  /** Writes a file outside of the store. */
  file(content: Buffer): { path: string; digest: string; size: number };
  pathOf(blob: StoredBlob): string;
  /** How many files the store has. */
  files(): number;
}

async function openWorld(t: TestContext): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), "moorage-adoption-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const store = await openFilesystemBlobs(join(root, "store"));
  let count = 0;
  return {
    store,
    root,
    file(content) {
      const path = join(root, `file${(count += 1)}`);
      writeFileSync(path, content);
      return { path, digest: digestOf(content), size: content.length };
    },
    pathOf({ digest, generation }) {
      const [algorithm = "", hex = ""] = digest.split(":");
      return join(root, "store", "blobs", algorithm, hex.slice(0, 2), `${hex}.${generation}`);
    },
    files: () =>
      readdirSync(join(root, "store"), { recursive: true, withFileTypes: true }).filter((each) => !each.isDirectory())
        .length,
  };
}

const refuses =
  (words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof MoorageError && error.code === Code.InvalidArgument && words.test(error.message);

test("a file becomes a blob by a link, and stays when either of them goes", async (t) => {
  const { store, file, pathOf } = await openWorld(t);
  const content = randomBytes(3_000_017);
  const { path, ...wanted } = file(content);
  const blobs = [await store.adopt(path, wanted), await store.adopt(path, wanted)] as const;
  for (const blob of blobs) {
    assert.deepEqual([blob.digest, blob.size, blob.how], [wanted.digest, wanted.size, "link"]);
    assert.equal(statSync(pathOf(blob)).ino, statSync(path).ino);
  }
  await store.remove(blobs[0].digest, blobs[0].generation);
  assert.equal(statSync(path).nlink, 2);
  rmSync(path);
  const received: Buffer[] = [];
  await store.readAll(blobs[1], async (chunk) => void received.push(Buffer.from(chunk)));
  assert.deepEqual(Buffer.concat(received), content);
});

test("what is no such file is refused, and leaves nothing", async (t) => {
  const { store, root, file, files } = await openWorld(t);
  const good = file(Buffer.from("good"));
  const { digest, size } = good;
  const other = file(Buffer.from("evil"));
  const before = files();
  await assert.rejects(store.adopt(other.path, { digest, size }), refuses(/not the digest/));
  await assert.rejects(store.adopt(good.path, { digest, size: 5 }), refuses(/has 4 bytes, and should have 5/));
  symlinkSync(good.path, join(root, "link"));
  await assert.rejects(store.adopt(join(root, "link"), { digest, size }), refuses(/ELOOP/));
  execFileSync("mkfifo", [join(root, "pipe")]);
  await assert.rejects(store.adopt(join(root, "pipe"), { digest, size: 0 }), refuses(/is no file/));
  await assert.rejects(store.adopt(root, { digest, size }), refuses(/is no file/));
  await assert.rejects(store.adopt(join(root, "none"), { digest, size }), refuses(/ENOENT/));
  // As large as a disk, and not one of its bytes is read: it has another size than it should.
  truncateSync(other.path, 2 ** 40);
  await assert.rejects(store.adopt(other.path, { digest, size }), refuses(/should have 4/));
  assert.equal(files(), before);
});

test("a file that its store's owner could not read is copied, and so is one of another disk", async (t) => {
  const { store, root, file, pathOf } = await openWorld(t);
  const content = randomBytes(700_001);
  if (process.getuid?.() === 0) {
    const { path, ...wanted } = file(content);
    chmodSync(path, 0o600);
    execFileSync("chown", ["65534", path]);
    const blob = await store.adopt(path, wanted);
    assert.notEqual(blob.how, "link");
    assert.notEqual(statSync(pathOf(blob)).ino, statSync(path).ino);
    await store.readAll(blob, async () => {});
  }
  const elsewhere = mkdtempSync("/dev/shm/moorage-adoption-");
  t.after(() => rmSync(elsewhere, { recursive: true, force: true }));
  if (statSync(elsewhere).dev === statSync(root).dev)
    return t.diagnostic("there is one disk alone: not copied from another");
  const path = join(elsewhere, "blob");
  writeFileSync(path, content);
  const blob = await store.adopt(path, { digest: digestOf(content), size: content.length });
  assert.equal(blob.how, "copy");
  assert.equal(statSync(path).nlink, 1);
  await store.readAll(blob, async () => {});
  await assert.rejects(
    store.adopt(path, { digest: digestOf(Buffer.from("x")), size: content.length }),
    refuses(/digest/),
  );
});
