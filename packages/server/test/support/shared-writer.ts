import { EventEmitter } from "node:events";
import { MessageChannel, type Worker } from "node:worker_threads";
import type { FromWriter, ServeFault, ServeRequest, ToWriter } from "../../src/runtime/sqlite-writer-thread.ts";
import { shareWriterThread, type WriterWorker } from "../../src/runtime/writer-thread.ts";

/** Has the servers of this process share one writer thread, each with a connection of its own. */
export function shareWriter(): void {
  const served = new Set<Served>();
  let known: Worker | undefined;
  shareWriterThread((thread, data) => {
    if (known !== thread) {
      known = thread;
      thread.once("error", (error) => served.forEach((each) => each.emit("error", error)));
      // The process may end when no server is left.
      thread.unref();
    }
    const { port1, port2 } = new MessageChannel();
    thread.postMessage({ port: port2, data } satisfies ServeRequest, [port2]);
    const one = new Served(port1);
    served.add(one);
    one.once("exit", () => served.delete(one));
    return one as unknown as WriterWorker;
  });
}

/** A server's side of the shared thread, with the events that a thread of its own would have. */
class Served extends EventEmitter {
  readonly #port: MessageChannel["port1"];

  constructor(port: MessageChannel["port1"]) {
    super();
    this.#port = port;
    port.on("message", (message: FromWriter | ServeFault) => {
      if (typeof message === "object" && "failed" in message) this.emit("error", message.failed);
      else this.emit("message", message);
    });
    port.on("messageerror", (error) => this.emit("messageerror", error));
    port.once("close", () => this.emit("exit", 0));
  }

  postMessage(message: ToWriter): void {
    this.#port.postMessage(message);
  }

  terminate(): Promise<number> {
    this.#port.close();
    return Promise.resolve(0);
  }
}
