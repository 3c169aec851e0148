import assert from "node:assert/strict";
import { test } from "node:test";
import { findActions, findPages } from "./palette-pages.ts";

test("pages are found by the words that people use for what they hold", () => {
  const first = (text: string): string | undefined => findPages(text)[0]?.to;
  for (const [text, to] of [
    ["webhook", "/events/subscriptions"],
    ["subscription", "/events/subscriptions"],
    ["robot", "/access/machines"],
    ["service account", "/access/machines"],
    ["library", "/packages"],
    ["users", "/access/bindings"],
    ["sso", "/access/providers"],
    ["audit", "/audit"],
  ] as const)
    assert.equal(first(text), to, text);
  assert.ok(findPages("token").some(({ to }) => to === "/access/pull-tokens"));
  assert.ok(findPages("user").some(({ to }) => to === "/access/identities"));
});

test("a page that lacks one of the words is not found, and every page is found without any", () => {
  assert.deepEqual(findPages("audit xyzzy"), []);
  assert.ok(findPages("").length > 20);
});

test("actions are found by their name and by other words", () => {
  assert.equal(findActions("robot")[0]?.to, "/access/machines");
  assert.equal(findActions("invite")[0]?.label, "Invite people");
  assert.deepEqual(findActions("xyzzy"), []);
});
