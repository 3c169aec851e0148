import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText } from "./sizes.ts";

test("sizes are shown in the unit that fits", () => {
  assert.deepEqual([0, 1023, 1024, 1536, 5 * 1024 ** 3, 3 * 1024 ** 6].map(bytesText), [
    "0 B",
    "1023 B",
    "1.0 KiB",
    "1.5 KiB",
    "5.0 GiB",
    "3072.0 PiB",
  ]);
});
