import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition } from "@moorage/kernel/errors";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";
import { noteSignerChange } from "../signers/note-change.ts";
import { keylessOf } from "../signers/resource.ts";

/** The trust root of the server's settings, as signers name it. */
export const OF_SETTINGS = "";
const MAX_SHOWN = 3;

/** What was signed by the identities that name the trust root is verified anew after the commit. */
export async function noteSignersOf(call: Call, trustRoot: string): Promise<void> {
  for (const { uid } of await signersNaming(call.tx, trustRoot)) await noteSignerChange(call, uid);
}

/** Throws FAILED_PRECONDITION (RESOURCE_IN_USE) when a signer names the trust root. */
export async function requireUnnamed(tx: Database, trustRoot: string): Promise<void> {
  const found = await signersNaming(tx, trustRoot);
  if (found.length === 0) return;
  const named = found.slice(0, MAX_SHOWN).map(({ name }) => name);
  const more = found.length > MAX_SHOWN ? ` and ${found.length - MAX_SHOWN} more` : "";
  throw failedPrecondition({
    type: "RESOURCE_IN_USE",
    subject: trustRoot,
    description: `signers name the trust root: ${named.join(", ")}${more}`,
  });
}

async function signersNaming(tx: Database, trustRoot: string): Promise<{ uid: string; name: string }[]> {
  const group = trustRoot === OF_SETTINGS ? undefined : parentOf(trustRoot);
  // Uids below the group begin with its own and a slash; a zero comes after the slash.
  const below = group === undefined ? "" : " and uid > ? and uid < ?";
  const rows = await select<{ uid: string; name: string; keyless: string }>(
    tx,
    `select uid, name, keyless from signers where keyless is not null${below} order by uid`,
    group === undefined ? [] : [`${group}/`, `${group}0`],
  );
  return rows.filter((row) => keylessOf(row)?.trustRoot === trustRoot);
}
