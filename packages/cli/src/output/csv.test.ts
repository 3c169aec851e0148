import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { csvHeaders, csvLine } from "./csv.ts";

/** Reads CSV as the grammar of RFC 4180 has it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const fields = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (const [, quoted, bare = "", end] of text.matchAll(fields)) {
    row.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

test("CSV gives every value back as it was, formulas too", () => {
  const cell = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("=1+1", "+1", "-1", "@a", 'a"b', "a,b", "a\r\nb"),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 }), (rows) => {
      assert.deepEqual(readCsv(rows.map(csvLine).join("")), rows);
    }),
  );
});

test("headers of CSV are words that programs take for names", () => {
  const columns = ["NAME", "LAST SEEN"].map((header) => ({ header, value: () => "" }));
  assert.deepEqual(csvHeaders(columns), ["name", "last_seen"]);
});
