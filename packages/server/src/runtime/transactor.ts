import { createSecrets } from "@moorage/kernel/lib/secrets";
import { databasePath, type Store } from "@moorage/kernel/store";
import type { Method } from "./methods.ts";
import { postgresTransactor } from "./postgres-transactor.ts";
import { startWriter, type Writer, type WriterEvents } from "./sqlite-transactor.ts";
import type { WriterThreadData } from "./sqlite-writer-thread.ts";

export interface TransactorSettings extends Omit<WriterThreadData, "path" | "identity" | "isRestarted">, WriterEvents {
  dataDir: string;
  methods: Map<string, Method>;
}

/** The transactor of the store's engine. The events are those of the writer thread, which only SQLite has. */
export async function openTransactor(
  store: Store,
  {
    dataDir,
    methods,
    onFault,
    onRestart = () => {},
    onSettled = () => {},
    onDamage = () => {},
    onReserve = () => {},
    onWake = () => {},
    ...data
  }: TransactorSettings,
): Promise<Writer> {
  if (store.engine === "postgres")
    return postgresTransactor(store, {
      methods,
      admins: data.admins,
      terms: data.terms,
      secrets: createSecrets(data.secretKeys),
      onWake,
      organization: data.installation?.organization,
    });
  return startWriter({ ...data, path: databasePath(dataDir) }, store.reader, {
    onFault,
    onRestart,
    onSettled,
    onDamage,
    onReserve,
    onWake,
  });
}
