import assert from "node:assert/strict";
import { test } from "node:test";
import { insertion, readBashLine } from "./bash-line.ts";

const BREAKS = " \t\n\"'@><=;|&(:";

test("a line is split as bash splits it for a command, and the part that its editor replaces is known", () => {
  for (const [line, words, kept, quote] of [
    ["moorage ", ["moorage", ""], 0, ""],
    ["moorage  repos get ac", ["moorage", "repos", "get", "ac"], 0, ""],
    ["m tags get acme/app:1.", ["m", "tags", "get", "acme/app:1."], 9, ""],
    ["m tags get acme/app:", ["m", "tags", "get", "acme/app:"], 9, ""],
    ["m list --output=js", ["m", "list", "--output=js"], 9, ""],
    ['m get "acme/two wo', ["m", "get", "acme/two wo"], 0, '"'],
    ["m get 'acme/app:1", ["m", "get", "acme/app:1"], 0, "'"],
    [String.raw`m get acme/two\ wo`, ["m", "get", "acme/two wo"], 0, ""],
    [String.raw`m get "a\"b\c" 'd\' `, ["m", "get", String.raw`a"b\c`, "d\\", ""], 0, ""],
    ['m get "acme/"te', ["m", "get", "acme/te"], 0, ""],
    ['m get a:"b c', ["m", "get", "a:b c"], 2, '"'],
  ] as [string, string[], number, string][])
    assert.deepEqual(readBashLine(line, BREAKS), { words, kept, quote }, line);
});

test("a word is inserted so that bash reads it as one", () => {
  const at = (line: string): string => insertion("acme/two words:it's", readBashLine(line, BREAKS));
  assert.equal(at("m get acme/t"), String.raw`acme/two\ words:it\'s`);
  assert.equal(at(String.raw`m get acme/two\ words:i`), String.raw`it\'s`);
  assert.equal(at('m get "acme/t'), "acme/two words:it's");
  assert.equal(at("m get 'acme/t"), String.raw`acme/two words:it'\''s`);
  assert.equal(insertion("$a`", readBashLine('m "', BREAKS)), String.raw`\$a\``);
});
