import { createSecrets } from "../lib/secrets.ts";
import type { Method } from "./methods.ts";
import { postgresTransactor } from "./postgres-transactor.ts";
import { databasePath, type Store } from "../store/index.ts";
import { startWriter, type Writer } from "./sqlite-transactor.ts";
import type { WriterThreadData } from "./sqlite-writer-thread.ts";

export interface TransactorSettings extends Omit<WriterThreadData, "path"> {
  dataDir: string;
  methods: Map<string, Method>;
  /** Called when the writer thread dies, which is a defect. */
  onFault(error: Error): void;
  /** Called when the writer thread finds the database's file damaged. */
  onDamage?(error: Error): void;
}

/** The transactor of the store's engine. */
export async function openTransactor(
  store: Store,
  { dataDir, methods, onFault, onDamage, ...data }: TransactorSettings,
): Promise<Writer> {
  if (store.engine === "postgres")
    return postgresTransactor(store, {
      methods,
      admins: data.admins,
      terms: data.terms,
      secrets: createSecrets(data.secretKeys),
    });
  return startWriter({ ...data, path: databasePath(dataDir) }, store.reader, {
    onFault,
    ...(onDamage && { onDamage }),
  });
}
