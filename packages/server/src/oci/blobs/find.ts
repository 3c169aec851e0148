import type { Call } from "../../core/call.ts";
import { statement } from "../../store/index.ts";
import { RegistryError } from "../errors.ts";

const selectBlob = statement<{ size: number; generation: string; touch_time: number }>(
  "select b.size, b.generation, r.touch_time from repo_blobs as r join blobs as b on b.digest = r.digest where r.repo = ? and r.digest = ?",
  ["text", "text"],
);

/**
 * The size and generation of a blob that the repo links to, and when the link was last touched (milliseconds since
 * 1970). Undefined when the repo has no such blob.
 */
export async function findBlob(
  call: Call,
  repo: string,
  digest: string,
): Promise<{ size: number; generation: string; touch_time: number } | undefined> {
  return (await selectBlob(call.tx, repo, digest))[0];
}

export function blobUnknown(digest: string): RegistryError {
  const resource = { type: "moorage.registry.v2.Blob", name: digest };
  return new RegistryError("BLOB_UNKNOWN", `Blob not found: ${digest}`, { detail: { digest }, details: { resource } });
}
