import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, recentWords } from "./recent-events.ts";

const NOW = Date.parse("2026-11-26T12:00:00Z");
const TYPES = ["dev.moorage.registry.push.v1", "dev.moorage.registry.push.v1", "dev.moorage.registry.pull.v1"];

test("events are counted by what their types begin with; none ticked are all", () => {
  assert.equal(countOf(TYPES, ["dev.moorage.registry.push."]), 2);
  assert.equal(countOf(TYPES, ["dev.moorage.registry.push.", "dev.moorage.registry."]), 3);
  assert.equal(countOf(TYPES, ["dev.moorage.libraries."]), 0);
  assert.equal(countOf(TYPES, []), 3);
});

test("the words say of how many and since when, and whether there are more", () => {
  const since = "2026-11-26T09:00:00Z";
  const pushes = ["dev.moorage.registry.push."];
  assert.equal(
    recentWords({ types: TYPES, since, isMore: false }, pushes, NOW),
    "2 of the last 3 events, since 3 h ago",
  );
  assert.match(recentWords({ types: TYPES, since, isMore: true }, pushes, NOW), /^2 of the last at least 3 events/);
  assert.equal(recentWords({ types: [], since: undefined, isMore: false }, pushes, NOW), "no recent events");
});
