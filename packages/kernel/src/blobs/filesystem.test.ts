import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openFilesystemBlobs } from "./filesystem.ts";
import { blobStoreSuite, digestOf, filled, newId } from "./suite.ts";

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

test("a blob is stored at the documented path", async () => {
  const folder = await newFolder();
  const store = await openFilesystemBlobs(folder);
  const content = Buffer.from("drawn");
  const { digest, generation } = await store.finish(await filled(store, [content]), digestOf(content));
  const hex = digest.slice("sha256:".length);
  assert.deepEqual(await readdir(join(folder, "blobs", "sha256", hex.slice(0, 2))), [`${hex}.${generation}`]);
  assert.deepEqual(await readdir(join(folder, "uploads")), []);
});

test("chunks that the source gives away are freed once written, but never memory shared with others", async () => {
  const store = await openFilesystemBlobs(await newFolder());
  const content = randomBytes(1_200_000);
  const own = (start: number, end: number): Uint8Array => new Uint8Array(content.subarray(start, end));
  const shared = new Uint8Array(content.subarray(1_000_000));
  const given = [
    own(0, 64_000),
    own(64_000, 400_000),
    own(400_000, 400_001),
    own(400_001, 1_000_000),
    shared.subarray(0, 100_000),
    shared.subarray(100_000),
  ];
  const append = async (id: string, givesChunks: boolean): Promise<void> => {
    await store.startUpload(id);
    await store.append(
      id,
      0,
      (async function* () {
        yield* given;
      })(),
      { givesChunks },
    );
    const blob = await store.finish(id, digestOf(content));
    const received: Buffer[] = [];
    await store.read(
      blob.digest,
      blob.generation,
      { start: 0, end: content.length - 1 },
      async (chunk) => void received.push(Buffer.from(chunk)),
    );
    assert.deepEqual(Buffer.concat(received), content);
  };
  await append(newId(), false);
  assert.deepEqual(Buffer.concat(given), content);
  await append(newId(), true);
  assert.deepEqual(
    given.map(({ byteLength }) => byteLength),
    [0, 0, 0, 0, 100_000, 100_000],
  );
});
