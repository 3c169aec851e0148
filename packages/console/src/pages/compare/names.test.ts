import assert from "node:assert/strict";
import { test } from "node:test";
import { splitReference } from "./names.ts";

test("the name of an image is its repo and what stands in it, by tag, digest or a tag's time", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  for (const [name, repo, reference] of [
    ["acme/app:1.2", "acme/app", "1.2"],
    ["acme/team/app", "acme/team/app", "latest"],
    [`acme/app@${digest}`, "acme/app", digest],
    ["acme/app:1.2@2026-07-01T00:00:00Z", "acme/app", "1.2@2026-07-01T00:00:00Z"],
  ] as const)
    assert.deepEqual(splitReference(name), { repo, reference }, name);
});
