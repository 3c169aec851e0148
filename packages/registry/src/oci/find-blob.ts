import type { Call } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";
import { RegistryError } from "./errors.ts";

/** `touch_time`: when the link was last touched, in milliseconds since 1970. */
export interface HeldBlob extends RecordedCopy {
  touch_time: number;
}

const selectBlob = statement<HeldBlob>(
  "select b.size, b.generation, b.suspect_time, r.touch_time from repo_blobs as r join blobs as b on b.digest = r.digest where r.repo = ? and r.digest = ?",
  ["text", "text"],
);

/**
 * The copy of a blob that the repo links to. Undefined when the repo has no such blob.
 */
export async function findBlob(call: Call, repo: string, digest: string): Promise<HeldBlob | undefined> {
  return (await selectBlob(call.tx, repo, digest))[0];
}

export function blobUnknown(digest: string): RegistryError {
  const resource = { type: "moorage.registry.v2.Blob", name: digest };
  return new RegistryError("BLOB_UNKNOWN", `Blob not found: ${digest}`, { detail: { digest }, details: { resource } });
}

/** The stored copy of a blob, as it is recorded. `suspect_time`: since when it is known to be missing or damaged. */
export interface RecordedCopy {
  generation: string;
  size: number;
  suspect_time: number | null;
}
