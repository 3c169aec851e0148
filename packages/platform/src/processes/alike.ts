import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Database, NEWEST_VERSION } from "@moorage/kernel/store";
import type { ServingProcess } from "./commands.ts";

const MOST = 1_000;
const RETRY_MS = 60_000;

/** The processes that serve the installation at this agreed time, in milliseconds; the first thousand. */
export async function servingProcesses(db: Database, agreedMs: number): Promise<ServingProcess[]> {
  return await db
    .selectFrom("processes")
    .select(["id", "version", "schema"])
    .where("until_time", ">", agreedMs)
    .orderBy("id")
    .limit(MOST)
    .execute();
}

/** A process that serves the installation and works with another schema than this program. Undefined for none. */
export async function processOfOtherSchema(db: Database, agreedMs: number): Promise<ServingProcess | undefined> {
  return await db
    .selectFrom("processes")
    .select(["id", "version", "schema"])
    .where("until_time", ">", agreedMs)
    .where("schema", "<>", NEWEST_VERSION)
    .limit(1)
    .executeTakeFirst();
}

/** In a few words, for the log and for callers. */
export function describeProcess({ version, schema }: Omit<ServingProcess, "id">): string {
  return `a process of moorage ${version}, which works with schema ${schema}`;
}

/**
 * Throws UNAVAILABLE while a process of another schema version serves the installation: what it needs may be recorded
 * in a way that this program does not know, so nothing may be collected beside it.
 */
export async function requireAlike(db: Database, agreedMs: number): Promise<void> {
  const other = await processOfOtherSchema(db, agreedMs);
  if (other === undefined) return;
  throw new MoorageError(
    Code.Unavailable,
    `Unavailable: nothing is collected while ${describeProcess(other)}, runs beside this one, which works with ${NEWEST_VERSION}`,
    { retryAfterMs: RETRY_MS },
  );
}
