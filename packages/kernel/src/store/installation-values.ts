import type { Database } from "./store.ts";

// The table `installation`: what there is once in an installation, by its key.

/** Sets the value, whether there is one or not. */
export async function putValue(tx: Database, key: string, value: string): Promise<void> {
  await tx
    .insertInto("installation")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** Adds values of which there must be none. */
export async function addValues(tx: Database, values: Readonly<Record<string, string>>): Promise<void> {
  const rows = Object.entries(values).map(([key, value]) => ({ key, value }));
  await tx.insertInto("installation").values(rows).execute();
}

/** Removes the value, if there is one. */
export async function removeValue(tx: Database, key: string): Promise<void> {
  await tx.deleteFrom("installation").where("key", "=", key).execute();
}
