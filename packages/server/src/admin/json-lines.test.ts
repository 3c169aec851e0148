import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hashOf, linesOf, writeHashed } from "./json-lines.ts";

test("lines are read as they were written, from any line on, across the edges of chunks", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "moorage-lines-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "lines");
  // A megabyte is read per chunk: its edges fall into lines, and into characters of several bytes.
  const lines = [
    "",
    "first",
    "ü🚢".repeat(300_000),
    "",
    ...Array.from({ length: 2000 }, (_, at) => `${at} `.repeat(at % 300)),
    "last",
  ];
  const written = await writeHashed(
    path,
    (async function* () {
      for (const line of lines) yield `${line}\n`;
    })(),
  );
  const bytes = readFileSync(path);
  assert.deepEqual(written, { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
  assert.equal(await hashOf(path), written.sha256);
  const found = [];
  for await (const line of linesOf(path)) found.push(line);
  assert.deepEqual(
    found.map(({ text }) => text),
    lines,
  );
  assert.equal(found.at(-1)?.end, bytes.length);
  const rest = [];
  for await (const { text } of linesOf(path, found[2]?.end)) rest.push(text);
  assert.deepEqual(rest, lines.slice(3));
  const none = [];
  for await (const line of linesOf(path, bytes.length)) none.push(line);
  assert.deepEqual(none, []);
});
