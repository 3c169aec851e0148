import type { ProbeRequest, WriteAnswer, WriteRequest, WriterThreadData } from "./sqlite-writer-thread.ts";
import { openWriterThread, type WriterThread } from "./writer-thread.ts";

/** The writer thread, whichever it is at the moment. */
export interface RunningWriter {
  /** Whether there is one that takes commands. */
  isRunning(): boolean;
  send(requests: (WriteRequest | ProbeRequest)[]): void;
  /** Ends it, and starts no other. Nothing may be awaited from it any more. */
  close(): Promise<void>;
}

export interface RunningWriterEvents {
  answered(answers: WriteAnswer[]): void;
  /** Whether answers are awaited: then a thread that gives none is one that hangs. */
  isAwaited(): boolean;
  reserve(fault: string | undefined): void;
  /** The thread died, hangs, or could not be started: the `failures`-th time in a row. */
  died(error: Error, failures: number): void;
  /** Another thread takes commands. */
  restarted(): void;
  /** It has run for long enough to forget the failures before it. */
  settled(): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const SETTLED_MS = 10_000;
// Counted, so that a process that was stopped for a while finds nothing wrong: 24 looks in which no answer came.
const LOOK_EVERY_MS = 5_000;
const MOST_SILENT_LOOKS = 24;

/**
 * Starts the writer thread, and another one each time it dies, after a growing pause. One that gives no answer for two
 * minutes is ended; it is replaced when it is gone. Rejects when the first one cannot be started.
 */
export async function keepRunning(data: WriterThreadData, events: RunningWriterEvents): Promise<RunningWriter> {
  let thread: WriterThread | undefined;
  let isReady = false;
  let isClosing = false;
  let failures = 0;
  let silentLooks = 0;
  let pause: NodeJS.Timeout | undefined;
  let settling: NodeJS.Timeout | undefined;

  const start = (isRestarted: boolean, failed: (error: Error) => void): WriterThread => {
    const started = openWriterThread(
      { ...data, isRestarted },
      {
        answered(answers) {
          silentLooks = 0;
          events.answered(answers);
        },
        reserve: events.reserve,
        died: failed,
      },
    );
    silentLooks = 0;
    return started;
  };
  const died = (error: Error): void => {
    isReady = false;
    failures += 1;
    clearTimeout(settling);
    events.died(error, failures);
    const last = thread;
    thread = undefined;
    void replace(last);
  };
  const replace = async (last: WriterThread | undefined): Promise<void> => {
    // One that hangs in a call of the engine still holds the lock of the file.
    await last?.exited;
    if (isClosing) return;
    pause = setTimeout(restart, Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS));
  };
  const restart = (): void => {
    try {
      thread = start(true, died);
    } catch (error) {
      return died(error instanceof Error ? error : new Error(String(error)));
    }
    const started = thread;
    void started.ready.then(() => {
      if (thread !== started) return;
      isReady = true;
      settling = setTimeout(() => {
        failures = 0;
        events.settled();
      }, SETTLED_MS).unref();
      events.restarted();
    });
  };
  const look = setInterval(() => {
    const isSilent = thread !== undefined && (events.isAwaited() || !isReady);
    silentLooks = isSilent ? silentLooks + 1 : 0;
    if (silentLooks < MOST_SILENT_LOOKS) return;
    silentLooks = 0;
    thread?.hang();
  }, LOOK_EVERY_MS).unref();

  const first = Promise.withResolvers<never>();
  let isStarted = false;
  thread = start(false, (error) => {
    if (isStarted) return died(error);
    clearInterval(look);
    first.reject(error);
  });
  await Promise.race([thread.ready, first.promise]);
  isStarted = isReady = true;

  return {
    isRunning: () => isReady,
    send(requests) {
      thread?.send(requests);
    },
    async close() {
      isClosing = true;
      clearInterval(look);
      clearTimeout(pause);
      clearTimeout(settling);
      thread?.close();
      await thread?.exited;
    },
  };
}
