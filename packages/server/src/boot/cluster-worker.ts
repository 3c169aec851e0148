// The program of a worker: serves the installation that its primary process has prepared, until the primary stops it or
// ends.
import type { Socket } from "node:net";
import { ConfigError } from "@moorage/kernel/config";
import { releaseMemoryWhenIdle } from "@moorage/kernel/lib/release-memory";
import { createLog, mergeSnapshots, type Snapshot } from "@moorage/kernel/observe";
import { StoreError } from "@moorage/kernel/store";
import { closeAndExit } from "./end.ts";
import { type Server, startServer } from "./server.ts";
import type { FromWorker, ToWorker } from "./cluster-messages.ts";

/** The primary answers sooner than this. */
const COLLECT_TIMEOUT_MS = 5_000;

const SEND_AFTER_MS = 20;

const pending = new Map<number, (snapshots: Snapshot[]) => void>();
let nextId = 0;
let started: Promise<Server> | undefined;
let delayMs = 0;

function send(message: FromWorker): void {
  process.send?.(message);
}

async function start({ settings, number, address }: ToWorker & { type: "start" }): Promise<Server> {
  delayMs = settings.drainDelayMs;
  const server = await startServer(settings, {
    prepared: true,
    log: createLog(settings).child({ worker: number }),
    collectMetrics: collect,
    source: { address, port: settings.port, start: takeConnections },
  });
  send({ type: "ready" });
  releaseMemoryWhenIdle();
  return server;
}

/** Serves the connections that the primary hands over, and counts for it those that are closed. */
function takeConnections(accept: (socket: Socket) => void): void {
  let count = 0;
  const sendCount = (): void => {
    send({ type: "closed", count });
    count = 0;
  };
  const closed = (): void => {
    count += 1;
    if (count === 1) setTimeout(sendCount, SEND_AFTER_MS);
  };
  process.on("message", (message: ToWorker, socket: Socket | undefined) => {
    if (message.type !== "connection") return;
    // There is none when it was closed on the way.
    if (socket === undefined) return closed();
    socket.once("close", closed);
    accept(socket);
  });
  send({ type: "accepting" });
}

/** The metrics of all workers; those of this one alone when the primary does not answer. */
async function collect(): Promise<string> {
  const id = nextId++;
  const { promise, resolve } = Promise.withResolvers<Snapshot[] | undefined>();
  pending.set(id, resolve);
  const timer = setTimeout(() => resolve(undefined), COLLECT_TIMEOUT_MS);
  send({ type: "collect", id });
  const snapshots = await promise;
  clearTimeout(timer);
  pending.delete(id);
  return mergeSnapshots(snapshots ?? (started === undefined ? [] : [await (await started).snapshot()]));
}

async function stop(delayMs: number): Promise<void> {
  const server = await started?.catch(() => undefined);
  if (server === undefined) process.exit(0);
  // Connections that the primary accepts until then are still served.
  setTimeout(() => send({ type: "leaving" }), delayMs);
  await closeAndExit(server, { delayMs });
}

process.on("message", (message: ToWorker) => {
  if (message.type === "start") {
    started = start(message);
    started.catch((error: unknown) => {
      const setting = error instanceof ConfigError || error instanceof StoreError;
      send({ type: "failed", message: error instanceof Error ? error.message : String(error), setting });
      process.disconnect?.();
    });
  } else if (message.type === "stop") {
    void stop(message.delayMs);
  } else if (message.type === "ping") {
    send({ type: "pong" });
  } else if (message.type === "collected") {
    pending.get(message.id)?.(message.snapshots);
  } else if (message.type === "count") {
    void started?.then(
      async (server) => send({ type: "counted", id: message.id, snapshot: await server.snapshot() }),
      () => {},
    );
  }
});
// A signal may go to the whole process group, so each worker drains by itself.
process.on("SIGTERM", () => void stop(delayMs));
process.on("SIGINT", () => void stop(0));
