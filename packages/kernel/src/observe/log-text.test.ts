import assert from "node:assert/strict";
import { test } from "node:test";
import { textLine } from "./log-text.ts";

const line = (fields: object): string =>
  JSON.stringify({ level: 30, time: Date.UTC(2026, 10, 21, 12, 0, 1, 5), pid: 7, hostname: "here", ...fields });

test("a text line has time, level, message and fields", () => {
  const fields = {
    port: 8080,
    url: "http://127.0.0.1:8080",
    userAgent: "docker/27 linux",
    list: ["a"],
    empty: "",
    msg: "listening",
  };
  assert.equal(
    textLine(line(fields), false),
    `2026-11-21T12:00:01.005Z INFO  listening port=8080 url=http://127.0.0.1:8080 userAgent="docker/27 linux" list=["a"] empty=""\n`,
  );
});

test("an error shows its message and, indented below, its stack", () => {
  const err = { type: "Error", message: "no disk", stack: "Error: no disk\n    at one\n    at two" };
  assert.equal(
    textLine(line({ level: 50, err, msg: "failed" }), false),
    `2026-11-21T12:00:01.005Z ERROR failed err="no disk"\n    at one\n    at two\n`,
  );
});

test("control characters in values neither start new lines nor reach the terminal", () => {
  const text = textLine(line({ path: "/a\n2026 INFO forged\u001b[2J", msg: "request\r" }), false);
  assert.equal(text.split("\n").length, 2);
  assert.deepEqual(text.match(/\p{Cc}/gu), ["\n"]);
});

test("characters that end a line, hide or turn text around are escaped, in values, messages and stacks", () => {
  // Right-to-left override, line and paragraph separator, next line and CSI of C1, zero width space, tag of a language.
  const characters = ["\u202e", "\u2028", "\u2029", "\u0085", "\u009b", "\u200b", "\u{e0041}"];
  for (const character of characters) {
    const value = `a${character}b`;
    const text = textLine(
      line({ path: value, list: [value], err: { message: value, stack: `Error\n at ${value}` }, msg: value }),
      false,
    );
    const escaped = `a\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}b`;
    assert.ok(!text.includes(character), escaped);
    assert.equal(text.split(escaped).length - 1, 5, text);
    assert.equal(text.split("\n").length, 3);
  }
});

test("color is used only on terminals", () => {
  assert.ok(textLine(line({ msg: "x" }), true).includes("\u001b[32mINFO "));
  assert.ok(!textLine(line({ msg: "x" }), false).includes("\u001b"));
});
