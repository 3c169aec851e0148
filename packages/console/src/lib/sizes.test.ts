import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, sizeText } from "./sizes.ts";

test("sizes are read as people type them", () => {
  const read = ["10 GiB", "10GB", "10 g", "1.5 MiB", "512", "0", " 1 KiB "].map(bytesOf);
  assert.deepEqual(read, ["10737418240", "10737418240", "10737418240", "1572864", "512", "0", "1024"]);
});

test("what is no size is none", () => {
  for (const text of ["", "ten", "10 XB", "-1", "1e9", "10 GiB!", "999999999999 PiB"])
    assert.equal(bytesOf(text), undefined, text);
});

test("a size in a field is read back as it was", () => {
  for (const value of ["0", "1023", "1024", "10737418240", "10737418241"])
    assert.equal(bytesOf(sizeText(value)), value);
  assert.equal(sizeText("10737418240"), "10 GiB");
  assert.equal(sizeText(undefined), "");
});
