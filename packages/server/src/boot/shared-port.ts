import type { Worker } from "node:cluster";
import { createServer, type Socket } from "node:net";
import type { Config } from "@moorage/kernel/config";
import { PORT_LIMITS } from "../transport/http/limits.ts";
import { cannotListen } from "./port.ts";
import type { ToWorker } from "./cluster-messages.ts";

/** A port whose connections are served by the workers. */
export interface SharedPort {
  port: number;
  address: string;
  /** The worker gets connections from now on. */
  join(worker: Worker): void;
  /** Whether any worker gets connections. */
  isServed(): boolean;
  /** It takes no more. */
  leave(worker: Worker): void;
  /** So many of the connections that the worker has got are closed. */
  closed(worker: Worker, count: number): void;
  /** Accepts no more connections. */
  close(): void;
}

// A worker refuses by itself what is beyond its limit; one that does not even answer gets only so many more.
const MOST_OPEN = PORT_LIMITS.maxConnections + 1_000;
// Connections that arrive while no worker takes any, at the start or after all have died.
const MOST_WAITING = 1_000;

/**
 * Listens at the address of the settings, and hands each connection to the worker that has the fewest open, by turns
 * among equals. Node's cluster gives connections to whichever worker answers first, so that one may get three quarters
 * of those that arrive together. Throws a ConfigError that names the setting at fault.
 */
export async function openSharedPort(settings: Pick<Config, "host" | "port">): Promise<SharedPort> {
  const { host, port } = settings;
  // In the order of the last connection handed out, the oldest first.
  const open = new Map<Worker, number>();
  const waiting = new Set<Socket>();

  const fewest = (): Worker | undefined => {
    let found: Worker | undefined;
    let least = MOST_OPEN;
    for (const [worker, count] of open) {
      if (count >= least || !worker.isConnected()) continue;
      [found, least] = [worker, count];
    }
    return found;
  };
  const closed = (worker: Worker, count: number): void => {
    const before = open.get(worker);
    if (before !== undefined) open.set(worker, before - count);
  };
  const hand = (worker: Worker, socket: Socket): void => {
    const count = open.get(worker) ?? 0;
    open.delete(worker);
    open.set(worker, count + 1);
    const message: ToWorker = { type: "connection" };
    worker.process.send(message, socket, undefined, (error) => {
      if (error === null) return;
      closed(worker, 1);
      socket.destroy();
    });
  };
  // Paused, so that the worker reads the first bytes.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    const worker = fewest();
    if (worker !== undefined) hand(worker, socket);
    else if (open.size === 0 && waiting.size < MOST_WAITING) waiting.add(socket);
    else socket.destroy();
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen({ host, port }, resolve);
  await listening.catch((error: unknown) => {
    throw cannotListen(settings, error);
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the server listens on no port");

  return {
    port: bound.port,
    address: bound.address,
    isServed: () => open.size > 0,
    join(worker) {
      if (open.has(worker)) return;
      open.set(worker, 0);
      for (const socket of waiting) hand(worker, socket);
      waiting.clear();
    },
    leave: (worker) => void open.delete(worker),
    closed,
    close() {
      server.close();
      for (const socket of waiting) socket.destroy();
      waiting.clear();
    },
  };
}
