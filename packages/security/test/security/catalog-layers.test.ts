import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type TarEntry, tarOf } from "../../../server/test/support/catalog/archives.ts";
import { catalogOf, npmFile, purlsOf } from "../../../server/test/support/catalog/catalog.ts";

const whiteout = (path: string): TarEntry => ({ path });

test("a whiteout removes what lies below it, a file or a folder", async () => {
  const base = [npmFile("a", "one", "1.0.0"), npmFile("a", "two", "1.0.0"), npmFile("ab", "three", "1.0.0")];
  assert.deepEqual(await purlsOf(base, [whiteout("a/node_modules/one/.wh.package.json")]), [
    "pkg:npm/two@1.0.0",
    "pkg:npm/three@1.0.0",
  ]);
  assert.deepEqual(await purlsOf(base, [whiteout("./.wh.a")]), ["pkg:npm/three@1.0.0"]);
  assert.deepEqual(await purlsOf(base, [whiteout("a/.wh.node_modules")], [npmFile("a", "two", "2.0.0")]), [
    "pkg:npm/two@2.0.0",
    "pkg:npm/three@1.0.0",
  ]);
  assert.equal((await purlsOf(base, [whiteout("a/.wh.node_module"), whiteout(".wh..wh.plnk")])).length, 3);
});

test("an opaque folder hides what lower layers have in it, not what its own layer has, in either order", async () => {
  const base = [npmFile("a", "one", "1.0.0"), npmFile("b", "three", "1.0.0")];
  const opaque = whiteout("a/node_modules/.wh..wh..opq");
  const own = npmFile("a", "two", "1.0.0");
  for (const layer of [
    [opaque, own],
    [own, opaque],
  ])
    assert.deepEqual(await purlsOf(base, layer), ["pkg:npm/two@1.0.0", "pkg:npm/three@1.0.0"]);
  assert.deepEqual(await purlsOf(base, [whiteout(".wh..wh..opq")]), []);
});

test("a folder that becomes a file or a link hides what was in it", async () => {
  const base = [npmFile("a", "one", "1.0.0"), npmFile("b", "two", "1.0.0")];
  assert.deepEqual(await purlsOf(base, [{ path: "a", content: "file" }]), ["pkg:npm/two@1.0.0"]);
  assert.deepEqual(
    await purlsOf(base, [{ path: "a/node_modules", type: "SymbolicLink", linkpath: "/b/node_modules" }]),
    ["pkg:npm/two@1.0.0"],
  );
  assert.equal((await purlsOf(base, [{ path: "a/", type: "Directory" }])).length, 2);
  assert.deepEqual(await purlsOf(base, [{ path: "a/node_modules/one/package.json/", type: "Directory" }]), [
    "pkg:npm/two@1.0.0",
  ]);
});

test("a package has the layer that brought the version which is seen", async () => {
  const status = (...packages: string[]): TarEntry => ({
    path: "var/lib/dpkg/status",
    content: packages.map((each) => `Package: ${each.split(" ")[0]}\nVersion: ${each.split(" ")[1]}\n`).join("\n"),
  });
  const { components } = await catalogOf([
    [status("bash 5.2", "curl 8.0", "gone 1.0")],
    [status("bash 5.2", "curl 8.1", "new 1.0")],
    [status("bash 5.2", "curl 8.1", "new 1.0", "gone 1.0")],
  ]);
  assert.deepEqual(
    components.map(({ name, layer }) => `${name} ${layer}`),
    ["bash layer-0", "curl layer-1", "gone layer-2", "new layer-1"],
  );
});

test("layers are read plain, as gzip and as zstd, in one part or several, in pieces of any size", async () => {
  const tar = tarOf([npmFile("a", "one", "1.0.0"), npmFile("a", "two", "1.0.0")]);
  const [first, second] = [tar.subarray(0, 700), tar.subarray(700)];
  const forms = [
    tar,
    gzipSync(tar),
    zstdCompressSync(tar),
    Buffer.concat([gzipSync(first), gzipSync(second)]),
    Buffer.concat([zstdCompressSync(first), zstdCompressSync(second)]),
    // A frame that is skipped, as zstd:chunked writes it.
    Buffer.concat([Buffer.from("502a4d180400000061626364", "hex"), zstdCompressSync(tar)]),
  ];
  for (const [n, form] of forms.entries())
    for (const chunkBytes of [1, 7, 513, 100_000]) {
      const { components } = await catalogOf([form], { chunkBytes });
      assert.deepEqual(
        components.map(({ purl }) => purl),
        ["pkg:npm/one@1.0.0", "pkg:npm/two@1.0.0"],
        `form ${n} by ${chunkBytes}`,
      );
    }
});
