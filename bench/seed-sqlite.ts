// Fills the database of a fresh installation. Reads a SqliteSeed as JSON from standard input. The server must not be
// running.
import { DatabaseSync } from "node:sqlite";
import { answer } from "./processes.ts";
import { SQLITE, type SeedPlan, seedStatements } from "./seed-sql.ts";

export interface SqliteSeed {
  database: string;
  plan: SeedPlan;
}

if (import.meta.main) {
  await answer<SqliteSeed>(({ database: path, plan }) => {
    const database = new DatabaseSync(path);
    // A crash would only cost the seeding.
    database.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000");
    database.exec(
      [
        "begin",
        ...seedStatements(plan, SQLITE),
        "commit",
        // A server makes no statistics. The databases of the other rows have always had them.
        ...(plan.images === undefined ? ["analyze"] : []),
        "pragma journal_mode = wal",
        "pragma wal_checkpoint(truncate)",
      ].join(";\n"),
    );
    database.close();
    return {};
  });
}
