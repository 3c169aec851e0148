import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Place } from "./moorage.ts";
import { withClient } from "./postgres.ts";

/** Rows of a database that a server has open. */
export async function queried<T>({ dataDir, env }: Place, sql: string): Promise<T[]> {
  const url = env["MOORAGE_DATABASE_URL"];
  if (url !== undefined) return withClient(url, async (client) => (await client.query(sql)).rows as T[]);
  const database = new DatabaseSync(join(dataDir, "moorage.db"), { readOnly: true });
  try {
    return database.prepare(sql).all() as T[];
  } finally {
    database.close();
  }
}
