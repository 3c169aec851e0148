import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Work } from "@moorage/kernel/core/work";
import { Code, fromPlain, MoorageError } from "@moorage/kernel/errors";
import { storageFault } from "@moorage/kernel/lib/storage-fault";
import { type Database, identityOf, StoreError } from "@moorage/kernel/store";
import { openCall } from "./open-call.ts";
import type { ProbeRequest, WriteAnswer, WriteRequest, WriterThreadData } from "./sqlite-writer-thread.ts";
import { keepRunning } from "./writer-supervisor.ts";

/** How many commands may wait. Further ones are rejected with UNAVAILABLE. */
const MAX_WAITING = 10_000;

/** A transactor that must be closed. */
export interface Writer extends Transactor {
  /** The number of commands that wait to be committed. */
  waiting(): number;
  /** Commits something that changes nothing. Rejects with the fault when the database takes no writes. */
  probe(): Promise<void>;
  /** Waits for the commands under way, and closes the resources that the transactor itself opened. */
  close(): Promise<void>;
}

/** What a writer reports beside the results of commands. */
export interface WriterEvents {
  /**
   * The thread that writes has died, or could not be started: the `failures`-th time in a row. It is started again.
   * What waited has been answered.
   */
  onFault(error: Error, failures: number): void;
  /** The thread takes writes again. */
  onRestart?(): void;
  /** The thread has run for so long since that it is not expected to die. */
  onSettled?(): void;
  /** The file was found damaged. */
  onDamage?(error: Error): void;
  /** Transactions were committed that leave something to do for this background work. */
  onWake?(works: ReadonlySet<Work>): void;
  /** Why the disk reserve cannot be kept; undefined when it can again. */
  onReserve?(fault: string | undefined): void;
}

/**
 * The transactor of SQLite: reads on this thread, writes in the writer thread, which is started again when it dies.
 * While there is none, writes are UNAVAILABLE immediately. Rejects when the thread cannot be started the first time.
 */
export async function startWriter(
  data: Omit<WriterThreadData, "identity" | "isRestarted">,
  reader: Database,
  events: WriterEvents,
): Promise<Writer> {
  const identity = identityOf(data.path);
  if (identity === undefined) throw new StoreError(`there is no database ${data.path}`);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let nextId = 0;
  let closing = false;
  let emptied = (): void => {};
  // All commands of one turn of the event loop are sent in one message: waking the thread costs more than most commands
  // do.
  let leaving: (WriteRequest | ProbeRequest)[] = [];

  const settle = (answer: WriteAnswer): void => {
    const caller = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("value" in answer) caller?.resolve(answer.value);
    else if ("error" in answer) caller?.reject(fromPlain(answer.error));
    else {
      const error = new Error(answer.fault);
      if (answer.isDamage) events.onDamage?.(error);
      caller?.reject(error);
    }
    if (waiting.size === 0) emptied();
  };
  const thread = await keepRunning(
    { ...data, identity, isRestarted: false },
    {
      answered(answers) {
        answers.forEach(settle);
        const works = new Set(answers.flatMap((answer) => ("wakes" in answer && answer.wakes) || []));
        if (works.size > 0) events.onWake?.(works);
      },
      isAwaited: () => waiting.size > 0,
      reserve: (fault) => events.onReserve?.(fault),
      died(error, failures) {
        leaving = [];
        for (const { reject } of waiting.values()) reject(outcomeUnknown(error));
        waiting.clear();
        emptied();
        events.onFault(error, failures);
      },
      restarted: () => events.onRestart?.(),
      settled: () => events.onSettled?.(),
    },
  );
  const ask = async (request: (id: number) => WriteRequest | ProbeRequest): Promise<unknown> => {
    if (closing)
      throw new MoorageError(Code.Unavailable, "Unavailable: the server is shutting down", { retryAfterMs: 1000 });
    if (!thread.isRunning()) throw storageFault({ part: "database", reason: "stopped" }, undefined, 1000);
    if (waiting.size >= MAX_WAITING)
      throw new MoorageError(Code.Unavailable, "Unavailable: too many writes are waiting", { retryAfterMs: 1000 });
    const id = nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(id, { resolve, reject });
    if (leaving.push(request(id)) === 1) setImmediate(send);
    return await promise;
  };
  const send = (): void => {
    const together = leaving;
    leaving = [];
    if (together.length > 0) thread.send(together);
  };

  return {
    read: async (callData, work) => await work(openCall(callData, reader)),
    // The signature of Transactor.write says that the output is this command's.
    write: async ({ name }, callData, input) => (await ask((id) => ({ id, name, data: callData, input }))) as never,
    probe: async () => void (await ask((id) => ({ id, probe: true }))),
    waiting: () => waiting.size,
    async close() {
      closing = true;
      if (waiting.size > 0) await new Promise<void>((resolve) => (emptied = resolve));
      await thread.close();
    },
  };
}

function outcomeUnknown(cause: Error): MoorageError {
  const { message, details } = storageFault({ part: "database", reason: "stopped" }, cause, 1000);
  return new MoorageError(Code.Unavailable, `${message}; it is not known whether this one was made`, details);
}
