import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { tarOf } from "../../../../server/test/support/catalog/archives.ts";
import { zipOf } from "../../../../server/test/support/zip.ts";
import { sdistMetadata } from "./sdist.ts";

const CONTENT = "Name: a\nLicense: MIT\n\n";

async function read(bytes: Buffer, filename = "a-1.0.tar.gz"): Promise<string | undefined> {
  return (await sdistMetadata(async (start, end) => bytes.subarray(start, end), bytes.length, filename))?.toString();
}

test("the metadata at the top of an archive are found, also behind megabytes of others", async () => {
  const large = { path: "a-1.0/data.bin", content: Buffer.alloc(3 * 1024 * 1024, "random data") };
  const inner = { path: "a-1.0/a.egg-info/PKG-INFO", content: "Name: other\n" };
  const wanted = { path: "a-1.0/PKG-INFO", content: CONTENT };
  assert.equal(await read(gzipSync(tarOf([wanted, large]))), CONTENT);
  assert.equal(await read(gzipSync(tarOf([inner, large, wanted]))), CONTENT);
  assert.equal(await read(zipOf([{ name: "a-1.0/PKG-INFO", content: CONTENT }]), "a-1.0.zip"), CONTENT);
});

test("what has none, or is damaged, is not read any further", async () => {
  const archive = gzipSync(tarOf([{ path: "a-1.0/setup.py", content: "x".repeat(100_000) }]));
  for (const [what, bytes] of [
    ["none", archive],
    ["cut off", archive.subarray(0, 60)],
    ["no archive", Buffer.from("hello")],
    ["nothing", Buffer.alloc(0)],
    ["no tar", gzipSync("hello")],
    ["zeros without end", gzipSync(Buffer.alloc(300 * 1024 * 1024))],
  ] as const)
    assert.equal(await read(bytes), undefined, what);
  assert.equal(await read(Buffer.from("hello"), "a-1.0.zip"), undefined);
});
