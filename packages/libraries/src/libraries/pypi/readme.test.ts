import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_README_CHARS, readmeIn, readmeOf } from "./readme.ts";

test("the readme is what stands behind the header, in the form that the header states", () => {
  const header = ["Metadata-Version: 2.1", "Name: a", "Description-Content-Type: text/markdown; charset=UTF-8"];
  assert.deepEqual(readmeIn([...header, "", "# A", "", "more", ""].join("\n")), {
    text: "# A\n\nmore",
    contentType: "text/markdown",
  });
  assert.deepEqual(readmeIn([...header, "", "# A"].join("\r\n")), { text: "# A", contentType: "text/markdown" });
  assert.deepEqual(readmeIn("Name: a\n\nDescription-Content-Type: text/x-rst\n"), {
    text: "Description-Content-Type: text/x-rst",
    contentType: "",
  });
  assert.deepEqual(readmeIn("Name: a\n"), { text: "", contentType: "" });
});

test("what older tools write into the header is not known, and neither is a form that nobody names", () => {
  assert.equal(readmeIn("Name: a\nDescription: # A\n        more\n\n"), undefined);
  assert.deepEqual(readmeOf("text", "text/html"), { text: "text", contentType: "" });
  assert.deepEqual(readmeOf("text", " Text/X-RST ; charset=utf-8"), { text: "text", contentType: "text/x-rst" });
});

test("a readme of megabytes is cut, in a time that grows with its length alone", () => {
  const long = "x".repeat(8_000_000);
  assert.equal(readmeIn(`Name: a\n\n${long}`)?.text.length, MAX_README_CHARS);
  assert.equal(readmeIn(`Description-Content-Type: ${long}`)?.contentType, "");
  assert.equal(readmeIn(`${"Classifier: a\n".repeat(200_000)}\nread`)?.text, "read");
});
