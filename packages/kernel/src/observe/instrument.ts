import type { BlobStore, ByteSource } from "../blobs/index.ts";
import { Code, MoorageError } from "../errors.ts";
import type { Transactor } from "../core/transactor.ts";
import { codeName } from "./codes.ts";
import type { GoldenSignals } from "./golden-signals.ts";
import type { Metrics } from "./metrics.ts";
import type { Tracer } from "./traces.ts";

interface Watching {
  tracer?: Tracer | undefined;
  /** Called with each error. */
  failed?: ((error: unknown) => void) | undefined;
}

/** Wraps a transactor: its transactions are counted, timed and traced as spans, by command ("read" for all reads). */
export function observeTransactor(
  transactor: Transactor,
  { database }: Pick<Metrics, "database">,
  watching: Watching = {},
): Transactor {
  const watch = watcher(database, "database", watching);
  return {
    read: (data, work) => watch("read", () => transactor.read(data, work)),
    write: (command, data, input) => watch(command.name, () => transactor.write(command, data, input)),
  };
}

/**
 * Wraps a blob store: its operations are counted, timed and traced as spans, and bytes counted. Lists are not measured:
 * they take as long as their reader does.
 */
export function observeBlobs(store: BlobStore, { blobs }: Pick<Metrics, "blobs">, watching: Watching = {}): BlobStore {
  const watch = watcher(blobs, "blobs", watching);
  const { requireSpace } = store;
  return {
    ...store,
    ...(requireSpace && { requireSpace: () => watch("require_space", requireSpace) }),
    startUpload: (id) => watch("start_upload", () => store.startUpload(id)),
    uploadSize: (id) => watch("upload_size", () => store.uploadSize(id)),
    append: (id, offset, source, options) =>
      watch(options?.finishAs === undefined ? "append" : "append_and_finish", () =>
        store.append(id, offset, counted(source, blobs.written), options),
      ),
    finish: (id, expectedDigest) => watch("finish", () => store.finish(id, expectedDigest)),
    storeWhole: (content, digest) =>
      watch("store_whole", async () => {
        const blob = await store.storeWhole(content, digest);
        blobs.written(content.length);
        return blob;
      }),
    store: (source, digest, options) =>
      watch("store", () => store.store(counted(source, blobs.written), digest, options)),
    readWhole: (digest, generation) =>
      watch("read_whole", async () => {
        const content = await store.readWhole(digest, generation);
        blobs.read(content.length);
        return content;
      }),
    contentSize: (digest, generation, options) =>
      watch("content_size", () => store.contentSize(digest, generation, options)),
    readAll: (blob, sink) =>
      watch("read_all", () =>
        store.readAll(blob, (chunk) => {
          blobs.read(chunk.length);
          return sink(chunk);
        }),
      ),
    read: (digest, generation, range, sink) =>
      watch("read", () =>
        store.read(digest, generation, range, (chunk) => {
          blobs.read(chunk.length);
          return sink(chunk);
        }),
      ),
    remove: (digest, generation) => watch("remove", () => store.remove(digest, generation)),
    removeUpload: (id) => watch("remove_upload", () => store.removeUpload(id)),
  };
}

type Watch = <T>(operation: string, work: () => Promise<T>) => Promise<T>;

function watcher(signals: GoldenSignals, area: string, { tracer, failed }: Watching): Watch {
  const timed: Watch = async (operation, work) => {
    const series = signals.begin(operation);
    const startedMs = performance.now();
    let outcome = "OK";
    try {
      return await work();
    } catch (error) {
      outcome = codeName(error instanceof MoorageError ? error.code : Code.Internal);
      failed?.(error);
      throw error;
    } finally {
      signals.end(series, outcome, (performance.now() - startedMs) / 1000);
    }
  };
  if (tracer === undefined) return timed;
  return (operation, work) =>
    tracer.child(`${area} ${operation}`, { [`moorage.${area}.operation`]: operation }, () => timed(operation, work));
}

async function* counted(source: ByteSource, count: (bytes: number) => void): ByteSource {
  for await (const chunk of source) {
    count(chunk.byteLength);
    yield chunk;
  }
}
