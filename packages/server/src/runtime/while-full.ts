import type { WriteRequest } from "./sqlite-writer-thread.ts";

// Small writes of those who are signed in, and what frees space. Everything else waits until there is space again.
const AREAS = new Set(["audit", "auth", "jobs", "events", "processes"]);
const COMMANDS = new Set([
  "iam.signIn",
  "oci.deleteBlob",
  "oci.deleteManifest",
  "oci.dropUploads",
  "oci.extendGrace",
  "oci.findUnrecorded",
  "oci.removeTag",
  "oci.removeUnlinkedBlobs",
  "oci.removeUnneededBlobs",
  "oci.removeUnneededManifests",
  "registry.expireTags",
]);
const DELETING_METHOD = /\.(?:BatchDelete|Delete)\w*$/;

/** Whether the command is run although the disk was full, on the space that was kept for it (lib/disk-reserve.ts). */
export function runsWhileFull({ name, input }: Pick<WriteRequest, "name" | "input">): boolean {
  if (name === "method") return DELETING_METHOD.test((input as { method: string }).method);
  return COMMANDS.has(name) || AREAS.has(name.slice(0, name.indexOf(".")));
}
