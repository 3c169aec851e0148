import assert from "node:assert/strict";
import { test } from "node:test";
import { prefixOf, TICKS } from "./event-ticks.ts";

test("the prefix of an installation is read off the type of one of its events", () => {
  assert.equal(prefixOf("com.acme.registry.push.v1"), "com.acme.");
  assert.equal(prefixOf("dev.moorage.api.iam.group.created.v1"), "dev.moorage.");
  assert.equal(prefixOf(undefined), "dev.moorage.");
});

test("each tick stands for types of its own", () => {
  const types = TICKS.flatMap(([, ticks]) => ticks.map(({ type }) => type));
  assert.equal(new Set(types).size, types.length);
});
