import assert from "node:assert/strict";
import { test } from "node:test";
import { audienceOf } from "./identity-words.ts";

test("tokens are for the scheme and host of a destination, https without a scheme", () => {
  assert.equal(audienceOf("registry.example.com/archive"), "https://registry.example.com");
  assert.equal(audienceOf("registry.example.com:5000/a/b"), "https://registry.example.com:5000");
  assert.equal(audienceOf("http://127.0.0.1:5000/archive"), "http://127.0.0.1:5000");
  assert.equal(audienceOf(""), undefined);
  assert.equal(audienceOf("a b"), undefined);
});
