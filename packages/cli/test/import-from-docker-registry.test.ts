// The registry of Debian's package docker-registry, as teams run it, moves in. Without the program the tests are
// skipped, and say so.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { buildSampleImage, type Content, descriptor, digestOf, MEDIA_TYPE } from "../src/oci/image.ts";
import { openRegistry } from "../src/oci/registry.ts";
import { sized } from "../../server/test/support/extent.ts";
import { missingDockerRegistry as missing, PROGRAM, startDockerRegistry } from "./docker-registry.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

/** Pushes a build of the sample image. */
async function push(url: string, name: string, build: 1 | 2 | 3): Promise<void> {
  const [repository = "", tag = ""] = name.split(":");
  await openRegistry({ url }).pushImage(repository, tag, await buildSampleImage(build));
}

test("a docker-registry moves in, with clients first and content after", { skip: missing }, async (t) => {
  const { url: old } = await startDockerRegistry(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  for (const [name, build] of [
    ["web:1.0", 1],
    ["web:2.0", 2],
    ["team/tools/build:7", 3],
  ] as const)
    await push(old, name, build);
  const command = ["import-from", "oci", old, "--into", "acme", "-o", "json"];
  await here.ok(...command, "--plan", "plan.json");
  const { items, content } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as {
    items: { kind: string; source: string }[];
    content: { bytes: number };
  };
  assert.deepEqual(
    items.map(({ kind, source }) => `${kind} ${source}`),
    [
      "group team",
      "group team/tools",
      "repo team/tools/build",
      "tag team/tools/build:7",
      "repo web",
      "tag web:1.0",
      "tag web:2.0",
    ],
  );
  assert.ok(content.bytes > 0);
  await here.ok(...command, "--apply", "plan.json");
  await here.push("acme/web:1.0", 3);
  await push(old, "web:1.0", 2);
  await push(old, "web:late", 1);
  const result = await here.json<{ kept: { name: string }[]; failed: object[] }>(
    ...command.slice(0, -2),
    "--apply",
    "plan.json",
    "--finish",
  );
  assert.deepEqual([result.kept.map(({ name }) => name), result.failed], [["acme/web:1.0"], []]);
  const digests = await here.json<{ tags: { name: string; digest: string }[] }>("tags", "list", "acme/web");
  assert.deepEqual(Object.fromEntries(digests.tags.map(({ name, digest }) => [name, digest])), {
    "1.0": BUILD[3],
    "2.0": BUILD[2],
    late: BUILD[1],
  });
});

const LAYERS = sized(3, 16);
const LAYER_BYTES = sized(8 << 20, 64 << 20);

/** Pushes an image with large layers, which nothing compresses. The digest that its tag points to, and its layers. */
async function pushLarge(url: string, name: string): Promise<{ digest: string; layers: string[] }> {
  const contentOf = (mediaType: string, bytes: Buffer): Content => ({ mediaType, digest: digestOf(bytes), bytes });
  const config = contentOf(MEDIA_TYPE.config, Buffer.from("{}"));
  const manifests: Content[] = [];
  const layers: string[] = [];
  for (let count = 0; count < LAYERS; count += 1) {
    const layer = contentOf(MEDIA_TYPE.layer, randomBytes(LAYER_BYTES));
    const parts = { config: descriptor(config), layers: [descriptor(layer)] };
    const manifest = contentOf(
      MEDIA_TYPE.manifest,
      Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MEDIA_TYPE.manifest, ...parts })),
    );
    const index = contentOf(MEDIA_TYPE.index, indexOf([...manifests, manifest]));
    const image = { architecture: "amd64" as const, blobs: [config, layer], manifest };
    await openRegistry({ url }).pushImage(name, "1", { images: [image], index });
    manifests.push(manifest);
    layers.push(layer.digest);
  }
  return { digest: digestOf(indexOf(manifests)), layers };
}

function indexOf(manifests: readonly Content[]): Buffer {
  return Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: MEDIA_TYPE.index, manifests: manifests.map(descriptor) }),
  );
}

/** The bytes that files below these folders take, each inode counted once. */
function bytesOnDisk(...folders: string[]): number {
  const sizes = new Map<number, number>();
  for (const folder of folders)
    for (const each of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const { ino, blocks } = statSync(join(each.parentPath, each.name));
      sizes.set(ino, blocks * 512);
    }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

test(
  "its folder is linked: no byte more; what the registry removes later is still here",
  { skip: missing },
  async (t) => {
    const old = await startDockerRegistry(t);
    const here = await openStage(t);
    const { digest, layers } = await pushLarge(old.url, "team/app");
    const blobs = join(here.folder, "data", "blobs");
    const before = bytesOnDisk(old.data, blobs);
    const command = ["import-from", "distribution", old.data, "--into", "acme"];
    await here.ok(...command, "--plan", "plan.json");
    const beganMs = performance.now();
    const result = await here.json<{ failed: object[]; brought: { linked: number; copied: number } }>(
      ...command,
      "--apply",
      "plan.json",
    );
    t.diagnostic(`${result.brought.linked} bytes were linked in ${Math.round(performance.now() - beganMs)} ms`);
    assert.deepEqual([result.failed, result.brought.copied], [[], 0]);
    assert.ok(result.brought.linked >= LAYERS * LAYER_BYTES);
    assert.ok(bytesOnDisk(old.data, blobs) - before < 1 << 20, "only what is about the content takes space");
    // The registry goes on: its tag is deleted, and its garbage is collected.
    const deleted = await fetch(`${old.url}/v2/team/app/manifests/${digest}`, { method: "DELETE" });
    assert.equal(deleted.status, 202);
    execFileSync(PROGRAM, ["garbage-collect", "--delete-untagged", old.config], { stdio: "ignore" });
    assert.ok(bytesOnDisk(old.data) < LAYER_BYTES);
    const token = (await here.ok("token")).trim();
    for (const layer of layers) {
      const answer = await fetch(`${here.url}/v2/acme/team/app/blobs/${layer}`, {
        headers: { authorization: `Basic ${Buffer.from(`robot:${token}`).toString("base64")}` },
      });
      const hash = createHash("sha256");
      for await (const chunk of answer.body ?? []) hash.update(chunk);
      assert.equal(`sha256:${hash.digest("hex")}`, layer);
    }
    assert.match(await here.ok("fsck", "--deep"), /^clean: /);
  },
);
