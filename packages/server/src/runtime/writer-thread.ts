import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { programFile } from "@moorage/kernel/lib/program-file";
import type {
  FromWriter,
  ProbeRequest,
  ToWriter,
  WriteAnswer,
  WriteRequest,
  WriterThreadData,
} from "./sqlite-writer-thread.ts";

/** One life of the writer thread. */
export interface WriterThread {
  /** Resolves when it takes commands. It never rejects: a thread that cannot start has ended. */
  ready: Promise<void>;
  send(requests: (WriteRequest | ProbeRequest)[]): void;
  /** Has it end; `exited` resolves then. */
  close(): void;
  /** Gives it up because it hangs, and ends it as soon as the call into the engine that is under way is over. */
  hang(): void;
  exited: Promise<void>;
}

export interface WriterThreadEvents {
  answered(answers: WriteAnswer[]): void;
  /** Why the disk reserve cannot be kept; undefined when it can again. */
  reserve(fault: string | undefined): void;
  /** Called once, as soon as it is known to have failed: nothing that was sent will be answered. */
  died(error: Error): void;
}

/** A bundle has modules of its own: those of further ecosystems import the sources, of which all must be one. */
function programOf({ ecosystems = [] }: WriterThreadData): URL {
  if (ecosystems.length === 0) return programFile("sqlite-writer-thread", import.meta.url);
  return new URL(`./sqlite-writer-thread${extname(import.meta.url)}`, import.meta.url);
}

/** A thread as its server sees it. */
export type WriterWorker = Pick<Worker, "on" | "once" | "postMessage" | "terminate">;

// A command allocates little, and for a short time: with the default size the thread would take 15 MiB more, and be no
// faster.
const resourceLimits = { maxYoungGenerationSizeMb: 6 };

function ownThread(data: WriterThreadData): WriterWorker {
  return new Worker(programOf(data), { workerData: data, resourceLimits });
}

let startThread: (data: WriterThreadData) => WriterWorker = ownThread;

/**
 * Has the servers that this process starts from now on share one writer thread. Such a thread takes most of a server's
 * start, so that a process with many servers, as tests have it, is done sooner; what one server makes it wait for, all
 * of them wait for. `shared` says how to talk with a thread that was started without data.
 */
export function shareWriterThread(shared: (thread: Worker, data: WriterThreadData) => WriterWorker): void {
  let thread: Worker | undefined;
  startThread = (data) => {
    // Further ecosystems of libraries are loaded into a thread for good.
    if ((data.ecosystems ?? []).length > 0) return ownThread(data);
    thread ??= new Worker(programOf(data), { workerData: null, resourceLimits });
    return shared(thread, data);
  };
}

/** Starts the thread. */
export function openWriterThread(data: WriterThreadData, events: WriterThreadEvents): WriterThread {
  const worker = startThread(data);
  const ready = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  let isOver = false;
  const over = (error: Error): void => {
    if (isOver) return;
    isOver = true;
    events.died(error);
  };
  worker.on("message", (message: FromWriter) => {
    if (isOver) return;
    if (message === "ready") ready.resolve();
    else if (Array.isArray(message)) events.answered(message);
    else events.reserve(message.reserve);
  });
  worker.on("messageerror", over);
  worker.on("error", over);
  worker.once("exit", (code) => {
    over(new Error(`the writer thread ended with code ${code}`));
    exited.resolve();
  });
  const post = (message: ToWriter): void => worker.postMessage(message);
  return {
    ready: ready.promise,
    send: post,
    close() {
      isOver = true;
      post("close");
    },
    hang() {
      over(new Error("the writer thread does not answer"));
      void worker.terminate();
    },
    exited: exited.promise,
  };
}
