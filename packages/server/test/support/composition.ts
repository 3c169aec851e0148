import { pino } from "pino";
import { compose, type Composition, type CompositionOptions } from "../../src/boot/compose.ts";
import { loadConfig } from "../../src/index.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { beginMigrated, databaseEnv, openForWriting } from "./database.ts";
import { UNLIMITED } from "./no-rate-limits.ts";

/** The server's parts, as the program composes them, on a data folder and a port. No jobs run. */
export interface TestComposition extends Composition {
  /** A connection that a test may write to outside of transactions. */
  db: Database;
  /** Closes everything; rejects when the server logged errors. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** `env`: settings beside those of every test. `expected`: messages of errors that the test has the server log. */
export async function openComposition(
  dataDir: string,
  env: Record<string, string> = {},
  { expected = [], ...options }: Pick<CompositionOptions, "clock" | "prepared"> & { expected?: readonly string[] } = {},
): Promise<TestComposition> {
  const errors: unknown[] = [];
  const write = (line: string): void => {
    const entry = JSON.parse(line) as { msg?: string };
    if (!expected.includes(entry.msg ?? "")) errors.push(entry);
  };
  const log = pino({ level: "error" }, { write });
  const config = loadConfig({
    MOORAGE_PORT: "0",
    ...UNLIMITED,
    MOORAGE_DATA_DIR: dataDir,
    ...(await databaseEnv(dataDir)),
    ...env,
  });
  beginMigrated(dataDir);
  const composition = await compose(config, { ...options, log });
  const { db, close } = openForWriting(dataDir, composition.store);
  return {
    ...composition,
    db,
    async [Symbol.asyncDispose]() {
      await close();
      await composition[Symbol.asyncDispose]();
      if (errors.length > 0) throw new Error("the server logged errors", { cause: errors });
    },
  };
}
