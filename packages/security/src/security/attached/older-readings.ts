import { sql } from "kysely";
import type { Call } from "@moorage/kernel/core/call";
import type { Database } from "@moorage/kernel/store";
import { MAX_ATTEMPTS } from "../catalog/queue.ts";
import { deletePackages } from "../catalog/remove.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { ATTACHED_READERS_VERSION } from "./readers-version.ts";
import { sourceOf } from "./sources.ts";

// What earlier readers read of an attached manifest counts until all of it was read again. What the later reading has
// found so far stands beside it, where nobody asks for it.

/** A manifest that is attached to a digest. */
interface Place {
  subject: string;
  manifest: string;
}

/** The source of the packages of the document `n`, of the reading that counts or of one that is under way beside it. */
export function packagesOf(manifest: string, n: number, isAgain: boolean): string {
  return isAgain ? `${sourceOf(manifest, n)}${AGAIN}` : sourceOf(manifest, n);
}

const AGAIN = "/again";

/** The number of the document `n` for its statements, of the reading that counts or of one beside it: below 0. */
export function statementsOf(n: number, isAgain: boolean): number {
  return isAgain ? -n - 1 : n;
}

/** The manifests that were read by earlier readers, and not yet in vain by those of this program. */
export function outdatedReadings(db: Database) {
  return (
    db
      .selectFrom("attached_readings")
      // As its index has it.
      .where("state", "=", sql.lit(CATALOG_STATE.done))
      .where("readers", "<", ATTACHED_READERS_VERSION)
      .where("rereads", "<", MAX_ATTEMPTS)
  );
}

/** What was found again counts from now on, for a command that has locked the catalogs. */
export async function replaceReading(call: Call, place: Place): Promise<void> {
  await remove(call, place, false);
  const { subject, manifest } = place;
  const sources = await sourcesOf(call.tx, place);
  for (const source of sources)
    await call.tx
      .updateTable("image_packages")
      .set({ source: source.slice(0, -AGAIN.length) })
      .where("digest", "=", subject)
      .where("source", "=", source)
      .execute();
  await call.tx
    .updateTable("attached_statements")
    .set({ n: sql<number>`-n - 1` })
    .where("subject", "=", subject)
    .where("manifest", "=", manifest)
    .where("n", "<", 0)
    .execute();
}

/** Removes what a later reading has found that did not come to its end. */
export async function forgetReading(call: Call, place: Place): Promise<void> {
  await remove(call, place, true);
}

/** Removes what a reading has found: the one that is under way beside the other, or that one. */
async function remove({ tx }: Call, place: Place, isAgain: boolean): Promise<void> {
  const { subject, manifest } = place;
  for (const source of await sourcesOf(tx, place))
    if (source.endsWith(AGAIN) === isAgain) while (!(await deletePackages(tx, subject, source)));
  await tx
    .deleteFrom("attached_statements")
    .where("subject", "=", subject)
    .where("manifest", "=", manifest)
    .where("n", isAgain ? "<" : ">=", 0)
    .execute();
}

/** The sources of packages of the manifest, whichever reading found them: 0 is the character behind the slash. */
async function sourcesOf(tx: Database, { subject, manifest }: Place): Promise<string[]> {
  const rows = await tx
    .selectFrom("image_packages")
    .select("source")
    .distinct()
    .where("digest", "=", subject)
    .where("source", ">=", `${manifest}/`)
    .where("source", "<", `${manifest}0`)
    .execute();
  return rows.map(({ source }) => source);
}
