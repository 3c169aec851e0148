// What each method says of its effect, by the option that annotations of MCP's tools are made of.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import { http } from "@moorage/api/gen/google/api/annotations_pb";
import { effectOf } from "../../../kernel/src/core/effect.ts";

const methods: readonly DescMethod[] = Object.values<unknown>(api)
  .filter(
    (value): value is DescService =>
      typeof value === "object" && value !== null && "kind" in value && value.kind === "service",
  )
  .flatMap((service) => service.methods);

test("every method says what it changes", () => {
  assert.ok(methods.length > 100, String(methods.length));
  for (const method of methods) assert.doesNotThrow(() => effectOf(method));
});

test("the effect of a method fits its REST verb and its name", () => {
  for (const method of methods) {
    const effect = effectOf(method);
    const verb = getOption(method, http).pattern.case;
    if (verb === "get" && method.parent.name !== "SecurityTokenService")
      assert.equal(effect.readOnly, true, method.toString());
    if (verb === "delete" || verb === "patch")
      assert.deepEqual([effect.readOnly, effect.destructive], [false, true], method.toString());
    if (/^(?:Create|BatchCreate|Promote|Rollback|Rotate|Accept)/.test(method.name))
      assert.equal(effect.readOnly, false, method.toString());
    if (effect.readOnly) assert.equal(effect.destructive, false, method.toString());
  }
});

test("a title is given, or else made of the method's name", () => {
  assert.equal(effectOf(api.TagsService.method.promoteTags).title, "Promote tags");
  assert.equal(effectOf(api.ReposService.method.previewTagRetention).title, "Preview tag retention");
});
