import type { Config } from "@moorage/kernel/config";
import { type Database, openStore } from "@moorage/kernel/store";
import { requireFinished } from "../installation/marker.ts";
import { openCommandWriter, requireNewest } from "../installation/stores.ts";

/** An installation that the operator writes to by commands, as its servers do. */
export interface OpenWriter {
  reader: Database;
  writer: Awaited<ReturnType<typeof openCommandWriter>>;
}

/**
 * Works on an installation by commands; servers may run, on either engine. Rejects as the work does, or when nothing
 * can be written any more. Throws a StoreError in one line when there is no installation of this version.
 */
export async function withWriter<T>(config: Config, work: (open: OpenWriter) => Promise<T>): Promise<T> {
  const store = await openStore(config);
  try {
    await requireNewest(store, config);
    await requireFinished(store.reader);
    const { promise: broken, reject } = Promise.withResolvers<never>();
    const writer = await openCommandWriter(store, config, reject);
    try {
      return await Promise.race([broken, work({ reader: store.reader, writer })]);
    } finally {
      await writer.close();
    }
  } finally {
    await store.close();
  }
}
