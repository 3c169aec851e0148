import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestOf } from "./nearest.ts";

test("the nearest name is meant; what is too far away is not", () => {
  assert.equal(nearestOf("acme/wep", ["acme/worker", "acme/web", "acme/api"]), "acme/web");
  assert.equal(nearestOf("acme/build-tool", ["acme/build-tools", "acme/busy"]), "acme/build-tools");
  assert.equal(nearestOf("acme/wbe", ["acme/worker", "acme/web", "acme/api"]), "acme/web", "two letters are swapped");
  assert.equal(nearestOf("acme/bew", ["acme/web"]), undefined);
  assert.equal(nearestOf("acme/xyz", ["acme/web", "other/xyz"]), undefined);
  assert.equal(nearestOf("acme/web", []), undefined);
});
