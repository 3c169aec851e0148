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
  const starter = new URL("../runtime/starter.ts", import.meta.url).href;
  const source = new URL("../runtime/thread.ts", import.meta.url).href;

  process.env["MOORAGE_BUNDLE"] = "/built here";
  assert.equal(fileFor(starter), "file:///built%20here/runtime/thread.js");
  assert.equal(fileFor("file:///dist/runtime/starter.js"), "file:///dist/runtime/thread.js");
  assert.equal(fileFor("file:///elsewhere/starter.ts"), "file:///elsewhere/thread.ts");
  for (const none of ["", "0"]) {
    process.env["MOORAGE_BUNDLE"] = none;
    assert.equal(fileFor(starter), source);
  }
});
