import { createHash } from "node:crypto";
import { AdvisorySchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { alreadyExists } from "@moorage/kernel/errors";
import { organizationOf } from "@moorage/kernel/lib/uid";
import type { Row } from "@moorage/kernel/store";

/** What the rows by which an advisory is found are made of. */
type Found = Pick<
  Row<"advisories">,
  | "uid"
  | "parent"
  | "artifact_name"
  | "artifact_type"
  | "artifact_architecture"
  | "component_name"
  | "component_location"
  | "component_type"
  | "aliases"
>;

/** The longest text that is searched for, in characters. */
export const MAX_SEARCHED = 128;
const ROWS_AT_ONCE = 1_000;

/** A text as it is searched: in lower case, whatever the database takes for it. */
export function folded(text: string): string {
  return text.toLowerCase();
}

/**
 * Writes the rows by which an advisory is found, in place of those that are there. Throws ALREADY_EXISTS if the group
 * has an advisory of the same artifact and component with one of the aliases.
 */
export async function writeLookups({ tx }: Pick<Call, "tx">, advisory: Found): Promise<void> {
  const { uid } = advisory;
  await removeLookups({ tx }, uid);
  const aliases = (JSON.parse(advisory.aliases) as string[]).map(folded);
  const subject = subjectOf(advisory);
  const inserted = await tx
    .insertInto("advisory_aliases")
    .values(aliases.map((alias) => ({ advisory: uid, alias, subject })))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows !== BigInt(aliases.length)) {
    const other = await tx
      .selectFrom("advisory_aliases as x")
      .innerJoin("advisories as a", "a.uid", "x.advisory")
      .select("a.advisory_id")
      .where("x.subject", "=", subject)
      .where("x.alias", "in", aliases)
      .where("x.advisory", "!=", uid)
      .executeTakeFirst();
    throw alreadyExists(AdvisorySchema.typeName, other?.advisory_id ?? "");
  }
  const organization = organizationOf(uid);
  const suffixes = suffixesOf([folded(advisory.artifact_name), folded(advisory.component_name), ...aliases]);
  for (let at = 0; at < suffixes.length; at += ROWS_AT_ONCE)
    await tx
      .insertInto("advisory_suffixes")
      .values(suffixes.slice(at, at + ROWS_AT_ONCE).map((suffix) => ({ organization, suffix, advisory: uid })))
      .execute();
}

/** Removes them: the advisory is found no more, and makes place for another. */
export async function removeLookups({ tx }: Pick<Call, "tx">, uid: string): Promise<void> {
  for (const table of ["advisory_aliases", "advisory_suffixes"] as const)
    await tx.deleteFrom(table).where("advisory", "=", uid).execute();
}

function subjectOf(advisory: Found): string {
  const { parent, artifact_name, artifact_type, artifact_architecture } = advisory;
  const { component_name, component_type, component_location } = advisory;
  const parts = [parent, artifact_name, artifact_type, artifact_architecture];
  return createHash("sha256")
    .update(JSON.stringify([...parts, component_name, component_type, component_location]))
    .digest("hex");
}

/** All ends of the texts, each once, cut to what is searched for. */
function suffixesOf(texts: readonly string[]): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    const letters = [...text];
    for (let at = 0; at < letters.length; at++) found.add(letters.slice(at, at + MAX_SEARCHED).join(""));
  }
  return [...found];
}
