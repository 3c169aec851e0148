import assert from "node:assert/strict";
import { test } from "node:test";
import { planParts } from "./s3-parts.ts";
import type { Part, Segment } from "./s3-parts.ts";

const LIMITS = { minBytes: 5, copyBytes: 12 };

function segmentsOf(sizes: number[]): Segment[] {
  let offset = 0;
  return sizes.map((size, index) => {
    const segment = { key: String(index), offset, size, etag: `e${index}` };
    offset += size;
    return segment;
  });
}

function piecesOf(part: Part): string {
  const [verb, pieces] = "copy" in part ? (["copy", [part.copy]] as const) : (["read", part.read] as const);
  return `${verb} ${pieces.map(({ key, start, end }) => `${key}:${start}-${end}`).join(" ")}`;
}

test("large segments are copied, in equal parts when they are too large for one copy", () => {
  assert.deepEqual(planParts(segmentsOf([5, 12, 13, 25]), LIMITS).map(piecesOf), [
    "copy 0:0-4",
    "copy 1:0-11",
    "copy 2:0-6",
    "copy 2:7-12",
    "copy 3:0-8",
    "copy 3:9-17",
    "copy 3:18-24",
  ]);
});

test("small segments are read together with the beginning of the next segment", () => {
  assert.deepEqual(planParts(segmentsOf([2, 10]), LIMITS).map(piecesOf), ["read 0:0-1 1:0-2", "copy 1:3-9"]);
  assert.deepEqual(planParts(segmentsOf([2, 6, 9]), LIMITS).map(piecesOf), [
    "read 0:0-1 1:0-2",
    "read 1:3-5 2:0-1",
    "copy 2:2-8",
  ]);
  assert.deepEqual(planParts(segmentsOf([1, 1, 1]), LIMITS).map(piecesOf), ["read 0:0-0 1:0-0 2:0-0"]);
  assert.deepEqual(planParts(segmentsOf([]), LIMITS), []);
});

test("the parts have every byte once and in order, and only the last part is small", () => {
  for (let seed = 1; seed < 3000; seed++) {
    const sizes = Array.from(
      { length: seed % 7 },
      (_, at) => 1 + ((seed * 7919 + at * 104_729) % (at % 2 === 0 ? 30 : 7)),
    );
    const segments = segmentsOf(sizes);
    const parts = planParts(segments, LIMITS);
    const bytes = parts.map((part) =>
      ("copy" in part ? [part.copy] : part.read).flatMap(({ key, start, end }) =>
        Array.from({ length: end - start + 1 }, (_, at) => (segments[Number(key)]?.offset ?? NaN) + start + at),
      ),
    );
    assert.deepEqual(
      bytes.flat(),
      Array.from({ length: sizes.reduce((sum, size) => sum + size, 0) }, (_, at) => at),
      sizes.join(),
    );
    assert.ok(
      bytes.slice(0, -1).every((part) => part.length >= LIMITS.minBytes),
      sizes.join(),
    );
    assert.ok(
      parts.every((part, at) => (bytes[at]?.length ?? 0) <= ("copy" in part ? LIMITS.copyBytes : LIMITS.minBytes)),
      sizes.join(),
    );
  }
});
