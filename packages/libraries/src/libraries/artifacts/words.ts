import { organizationOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";

/** The longest beginning of a word that is searched for, in characters. */
const MAX_SEARCHED = 64;
const LETTER = /[\p{L}\p{N}]/u;

/** A text as it is searched: in lower case, whatever the database takes for it, and cut. */
export function searched(text: string): string {
  return [...text.toLowerCase()].slice(0, MAX_SEARCHED).join("");
}

/**
 * What a name is found by: itself, and its end from each of its words on. `@acme/left-pad`: `left-pad` and `pad`, too.
 */
function wordsOf(name: string): string[] {
  const letters = [...name.toLowerCase()];
  const found = new Set<string>();
  for (let at = 0; at < letters.length; at++) {
    const isBeginning = at === 0 || (LETTER.test(letters[at] ?? "") && !LETTER.test(letters[at - 1] ?? ""));
    if (isBeginning) found.add(letters.slice(at, at + MAX_SEARCHED).join(""));
  }
  return [...found];
}

/** Writes what an artifact is found by. */
export async function writeWords(tx: Database, artifact: string): Promise<void> {
  const row = await tx
    .selectFrom("artifacts")
    .select(["ecosystem", "name", "normalized"])
    .where("uid", "=", artifact)
    .executeTakeFirstOrThrow();
  const organization = organizationOf(artifact);
  const words = new Set([...wordsOf(row.name), ...wordsOf(row.normalized)]);
  await tx
    .insertInto("artifact_words")
    .values([...words].map((word) => ({ organization, ecosystem: row.ecosystem, word, artifact })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Removes it: the artifact is found no more. */
export async function removeWords(tx: Database, artifact: string): Promise<void> {
  await select(tx, "delete from artifact_words where artifact = ?", [artifact]);
}
