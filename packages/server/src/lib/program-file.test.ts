import assert from "node:assert/strict";
import { test } from "node:test";
import { programFile } from "./program-file.ts";

test("a program is beside its starter, for sources in the bundle that was named, and never there for others", (t) => {
  const before = process.env["MOORAGE_BUNDLE"];
  t.after(() => {
    delete process.env["MOORAGE_BUNDLE"];
    if (before !== undefined) process.env["MOORAGE_BUNDLE"] = before;
  });
  const fileFor = (starter: string): string => programFile("thread", starter).href;

  process.env["MOORAGE_BUNDLE"] = "/built here";
  assert.equal(fileFor("file:///src/runtime/starter.ts"), "file:///built%20here/thread.js");
  assert.equal(fileFor("file:///dist/runtime/starter.js"), "file:///dist/runtime/thread.js");
  process.env["MOORAGE_BUNDLE"] = "";
  assert.equal(fileFor("file:///src/runtime/starter.ts"), "file:///src/runtime/thread.ts");
});
