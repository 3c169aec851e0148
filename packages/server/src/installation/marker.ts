import { type Database, putValue, removeValue, StoreError } from "@moorage/kernel/store";

// While an import or a restore is under way, a row of `installation` records it and its progress: no server starts on
// such a database.

const KEY = "import";

/** The source of an import or a restore, and how many bytes of which table's file are done. */
export interface Marker {
  source: string;
  table: string;
  offset: number;
}

export async function readMarker(tx: Database): Promise<Marker | undefined> {
  const row = await tx.selectFrom("installation").select("value").where("key", "=", KEY).executeTakeFirst();
  // The functions below write the value.
  return row === undefined ? undefined : (JSON.parse(row.value) as Marker);
}

export async function writeMarker(tx: Database, marker: Marker): Promise<void> {
  await putValue(tx, KEY, JSON.stringify(marker));
}

export async function removeMarker(tx: Database): Promise<void> {
  await removeValue(tx, KEY);
}

/** Throws a StoreError when an import or a restore into the database is unfinished. */
export async function requireFinished(tx: Database): Promise<void> {
  if ((await readMarker(tx)) !== undefined)
    throw new StoreError(
      "an import or restore into this installation has not come to its end: run it again, or start with an empty data folder and database",
    );
}
