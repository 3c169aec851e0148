import assert from "node:assert/strict";
import { test } from "node:test";
import { robotOf } from "./harbor-robots.ts";

const access = (...entries: [action: string, effect?: string, resource?: string][]): object =>
  entries.map(([action, effect, resource = "repository"]) => ({
    resource,
    action,
    ...(effect !== undefined && { effect }),
  }));

/** What a robot of the project acme becomes that has this access. */
function becomes(given: unknown): string | undefined {
  const permissions = [{ kind: "project", namespace: "acme", access: given }];
  const { role, fault } = robotOf("acme", { name: "robot$acme+ci", expires_at: -1, permissions }, 0);
  return role ?? fault;
}

test("a robot may here what it may there, less what is denied to it", () => {
  assert.equal(becomes(access(["pull"], ["push", "allow"])), "registry.push");
  assert.equal(becomes(access(["pull"], ["push"], ["push", "deny"])), "registry.pull");
  assert.equal(becomes(access(["push", "deny"], ["pull", ""], ["push"])), "registry.pull");
  assert.equal(becomes(access(["pull"], ["pull", "deny"])), "may not pull");
  assert.equal(becomes(access(["pull"], ["push"], ["*", "deny"])), "may not pull");
  assert.equal(becomes(access(["pull"], ["push"], ["push", "deny", "*"])), "registry.pull");
  // Of something else nothing is taken away.
  assert.equal(becomes(access(["pull"], ["push"], ["push", "deny", "artifact"])), "registry.push");
});

test("a robot ends here when it does there, and one whose end is not understood does not come", () => {
  const permissions = [{ kind: "project", namespace: "acme", access: access(["pull"]) }];
  const ends = (expires_at: unknown) => robotOf("acme", { name: "robot$acme+ci", expires_at, permissions }, 5_000);
  assert.deepEqual([ends(-1).endMs, ends(null).endMs, ends(60).endMs], [undefined, undefined, 60_000]);
  assert.equal(ends(5).fault, "has ended there");
  for (const odd of ["60", 0, -2, 1e11, Number.NaN]) assert.equal(ends(odd).fault, "has an end that cannot be read");
});

test("a robot whose permissions are not understood does not come, with the reason", () => {
  assert.equal(becomes(access(["pull", "maybe"])), "has a permission that is not known here");
  for (const odd of ["all", [null], [["pull"]]]) assert.equal(becomes(odd), "has permissions that cannot be read");
  const robot = { name: "robot$acme+ci", permissions: [null] };
  assert.equal(robotOf("acme", robot, 0).fault, "has permissions that cannot be read");
  assert.equal(becomes(null), "may not pull");
});
