import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS, commandNamed } from "./commands.ts";

const runsWhileFull = ({ name, input }: { name: string; input: unknown }): boolean =>
  commandNamed(name).runsWhileFull(input as never);

test("on the reserve of a full disk, deletes, collection and tokens run, and nothing that adds content", () => {
  const running = COMMANDS.map(({ name }) => name).filter(
    (name) => name !== "method" && runsWhileFull({ name, input: {} }),
  );
  for (const name of [
    "auth.noteSeen",
    "auth.storeRefreshToken",
    "oci.deleteManifest",
    "oci.removeUnneededBlobs",
    "jobs.takeLease",
  ])
    assert.ok(running.includes(name), name);
  const waiting = COMMANDS.map(({ name }) => name).filter((name) => !running.includes(name));
  for (const name of ["oci.putManifest", "oci.commitBlob", "oci.startUpload", "mirroring.storeCopiedManifest"])
    assert.ok(waiting.includes(name), name);
  const method = (name: string): boolean => runsWhileFull({ name: "method", input: { method: `moorage.${name}` } });
  assert.ok(
    method("registry.v2.ReposService.DeleteRepo") && method("iam.v2.RoleBindingsService.BatchDeleteRoleBindings"),
  );
  assert.ok(!method("registry.v2.ReposService.CreateRepo") && !method("iam.v2.UndeleteService.UpdateRepo"));
});
