import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseContentRange, parseRange, uploadRange } from "./ranges.ts";

test("property: any Range header selects the whole, nothing, or bytes that exist", () => {
  const alike = fc.string({ unit: fc.constantFrom(..."bytes=-, 0123456789") });
  const header = fc.oneof(
    fc.string(),
    alike,
    fc.tuple(fc.nat(), fc.nat()).map(([first, last]) => `bytes=${first}-${last}`),
  );
  fc.assert(
    fc.property(header, fc.nat({ max: 1000 }), (text, size) => {
      const range = parseRange(text, size);
      if (typeof range === "string") return;
      assert.ok(range.start >= 0 && range.start <= range.end && range.end < size);
    }),
  );
});

test("property: a range selects the same bytes as Array.slice", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.nat({ max: 600 }), fc.nat({ max: 600 }), (size, first, more) => {
      const bytes = Array.from({ length: size }, (_, index) => index);
      const cut = (text: string): number[] | string => {
        const range = parseRange(text, size);
        return typeof range === "string" ? range : bytes.slice(range.start, range.end + 1);
      };
      assert.deepEqual(
        cut(`bytes=${first}-${first + more}`),
        first < size ? bytes.slice(first, first + more + 1) : "unsatisfiable",
      );
      assert.deepEqual(cut(`bytes=${first}-`), first < size ? bytes.slice(first) : "unsatisfiable");
      assert.deepEqual(cut(`bytes=-${more}`), more === 0 ? "unsatisfiable" : bytes.slice(-more));
    }),
  );
});

test("a header that is not a single range of bytes selects the whole", () => {
  const others = [undefined, "", "bytes=", "bytes=-", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b", "bytes=0-1x"];
  for (const header of others) assert.equal(parseRange(header, 10), "whole");
});

test("a range that ends before it begins cannot be satisfied", () => {
  assert.equal(parseRange("bytes=5-2", 10), "unsatisfiable");
});

test("Content-Range is read in both spellings and rejected otherwise", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (start, more) => {
      const end = start + more;
      for (const text of [`${start}-${end}`, `bytes ${start}-${end}/*`, `bytes ${start}-${end}/${end + 1}`]) {
        assert.deepEqual(parseContentRange(text), { start, end });
      }
    }),
  );
  const wrong = ["", "-", "0-", "-5", "5-2", "a-b", "0-1-2", "0x1-0x2", "1e3-2e3", "bytes=0-1", `0-${"9".repeat(16)}`];
  for (const text of wrong) assert.equal(parseContentRange(text), undefined, text);
});

test("the Range header of an upload ends at the last byte received", () => {
  assert.equal(uploadRange(0), "0-0");
  assert.equal(uploadRange(10), "0-9");
});

test("a header of megabytes is read to its end", () => {
  const long = 8 * 1024 * 1024;
  assert.equal(parseRange(`bytes=${" ".repeat(long)}x`, 10), "whole");
  assert.equal(parseRange(`bytes=0${"-".repeat(long)}`, 10), "whole");
  assert.deepEqual(parseRange(`bytes=${" ".repeat(long)}2 - 4${" ".repeat(long)}`, 10), { start: 2, end: 4 });
});
