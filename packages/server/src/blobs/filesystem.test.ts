import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openFilesystemBlobs } from "./filesystem.ts";
import { blobStoreSuite, digestOf, filled } from "./suite.ts";

const folders: string[] = [];

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "moorage-blobs-"));
  folders.push(folder);
  return folder;
}

after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

blobStoreSuite("filesystem", {
  async open() {
    const folder = await newFolder();
    return { store: await openFilesystemBlobs(folder), reopen: () => openFilesystemBlobs(folder) };
  },
});

test("a blob lies where the drawing says", async () => {
  const folder = await newFolder();
  const store = await openFilesystemBlobs(folder);
  const content = Buffer.from("drawn");
  const { digest, generation } = await store.finish(await filled(store, [content]), digestOf(content));
  const hex = digest.slice("sha256:".length);
  assert.deepEqual(await readdir(join(folder, "blobs", "sha256", hex.slice(0, 2))), [`${hex}.${generation}`]);
  assert.deepEqual(await readdir(join(folder, "uploads")), []);
});
