import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { CatalogError } from "../../src/security/catalog/types.ts";
import { type TarEntry, tarOf, tarPart } from "../support/catalog/archives.ts";
import { catalogOf, npmFile } from "../support/catalog/catalog.ts";

const MIB = 1024 * 1024;
const GOOD = npmFile("a", "good", "1.0.0");

async function failsWith(message: RegExp, ...input: Parameters<typeof catalogOf>): Promise<void> {
  await assert.rejects(catalogOf(...input), (error: Error) => {
    assert.ok(error instanceof CatalogError, error.message);
    assert.match(error.message, message);
    return true;
  });
}

test("a layer that unpacks without end is given up at the limit", async () => {
  const entry = tarPart([{ path: "zeros", content: Buffer.alloc(32 * MIB) }]);
  for (const bomb of [gzipSync(entry), zstdCompressSync(entry)])
    await failsWith(/unpacks to more than 8388608 bytes/, [[GOOD], bomb], { limits: { bytes: 8 * MIB } });
});

test("what follows the end of an archive is not read, however much it is", async () => {
  const zeros = gzipSync(
    Buffer.concat([tarOf([GOOD]), Buffer.alloc(32 * MIB), tarOf([npmFile("b", "late", "1.0.0")])]),
  );
  const { components } = await catalogOf([zeros], { limits: { bytes: 8 * MIB } });
  assert.deepEqual(
    components.map(({ name }) => name),
    ["good"],
  );
});

test("the numbers of entries and of packages are bounded, over all layers", async () => {
  const files = Array.from({ length: 60 }, (_, n) => ({ path: `file-${n}` }));
  assert.equal((await catalogOf([files, files], { limits: { entries: 120 } })).components.length, 0);
  await failsWith(/more than 119 entries/, [files, files], { limits: { entries: 119 } });
  const packages = [npmFile("a", "one", "1.0.0"), npmFile("a", "two", "1.0.0")];
  assert.equal((await catalogOf([packages], { limits: { packages: 2 } })).components.length, 2);
  await failsWith(/more than 1 packages/, [packages], { limits: { packages: 1 } });
});

test("a million files that nobody wants are passed over", async () => {
  const piece = tarPart(Array.from({ length: 1_000 }, (_, n) => ({ path: `folder/${n}` })));
  const layer = Buffer.concat([...Array.from({ length: 1_000 }, () => piece), tarOf([GOOD])]);
  assert.equal((await catalogOf([layer], { chunkBytes: MIB })).components.length, 1);
});

test("paths that leave the root, links and devices are never followed", async () => {
  const { content = "" } = GOOD;
  const entries: TarEntry[] = [
    { path: "../node_modules/up/package.json", content },
    { path: "a/../../node_modules/up/package.json", content },
    { path: "node_modules/link/package.json", type: "SymbolicLink", linkpath: "/etc/passwd" },
    { path: "node_modules/hard/package.json", type: "Link", linkpath: "../../etc/passwd" },
    { path: "node_modules/itself/package.json", type: "Link", linkpath: "node_modules/itself/package.json" },
    { path: "var/lib/dpkg/status", type: "CharacterDevice" },
    { path: "lib/apk/db/installed", type: "FIFO" },
    { path: `${"d/".repeat(3_000)}node_modules/deep/package.json`, content },
    { path: "/absolute/node_modules/ok/package.json", content },
    { path: "./", type: "Directory" },
  ];
  const { components } = await catalogOf([entries]);
  assert.deepEqual(
    components.map(({ path }) => path),
    ["absolute/node_modules/ok/package.json"],
  );
});

test("damaged layers end with a reason", async () => {
  const gzip = gzipSync(tarOf([GOOD, { path: "more", content: randomBytes(100_000) }]));
  await failsWith(/cannot be unpacked/, [gzip.subarray(0, gzip.length - 40)]);
  const broken = Buffer.from(gzip);
  broken.fill(0xaa, 60, 90);
  await failsWith(/cannot be unpacked|no tar archive/, [broken]);
  await failsWith(/no tar archive/, [Buffer.alloc(4096, "no archive ")]);
  await failsWith(/no tar archive/, [Buffer.from("layer")]);
  await failsWith(/no tar archive/, [tarOf([GOOD]).subarray(0, 600)]);
  await failsWith(/packed twice/, [gzipSync(gzip)]);
  // A header of the format is not held when it is large.
  const header = tarPart([{ path: "PaxHeader", type: "ExtendedHeader", content: Buffer.alloc(2 * MIB, "1") }]);
  assert.equal((await catalogOf([Buffer.concat([header, tarOf([GOOD])])])).components.length, 1);
});

test("a file too large for its reader is named", async () => {
  const { unread } = await catalogOf([[{ ...GOOD, content: Buffer.alloc(5 * MIB) }]]);
  assert.deepEqual(unread, [{ path: GOOD.path, layer: "layer-0", reason: "it has more than 4194304 bytes" }]);
});

test("files above what memory holds lie in the temporary folder only while they are read", async () => {
  const status = `Package: bash\nVersion: 5.2\nDescription: ${"x".repeat(12 * MIB)}\n\nPackage: last\nVersion: 1\n`;
  const { components } = await catalogOf([[{ path: "var/lib/dpkg/status", content: status }]]);
  assert.deepEqual(
    components.map(({ name }) => name),
    ["bash", "last"],
  );
  // It is left half-read.
  const whole = tarOf([{ path: "var/lib/dpkg/status", content: status }]);
  await failsWith(/no tar archive/, [whole.subarray(0, 10 * MIB)]);
});

test("reading ends when it is aborted", async () => {
  const reason = new Error("enough");
  await assert.rejects(catalogOf([[GOOD]], { signal: AbortSignal.abort(reason) }), reason);
});
