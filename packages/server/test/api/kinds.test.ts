import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Json, type Platform, startPlatform } from "../support/platform.ts";

// The kind of a group is that of its organization.
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

test("a subgroup is of its organization's kind, when it is made and when that changes", async () => {
  const organization = await platform.ok("POST", "/iam/v2/groups", { name: "kinds", kind: "ORG_KIND_CUSTOMER" });
  const other = await platform.ok("POST", "/iam/v2/groups", { name: "kinds-other", kind: "ORG_KIND_STARTER" });
  const group = await platform.group(organization.uid, { name: "team", kind: "ORG_KIND_DEV" });
  const below = await platform.group(group.uid, { name: "squad" });
  const apart = await platform.group(other.uid, { name: "team" });
  const kindOf = async ({ uid }: Json): Promise<unknown> => (await platform.ok("GET", `/iam/v2/groups/${uid}`))["kind"];
  assert.deepEqual(
    [group["kind"], await kindOf(below), await kindOf(apart)],
    ["ORG_KIND_CUSTOMER", "ORG_KIND_CUSTOMER", "ORG_KIND_STARTER"],
  );
  const patched = await platform.ok("PATCH", `/iam/v2/groups/${group.uid}`, { kind: "ORG_KIND_DEV" });
  assert.equal(patched["kind"], "ORG_KIND_CUSTOMER");
  await platform.ok("PATCH", `/iam/v2/groups/${organization.uid}`, { kind: "ORG_KIND_INFRA" });
  assert.deepEqual(
    [await kindOf(organization), await kindOf(group), await kindOf(below), await kindOf(apart)],
    ["ORG_KIND_INFRA", "ORG_KIND_INFRA", "ORG_KIND_INFRA", "ORG_KIND_STARTER"],
  );
});
