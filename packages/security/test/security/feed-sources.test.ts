import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { allOf, fileOf, osv, realData } from "../../../server/test/support/feed-files.ts";
import { zipOf } from "../../../server/test/support/zip.ts";

const MEBIBYTE = 2 ** 20;

test("entries that are too large, damaged, nested too deep or no JSON are problems; the others are read", async (t) => {
  const zip = zipOf([
    { name: "BOMB-1.json", content: Buffer.alloc(20 * MEBIBYTE, " ") },
    { name: "LIE-1.json", content: osv("LIE-1", { details: "x".repeat(9_000) }), claimedBytes: 100 },
    { name: "DEEP-1.json", content: "[".repeat(MEBIBYTE) },
    { name: "TEXT-1.json", content: "not JSON" },
    { name: "LATIN-1.json", content: Buffer.from('{"id": "\xe9"}', "latin1") },
    { name: "README.md", content: "no record" },
    { name: "GOOD-1.json", content: osv("GOOD-1") },
  ]);
  const { records, problems } = await allOf("osv", fileOf(t, "all.zip", zip));
  assert.deepEqual(
    records.map(({ id }) => id),
    ["GOOD-1"],
  );
  const expected: [string, RegExp][] = [
    ["BOMB-1", /^is larger than 16777216 bytes$/],
    ["LIE-1", /^the entry cannot be unpacked: /],
    ["DEEP-1", /^is not JSON: nested too deeply$/],
    ["TEXT-1", /^is not JSON: /],
    ["LATIN-1", /^is not text in UTF-8$/],
  ];
  assert.deepEqual(
    problems.map(({ id }) => id),
    expected.map(([id]) => id),
  );
  for (const [at, [, message]] of expected.entries()) assert.match(problems[at]?.message ?? "", message);
});

test("an archive that unpacks to more than allowed, or has too many files, is rejected", async (t) => {
  const file = fileOf(t, "all.zip", zipOf([1, 2, 3].map((n) => ({ name: `A-${n}.json`, content: osv(`A-${n}`) }))));
  const bytes = 3 * osv("A-1").length;
  assert.equal((await allOf("osv", file, { maxParts: 3, maxBytes: bytes })).records.length, 3);
  await assert.rejects(allOf("osv", file, { maxParts: 3, maxBytes: bytes - 1 }), /unpacks to more than/);
  await assert.rejects(allOf("osv", file, { maxParts: 2, maxBytes: bytes }), /has more than 2 files/);
});

test("a source that cannot be read at all is an error that names it", async (t) => {
  await assert.rejects(allOf("osv", "/nowhere/all.zip"), /all\.zip cannot be opened: /);
  const zip = zipOf([{ name: "A-1.json", content: osv("A-1") }]);
  await assert.rejects(allOf("osv", fileOf(t, "half.zip", zip.subarray(0, 60))), /half\.zip is not a zip archive/);
  const gz = gzipSync(`cve,epss,percentile\n${"CVE-2026-1,0.1,0.1\n".repeat(10_000)}`);
  await assert.rejects(
    allOf("epss", fileOf(t, "half.csv.gz", gz.subarray(0, gz.length - 20))),
    /half\.csv\.gz cannot be read: /,
  );
  await assert.rejects(allOf("epss", fileOf(t, "other.csv", "a,b,c\n")), /line 1 must be cve,epss,percentile/);
  await assert.rejects(allOf("osv", fileOf(t, "one.json", osv("A-1", { modified: 1 }))), /one\.json: modified: /);
  await assert.rejects(
    allOf("debian-tracker", fileOf(t, "cut.json", '{"openssl": {"CVE-1": {"releases": {')),
    /ends early/,
  );
  await assert.rejects(allOf("debian-tracker", fileOf(t, "list.json", "[1]")), /is not an object of objects/);
});

test("endless lines and values are skipped in bounded memory", async (t) => {
  const long = "x".repeat(8 * MEBIBYTE);
  const csv = `cve,epss,percentile\nCVE-2026-1,${long}\nCVE-2026-2,0.1,0.2\n`;
  const epss = await allOf("epss", fileOf(t, "epss.csv", csv));
  assert.deepEqual(
    epss.records.map(({ id }) => id),
    ["CVE-2026-2"],
  );
  assert.deepEqual(epss.problems, [{ id: "", position: "line 2", message: "is longer than 4096 bytes" }]);
  const debian = `{"a": {"CVE-1": {"description": "${long}"}, "CVE-2": {"releases": {"sid": {"status": "open"}}}}}`;
  const tracker = await allOf("debian-tracker", fileOf(t, "debian.json", debian));
  assert.deepEqual(
    tracker.records.map(({ id }) => id),
    ["a/CVE-2"],
  );
  assert.deepEqual(tracker.problems, [
    { id: "a/CVE-1", position: "a/CVE-1", message: "is longer than 1048576 characters" },
  ]);
});

test("front matter cannot grow by aliases, nor by nesting", async (t) => {
  const grows = `---\na: &a [1,1]\nb: &b [*a,*a]\nreleases: [*b]\n---\n`;
  const deep = `---\nreleases: ${"[".repeat(100_000)}\n---\n`;
  const zip = zipOf([
    { name: "grows.md", content: grows },
    { name: "deep.md", content: deep },
  ]);
  const { records, problems } = await allOf("endoflife", fileOf(t, "products.zip", zip));
  assert.deepEqual(records, []);
  assert.deepEqual(
    problems.map(({ id, message }) => [id, message.startsWith("front matter: ")]),
    [
      ["grows", true],
      ["deep", true],
    ],
  );
});

test("a folder is read with those in it, and links are not followed", async (t) => {
  const file = fileOf(t, "B-1.json", osv("B-1"));
  const folder = path.dirname(file);
  mkdirSync(path.join(folder, "Go"));
  writeFileSync(path.join(folder, "Go", "A-1.json"), osv("A-1"));
  symlinkSync(folder, path.join(folder, "Go", "round"));
  symlinkSync(fileOf(t, "C-1.json", osv("C-1")), path.join(folder, "C-1.json"));
  const { records } = await allOf("osv", folder);
  assert.deepEqual(
    records.map(({ id }) => id),
    ["B-1", "A-1"],
  );
});

test("the published data of four sources is read", async (t) => {
  const sources = [
    ["osv", "osv-go.zip"],
    ["osv", "osv-pypi.zip"],
    ["kev", "kev.json"],
    ["endoflife", "endoflife-products.zip"],
  ] as const;
  const counts: unknown[] = [];
  for (const [format, name] of sources) {
    const source = realData(t, name);
    if (source === undefined) return;
    const { records, problems } = await allOf(format, source);
    counts.push([name, records.length, problems.length]);
    if (name === "osv-pypi.zip")
      assert.match(problems.find(({ id }) => id === "PYSEC-2024-55")?.message ?? "", /^modified: /);
  }
  assert.deepEqual(counts, [
    ["osv-go.zip", 4291, 0],
    ["osv-pypi.zip", 2660, 1],
    ["kev.json", 1404, 0],
    ["endoflife-products.zip", 464, 0],
  ]);
});
