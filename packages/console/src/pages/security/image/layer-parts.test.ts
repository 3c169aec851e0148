import assert from "node:assert/strict";
import { test } from "node:test";
import { layerParts } from "./layer-parts.ts";

const layer = (size: number): { digest: string; size: number; command: string } => ({ digest: "", size, command: "" });

test("layers fill the bar in proportion to their sizes, and the smallest can be seen", () => {
  const parts = layerParts([layer(3_000), layer(1_000), layer(1)], 1_000);
  const [first, second, third] = parts;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  assert.equal(first.x, 0);
  assert.ok(first.width > 2.9 * second.width && first.width < 3.1 * second.width);
  assert.ok(third.width >= 4);
  assert.equal(Math.round(third.x + third.width), 1_000);
});

test("empty layers are as wide as each other; of thousands only some are drawn", () => {
  const [one, other] = layerParts([layer(0), layer(0)], 1_000);
  assert.equal(one?.width, other?.width);
  const many = layerParts(
    Array.from({ length: 5_000 }, () => layer(1)),
    1_000,
  );
  assert.equal(many.length, 120);
  assert.ok((many.at(-1)?.x ?? 0) + (many.at(-1)?.width ?? 0) <= 1_000.5);
});
