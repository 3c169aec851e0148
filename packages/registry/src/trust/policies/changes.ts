import type { Call } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";

const note = statement(
  "insert into signature_policy_changes (parent, value) values (?, 1) on conflict (parent) do update set value = signature_policy_changes.value + 1",
);

/** The name under which the changes of all policies are counted. */
const OF_ALL = "";

/** Notes that a signer of the group was made, changed or deleted, by which images may be judged. */
export async function noteJudgingSigner({ tx }: Pick<Call, "tx">, group: string): Promise<void> {
  await note(tx, group);
}

/**
 * Notes that a policy of the group, or an exemption from one, was made, changed or deleted. What was judged before is
 * judged anew with the next pull.
 */
export async function notePolicyChange({ tx }: Pick<Call, "tx">, group: string): Promise<void> {
  await note(tx, group);
  await note(tx, OF_ALL);
}
