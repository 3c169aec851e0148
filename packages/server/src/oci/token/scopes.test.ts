import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseScopes } from "./scopes.ts";

test("scopes are split and joined by repository; unknown types and actions are ignored", () => {
  assert.deepEqual(parseScopes([]), { scopes: [], catalog: false });
  assert.deepEqual(parseScopes([""]), { scopes: [], catalog: false });
  assert.deepEqual(parseScopes(["repository:acme/app:pull"]), {
    scopes: [{ name: "acme/app", actions: ["pull"] }],
    catalog: false,
  });
  assert.deepEqual(
    parseScopes(["repository:acme/app:pull,push repository:acme/base:pull", "repository:acme/app:delete,pull"]),
    {
      scopes: [
        { name: "acme/app", actions: ["pull", "push", "delete"] },
        { name: "acme/base", actions: ["pull"] },
      ],
      catalog: false,
    },
  );
  assert.deepEqual(parseScopes(["registry:catalog:* repository(plugin):acme/x:pull repository:acme/app:*"]), {
    scopes: [{ name: "acme/app", actions: ["pull", "push", "delete"] }],
    catalog: true,
  });
  assert.deepEqual(parseScopes(["repository:acme/app:metadata_read"]), {
    scopes: [{ name: "acme/app", actions: [] }],
    catalog: false,
  });
});

test("malformed scopes are rejected", () => {
  for (const text of [
    "repository",
    "repository:acme/app",
    "acme/app:pull",
    "repository::pull",
    "repository:Acme/app:pull",
    "repository:acme//app:pull",
    "repository:../app:pull",
    "repository:acme/app:pull;push",
    "repository:host:5000/acme/app:pull",
    ":acme/app:pull",
    "x".repeat(20_000),
    Array(101).fill("repository:a/b:pull").join(" "),
  ]) {
    assert.ok("problem" in parseScopes([text]), text.slice(0, 80));
  }
});

test("property: parsed scopes are among the requested ones, and no text throws", () => {
  const text = fc
    .array(fc.constantFrom("repository", ":", "acme/app", "pull", "push", ",", "*", " ", "/", "A", "(x)"))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(fc.oneof(text, fc.string()), { maxLength: 5 }), (values) => {
      const found = parseScopes(values);
      if ("problem" in found) return;
      for (const { name, actions } of found.scopes) {
        assert.ok(values.some((value) => value.includes(`repository:${name}:`)));
        for (const action of actions) assert.ok(values.some((value) => value.includes(action) || value.includes("*")));
      }
    }),
  );
});
