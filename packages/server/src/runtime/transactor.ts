import { createSecrets } from "@moorage/kernel/lib/secrets";
import { databasePath, type Store } from "@moorage/kernel/store";
import { noteQuotaRejection, quotaOfError } from "@moorage/registry/registry";
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
    return notesRejections(
      postgresTransactor(store, {
        methods,
        admins: data.admins,
        terms: data.terms,
        secrets: createSecrets(data.secretKeys),
        onWake,
        organization: data.installation?.organization,
      }),
    );
  return notesRejections(
    await startWriter({ ...data, path: databasePath(dataDir) }, store.reader, {
      onFault,
      onRestart,
      onSettled,
      onDamage,
      onReserve,
      onWake,
    }),
  );
}

/** A transaction that a quota refuses is rolled back whole: that it did so is noted in one of its own. */
function notesRejections(writer: Writer): Writer {
  return {
    ...writer,
    async write(command, data, input) {
      try {
        return await writer.write(command, data, input);
      } catch (error) {
        const quota = quotaOfError(error);
        if (quota !== undefined && !command.isDryRun(input as never))
          await writer.write(noteQuotaRejection, data, { quota }).catch(() => undefined);
        throw error;
      }
    },
  };
}
