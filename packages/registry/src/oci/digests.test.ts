import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { algorithmOf, isDigest, isRepositoryName, isTag } from "./digests.ts";

const HEX = "0123456789abcdef";

test("a digest needs a supported algorithm and the length of its hash", () => {
  const hex = (length: number): fc.Arbitrary<string> =>
    fc.string({ unit: fc.constantFrom(...HEX), minLength: length, maxLength: length });
  fc.assert(
    fc.property(hex(64), hex(128), (short, long) => {
      assert.ok(isDigest(`sha256:${short}`) && isDigest(`sha512:${long}`));
      assert.ok(!isDigest(`sha512:${short}`) && !isDigest(`sha256:${long}`) && !isDigest(short));
      assert.equal(algorithmOf(`sha512:${long}`), "sha512");
      assert.equal(algorithmOf(`sha256:${short}`), "sha256");
    }),
  );
  const wrong = [
    "",
    "sha256:",
    `sha256:${"A".repeat(64)}`,
    `sha256:${"a".repeat(63)}`,
    `md5:${"a".repeat(32)}`,
    `sha256:${"a".repeat(64)}\n`,
  ];
  for (const text of wrong) assert.ok(!isDigest(text), text);
});

test("repository names follow the grammar of the specification", () => {
  for (const name of ["acme", "acme/api", "acme/team-a/api", "a.b/c_d/e__f/g---h", "0/1", "a".repeat(255)])
    assert.ok(isRepositoryName(name), name);
  for (const name of [
    "",
    "/",
    "acme/",
    "/acme",
    "a//b",
    "Acme/api",
    "a..b",
    "a___b",
    "-a",
    "a-",
    "a b",
    "../x",
    "a/_service",
    "é",
    "a".repeat(256),
  ]) {
    assert.ok(!isRepositoryName(name), name);
  }
});

test("tags follow the grammar of the specification", () => {
  for (const tag of ["latest", "1.2.3", "_x", "A-b.C", "a".repeat(128)]) assert.ok(isTag(tag), tag);
  for (const tag of ["", ".x", "-x", "a b", "a/b", "a:b", "a".repeat(129), "a\n"]) assert.ok(!isTag(tag), tag);
});
