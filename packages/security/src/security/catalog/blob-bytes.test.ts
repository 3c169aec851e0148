import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openFilesystemBlobs } from "../../../../kernel/src/blobs/filesystem.ts";
import { digestOf, filled } from "../../../../kernel/src/blobs/suite.ts";
import { blobBytes } from "./blob-bytes.ts";

// Several of the pieces in which the store reads.
const BYTES = (3 << 20) + 1;

async function stored(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "moorage-blob-bytes-"));
  t.after(() => rm(folder, { recursive: true }));
  const store = await openFilesystemBlobs(folder);
  const content = randomBytes(BYTES);
  return { store, content, blob: await store.finish(await filled(store, [content]), digestOf(content)) };
}

test("whoever takes the pieces of a blob slowly, and holds them, gets all of them as they are", async (t) => {
  const { store, content, blob } = await stored(t);
  const pieces: Buffer[] = [];
  for await (const piece of blobBytes(store, blob)) {
    pieces.push(piece);
    // The store reads on meanwhile.
    await wait(20);
  }
  assert.ok(pieces.length > 3);
  assert.ok(Buffer.concat(pieces).equals(content));
});

test("whoever leaves the rest ends the reading, and a blob that cannot be read throws", async (t) => {
  const { store, blob } = await stored(t);
  for await (const piece of blobBytes(store, blob)) {
    assert.ok(piece.length > 0);
    break;
  }
  const missing = { ...blob, generation: "0".repeat(16) };
  await assert.rejects(async () => {
    for await (const _ of blobBytes(store, missing));
  });
});
