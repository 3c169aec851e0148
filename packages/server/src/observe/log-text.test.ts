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

test("colour is used only on terminals", () => {
  assert.ok(textLine(line({ msg: "x" }), true).includes("\u001b[32mINFO "));
  assert.ok(!textLine(line({ msg: "x" }), false).includes("\u001b"));
});
