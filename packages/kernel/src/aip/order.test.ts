import assert from "node:assert/strict";
import { test } from "node:test";
import { camelCase } from "./order.ts";

test("a name is written in camelCase, however many underscores it has", () => {
  assert.equal(camelCase("create_time"), "createTime");
  assert.equal(camelCase("createTime"), "createTime");
  assert.equal(camelCase("_name_"), "Name_");
  assert.equal(camelCase("_".repeat(8 * 1024 * 1024)).length, 8 * 1024 * 1024);
});
