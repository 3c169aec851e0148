import type { Call } from "@moorage/kernel/core/call";
import { type Database, statement } from "@moorage/kernel/store";

const note = statement(
  "insert into signature_policy_changes (parent, value) values (?, 1) on conflict (parent) do update set value = signature_policy_changes.value + 1",
);

/** The name under which the changes of all policies are counted. */
const OF_ALL = "";
/** And those of all policies that say whose documents count. */
const OF_DOCUMENTS = "documents";

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

/**
 * Notes that a policy changed that says, or said, whose documents count: what is attached to images is judged anew
 * after the commit.
 */
export async function noteDocumentPolicyChange({ tx, wake }: Pick<Call, "tx" | "wake">): Promise<void> {
  await note(tx, OF_DOCUMENTS);
  wake("images");
}

const selectChanges = statement<{ value: number }>("select value from signature_policy_changes where parent = ?", [
  "text",
]);

/** A number that grows with each such change; 0 where no policy ever said whose documents count. */
export async function documentPolicyChanges(tx: Database): Promise<number> {
  const [row] = await selectChanges(tx, OF_DOCUMENTS);
  return Number(row?.value ?? 0);
}
