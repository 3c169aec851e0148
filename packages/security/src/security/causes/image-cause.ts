import type { Call } from "@moorage/kernel/core/call";
import { newUid } from "@moorage/kernel/lib/uid";
import { statement } from "@moorage/kernel/store";

const addCause = statement(
  "insert into finding_causes (id, kind, subject, scope, position, create_time) values (?, 'image', ?, ?, '', ?)",
);

/**
 * Notes that the findings of a digest may have changed, and of the images that it names as an index: in the repo, or
 * with an empty one in all. They are looked at after the commit, by security/findings: this is one row, which no other
 * transaction writes.
 */
export async function noteImageChange(
  { tx, nowMs, wake }: Pick<Call, "tx" | "nowMs" | "wake">,
  digest: string,
  repo = "",
): Promise<void> {
  await addCause(tx, newUid(""), digest, repo, nowMs);
  wake("matching");
}
