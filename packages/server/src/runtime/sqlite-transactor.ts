import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { openCall } from "./open-call.ts";
import { Code, fromPlain, MoorageError } from "../errors.ts";
import type { Database } from "../store/index.ts";
import type { Transactor } from "../core/transactor.ts";
import type { WriteAnswer, WriteRequest, WriterThreadData } from "./sqlite-writer-thread.ts";

/** How many commands may wait. Further ones are rejected with UNAVAILABLE. */
const MAX_WAITING = 10_000;

/** A transactor that must be closed. */
export interface Writer extends Transactor {
  /** The number of commands that wait to be committed. */
  waiting(): number;
  /** Waits for the commands under way, and closes the resources that the transactor itself opened. */
  close(): Promise<void>;
}

/**
 * The transactor of SQLite: reads on this thread, writes in the writer thread. `onFault` is called when that thread
 * dies, which is a defect, and `onDamage` when it finds the file damaged.
 */
export async function startWriter(
  data: WriterThreadData,
  reader: Database,
  { onFault, onDamage = () => {} }: { onFault(error: Error): void; onDamage?(error: Error): void },
): Promise<Writer> {
  const worker = new Worker(new URL(`./sqlite-writer-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: data,
    // A command allocates little, and for a short time: with the default size the thread would take 15 MiB more, and be
    // no faster.
    resourceLimits: { maxYoungGenerationSizeMb: 6 },
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let nextId = 0;
  let closing = false;
  const stopped = new Promise<void>((resolve) => worker.once("exit", () => resolve()));

  const failAll = (error: Error): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const ready = new Promise<void>((resolve, reject) => {
    worker.on("error", (error: Error) => {
      failAll(unavailable(error));
      reject(error);
      onFault(error);
    });
    worker.on("message", (message: "ready" | WriteAnswer[]) => {
      if (message === "ready") resolve();
      else for (const answer of message) settle(answer);
    });
  });
  const settle = (answer: WriteAnswer): void => {
    const caller = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("value" in answer) caller?.resolve(answer.value);
    else if ("error" in answer) caller?.reject(fromPlain(answer.error));
    else {
      const error = new Error(answer.fault);
      if (answer.isDamage) onDamage(error);
      caller?.reject(error);
    }
  };
  // All commands of one turn of the event loop are sent in one message: waking the thread costs more than most commands
  // do.
  let leaving: WriteRequest[] = [];
  const send = (): void => {
    const together = leaving;
    leaving = [];
    if (together.length > 0) worker.postMessage(together);
  };
  await ready;

  return {
    read: async (callData, work) => await work(openCall(callData, reader)),
    async write({ name }, callData, input) {
      if (closing) throw unavailable(new Error("the server is shutting down"));
      if (waiting.size >= MAX_WAITING)
        throw new MoorageError(Code.Unavailable, "Unavailable: too many writes are waiting", { retryAfterMs: 1000 });
      const id = nextId++;
      const answer = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
      if (leaving.push({ id, name, data: callData, input }) === 1) setImmediate(send);
      // The signature of Transactor.write says that the output is this command's.
      return (await answer) as never;
    },
    waiting: () => waiting.size,
    async close() {
      closing = true;
      await Promise.allSettled(
        [...waiting.keys()].map(
          (id) =>
            new Promise<void>((resolve) => {
              const caller = waiting.get(id);
              if (caller === undefined) return resolve();
              waiting.set(id, {
                resolve: (value) => {
                  caller.resolve(value);
                  resolve();
                },
                reject: (error) => {
                  caller.reject(error);
                  resolve();
                },
              });
            }),
        ),
      );
      send();
      worker.postMessage("close");
      await stopped;
    },
  };
}

function unavailable(cause: Error): MoorageError {
  return new MoorageError(Code.Unavailable, "Unavailable: the database does not take writes", {
    cause,
    retryAfterMs: 1000,
  });
}
