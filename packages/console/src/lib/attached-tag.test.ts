import assert from "node:assert/strict";
import { test } from "node:test";
import { imageTagOf, isAttachedTag } from "./attached-tag.ts";

const HEX = "0123456789abcdef".repeat(4);

test("what is attached to a digest by its tag is no image", () => {
  for (const name of [`sha256-${HEX}`, `sha256-${HEX}.sig`, `sha256-${HEX}.att`])
    assert.equal(isAttachedTag(name), true);
  for (const name of ["latest", "sha256-abc.sig", `sha256-${HEX}.sig.old`, `v-sha256-${HEX}`])
    assert.equal(isAttachedTag(name), false, name);
});

test("the newest tag that is pulled is not a signature, unless there is nothing else", () => {
  assert.equal(imageTagOf([{ name: `sha256-${HEX}.sig` }, { name: "1.2.0" }])?.name, "1.2.0");
  assert.equal(imageTagOf([{ name: `sha256-${HEX}.sig` }])?.name, `sha256-${HEX}.sig`);
  assert.equal(imageTagOf([]), undefined);
});
