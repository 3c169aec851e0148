import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { AttachedDocument, AttachedLayer } from "../attached/types.ts";
import type { StoredLayer } from "./queue.ts";
import type { CatalogAnswer, CatalogThreadData, NotRead, ReadAttached, ReadImage } from "./read-image.ts";
import type { Catalog } from "./types.ts";

export interface CatalogThreadDeps {
  config: CatalogThreadData & { catalogTimeoutMs: number };
}

/**
 * The thread that reads images and what is attached to them, one at a time. It is started for the first, and ends when
 * none came for a while. When a reading takes too long, or `signal` ends it (then undefined), the thread is ended with
 * it.
 */
export interface CatalogThread {
  /** Reads the layers of an image. */
  read(layers: StoredLayer[], signal: AbortSignal): Promise<{ catalog: Catalog } | NotRead | undefined>;
  /** Reads documents, as those about `subject`. */
  readAttached(
    subject: string,
    attached: AttachedLayer[],
    signal: AbortSignal,
  ): Promise<{ documents: AttachedDocument[] } | NotRead | undefined>;
  stop(): Promise<void>;
}

const MAX_HEAP_MIB = 1_024;
// It takes longer to load its code than to read a small image, and its memory is not needed while no images come.
const IDLE_MS = 30_000;

export function catalogThread({ config }: CatalogThreadDeps): CatalogThread {
  const { dataDir, blobsUrl, diskReserveBytes, catalogTimeoutMs } = config;
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const start = (): Worker => {
    const workerData: CatalogThreadData = { dataDir, blobsUrl, diskReserveBytes };
    const started = new Worker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    // It may end by itself when its memory is not enough: whoever reads hears of that, and the next gets another.
    started.on("error", () => {});
    started.once("exit", () => {
      if (worker === started) worker = undefined;
    });
    started.unref();
    return (worker = started);
  };
  const stop = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  };
  const answerOf = async (
    request: ReadImage | ReadAttached,
    signal: AbortSignal,
  ): Promise<CatalogAnswer | undefined> => {
    clearTimeout(idle);
    const { promise, resolve } = Promise.withResolvers<{ answer?: CatalogAnswer; isOver: boolean }>();
    const failed = (reason: string): void => resolve({ answer: { reason, isFinal: false }, isOver: true });
    const asked = worker ?? start();
    const onMessage = (answer: CatalogAnswer): void => resolve({ answer, isOver: false });
    const onError = (error: Error): void => failed(error.message);
    const onExit = (): void => failed("the thread that read it ended");
    const onAbort = (): void => resolve({ isOver: true });
    asked.once("message", onMessage).once("error", onError).once("exit", onExit);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    else asked.postMessage(request);
    const timer = setTimeout(() => failed(`reading it took longer than ${catalogTimeoutMs} ms`), catalogTimeoutMs);
    const { answer, isOver } = await promise;
    clearTimeout(timer);
    asked.off("message", onMessage).off("error", onError).off("exit", onExit);
    signal.removeEventListener("abort", onAbort);
    if (isOver) await stop();
    return answer;
  };
  const restUnlessAsked = (): void => {
    clearTimeout(idle);
    idle = setTimeout(() => void stop(), IDLE_MS).unref();
  };
  return {
    stop,
    async readAttached(subject, attached, signal) {
      try {
        const answer = await answerOf({ subject, attached }, signal);
        return answer !== undefined && "catalog" in answer ? undefined : answer;
      } finally {
        restUnlessAsked();
      }
    },
    async read(layers, signal) {
      const tempDir = await mkdtemp(join(tmpdir(), "moorage-catalog-"));
      try {
        const answer = await answerOf({ layers, tempDir }, signal);
        return answer !== undefined && "documents" in answer ? undefined : answer;
      } finally {
        await rm(tempDir, { recursive: true, force: true });
        restUnlessAsked();
      }
    },
  };
}
