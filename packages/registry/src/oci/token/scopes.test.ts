import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseScopes } from "./scopes.ts";

test("scopes are split and joined by repository; `*` means all actions", () => {
  const none = { scopes: [], catalog: false, unusable: [] };
  assert.deepEqual(parseScopes([]), none);
  assert.deepEqual(parseScopes(["", " \t"]), none);
  assert.deepEqual(parseScopes(["repository:acme/app:pull,"]), {
    ...none,
    scopes: [{ name: "acme/app", actions: ["pull"] }],
  });
  assert.deepEqual(
    parseScopes([
      "repository:acme/app:pull,push  repository:acme/base:pull\nrepository:acme/base:pull",
      "repository:acme/app:delete,pull,metadata_read",
    ]),
    {
      ...none,
      scopes: [
        { name: "acme/app", actions: ["pull", "push", "delete"] },
        { name: "acme/base", actions: ["pull"] },
      ],
    },
  );
  assert.deepEqual(parseScopes(["registry:catalog:* repository(plugin):acme/x:push,pull repository:acme/app:*"]), {
    scopes: [
      { name: "acme/x", actions: ["pull", "push"] },
      { name: "acme/app", actions: ["pull", "push", "delete"] },
    ],
    catalog: true,
    unusable: [],
  });
});

test("scopes that nobody can be granted leave the others as they are", () => {
  for (const text of [
    "repository",
    "repository:acme/app",
    "acme/app:pull",
    "repository::pull",
    "repository:Acme/app:pull",
    "repository:acme//app:pull",
    "repository:acme/*:pull",
    "repository:*:*",
    "repository:../app:pull",
    "repository:acme/app:pull;push",
    "repository:acme/app:",
    "repository:acme/app:PULL",
    "repository:acme/app:metadata_read",
    "repository:host:5000/acme/app:pull",
    "repository(:acme/app:pull",
    "registry:catalog:list",
    "registry:other:*",
    "artifact-repository:acme/app:pull",
    ":acme/app:pull",
    "*",
    "::",
  ]) {
    assert.deepEqual(
      parseScopes([`${text} repository:acme/base:pull`, text]),
      { scopes: [{ name: "acme/base", actions: ["pull"] }], catalog: false, unusable: [text] },
      text,
    );
  }
});

test("more than is looked at is an error; what is named twice counts once", () => {
  const repositories = Array.from({ length: 101 }, (_, at) => `repository:acme/app${at}:pull`);
  assert.ok("problem" in parseScopes(repositories));
  assert.ok("problem" in parseScopes(["x".repeat(20_000)]));
  const hundred = repositories.slice(1);
  const found = parseScopes([...hundred, ...hundred]);
  assert.equal("scopes" in found && found.scopes.length, 100);
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
        assert.ok(values.some((value) => value.includes(`:${name}:`)));
        for (const action of actions) assert.ok(values.some((value) => value.includes(action) || value.includes("*")));
      }
    }),
  );
});
