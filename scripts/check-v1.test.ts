import assert from "node:assert/strict";
import { test } from "node:test";
import { ExternalGroupRoleMappings, Groups, GroupSchema } from "../packages/api/src/v1/iam.ts";
import { SERVICES, unmapped, unserved } from "./check-v1.ts";

const { list, delete: remove } = Groups.method;

test("a field that no file names is found, a mapped message is not looked at", () => {
  const mapped = new Set([GroupSchema]);
  const text = "translated(Groups, { list: (v2, { id, name, uidp }) => all(GroupListSchema, items) })";
  assert.deepEqual(unmapped(list, mapped, new Map([["groups.ts", text]])), []);
  assert.deepEqual(unmapped(list, mapped, new Map([["groups.ts", text.replace("name, ", "")]])), [
    "moorage.iam.GroupFilter.name",
  ]);
  assert.deepEqual(unmapped(list, new Set(), new Map([["groups.ts", text]])), [
    "moorage.iam.Group.description",
    "moorage.iam.Group.resource_limits",
    "moorage.iam.Group.verified",
  ]);
});

test("a file of another folder is not looked at", () => {
  const code = new Map([
    ["iam/groups.ts", "translated(Groups, { uid })"],
    ["registry/tags.ts", "{ id }"],
  ]);
  assert.deepEqual(unmapped(remove, new Set(), code), ["moorage.iam.DeleteGroupRequest.id"]);
});

test("a method that nothing answers is found", () => {
  const served = new Set(ExternalGroupRoleMappings.methods.map(({ name }) => `moorage.iam.${name}`));
  assert.deepEqual(unserved([Groups], served), [
    "moorage.iam.Groups.Create",
    "moorage.iam.Groups.Update",
    "moorage.iam.Groups.List",
    "moorage.iam.Groups.Delete",
  ]);
  assert.equal(SERVICES.length, 14);
});
