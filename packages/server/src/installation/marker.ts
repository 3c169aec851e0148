import { type Database, StoreError } from "../store/index.ts";

// While an import or a restore is under way, a row of `installation` says so, and how far it is: no server starts on
// such a database.

const KEY = "import";

/** What is being brought in, and up to which byte of which table's file. */
export interface Marker {
  source: string;
  table: string;
  offset: number;
}

export async function readMarker(tx: Database): Promise<Marker | undefined> {
  const row = await tx.selectFrom("installation").select("value").where("key", "=", KEY).executeTakeFirst();
  // The writing end is below.
  return row === undefined ? undefined : (JSON.parse(row.value) as Marker);
}

export async function writeMarker(tx: Database, marker: Marker): Promise<void> {
  const value = JSON.stringify(marker);
  await tx
    .insertInto("installation")
    .values({ key: KEY, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

export async function removeMarker(tx: Database): Promise<void> {
  await tx.deleteFrom("installation").where("key", "=", KEY).execute();
}

/** Throws a StoreError when an import or a restore into the database has not come to its end. */
export async function refuseUnfinished(tx: Database): Promise<void> {
  if ((await readMarker(tx)) !== undefined)
    throw new StoreError(
      "an import or restore into this installation has not come to its end: run it again, or begin with an empty place",
    );
}
