import assert from "node:assert/strict";
import { test } from "node:test";
import { etagOf, matchesEtag } from "./etags.ts";

test("different texts have different entity tags, and equal texts the same one", () => {
  const long = "a".repeat(5000);
  const texts = [
    "",
    "a",
    "b",
    "ab",
    "ba",
    "\u0000",
    "\u0000\u0000",
    "é",
    "e\u0301",
    "x".repeat(2048),
    "x".repeat(2049),
    long,
    `${long}a`,
    `b${long.slice(1)}`,
  ];
  for (let at = 0; at < 20_000; at++) texts.push(JSON.stringify({ uid: at, description: `number ${at * 7919}` }));
  assert.equal(new Set(texts.map(etagOf)).size, texts.length);
  for (const text of texts.slice(0, 20)) {
    assert.equal(etagOf(text), etagOf(`${text}`));
    assert.match(etagOf(text), /^"[\w-]+"$/);
  }
});

test("If-None-Match matches a star, one tag and any tag of a list, weak or strong", () => {
  for (const header of ['"a"', 'W/"a"', "*", '"b","a"', '"b" , W/"a"']) assert.ok(matchesEtag(header, '"a"'), header);
  for (const header of [undefined, "", "a", '"b"', 'w/"a"', '"a'])
    assert.ok(!matchesEtag(header, '"a"'), String(header));
});
