import { failedPrecondition } from "@moorage/kernel/errors";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";

const MAX_NAMED = 3;

/** Throws FAILED_PRECONDITION (RESOURCE_IN_USE) when a policy names the signer. */
export async function requireUnused(tx: Database, signer: string): Promise<void> {
  const group = parentOf(signer);
  // Uids of groups below begin with the group's and a slash; a zero comes after the slash.
  const rows = await select<{ uid: string; name: string }>(
    tx,
    `select uid, name from signature_policies where (parent = ? or (parent > ? and parent < ?)) and (rules like ? or document_signers like ?) order by uid limit ${MAX_NAMED}`,
    [group, `${group}/`, `${group}0`, `%"${signer}"%`, `%"${signer}"%`],
  );
  if (rows.length === 0) return;
  const named = rows.map(({ name }) => name).join(", ");
  throw failedPrecondition({
    type: "RESOURCE_IN_USE",
    subject: signer,
    description: `signature policies name the signer: ${named}`,
  });
}
