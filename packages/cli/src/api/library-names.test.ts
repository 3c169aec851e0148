import assert from "node:assert/strict";
import { test } from "node:test";
import { versionMark } from "./library-names.ts";

test("the version begins after the first @ that does not begin a name", () => {
  for (const [name, version] of [
    ["left-pad", "1.3.0"],
    ["acme/team:left-pad", "1.3.0"],
    ["@acme/ui", "1.0.0"],
    ["acme:@acme/_ui", "1.0.0-rc.1"],
    ["org.example:app", "1.0@beta"],
    ["acme:org.example:app", "1.0+3@x"],
  ] as const) {
    const text = `${name}@${version}`;
    const at = versionMark(text);
    assert.deepEqual([text.slice(0, at), text.slice(at + 1)], [name, version]);
    assert.equal(versionMark(name), -1, name);
  }
});
