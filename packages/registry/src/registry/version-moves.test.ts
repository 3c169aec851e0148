import assert from "node:assert/strict";
import { test } from "node:test";
import { isVersionTag } from "./version-moves.ts";

test("three numbers make a version, with a v or without, and whatever follows a separator", () => {
  for (const name of [
    "1.2.3",
    "v1.2.3",
    "V0.0.1",
    "1.2.3.4",
    "2026.11.22",
    "1.2.3-rc.1",
    "1.2.3_build5",
    "1.2.3-alpine",
  ])
    assert.equal(isVersionTag(name), true, name);
  for (const name of [
    "1",
    "v1",
    "1.2",
    "1.2-alpine",
    "latest",
    "1.2.x",
    "a1.2.3",
    "1.2.3rc1",
    "build-1.2.3",
    "1..3",
    "",
  ])
    assert.equal(isVersionTag(name), false, name);
});
