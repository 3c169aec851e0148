// The program of a worker: serves the installation that the process which started it has prepared, until told to stop
// or that process ends.
import { ConfigError } from "../config/index.ts";
import { createLog, mergeSnapshots, type Snapshot } from "../observe/index.ts";
import { type Server, startServer } from "./server.ts";
import { StoreError } from "../store/index.ts";
import type { FromWorker, ToWorker } from "./cluster-messages.ts";

/** The primary answers earlier than this. */
const COLLECT_TIMEOUT_MS = 5_000;

const asked = new Map<number, (snapshots: Snapshot[]) => void>();
let nextId = 0;
let started: Promise<Server> | undefined;

function tell(message: FromWorker): void {
  process.send?.(message);
}

async function start({ settings, number }: ToWorker & { type: "start" }): Promise<Server> {
  const server = await startServer(settings, {
    prepared: true,
    log: createLog(settings).child({ worker: number }),
    collectMetrics: collect,
  });
  tell({ type: "ready" });
  return server;
}

/** What all workers counted; this one alone when the primary does not answer. */
async function collect(): Promise<string> {
  const id = nextId++;
  const { promise, resolve } = Promise.withResolvers<Snapshot[] | undefined>();
  asked.set(id, resolve);
  const timer = setTimeout(() => resolve(undefined), COLLECT_TIMEOUT_MS);
  tell({ type: "collect", id });
  const snapshots = await promise;
  clearTimeout(timer);
  asked.delete(id);
  return mergeSnapshots(snapshots ?? (started === undefined ? [] : [await (await started).snapshot()]));
}

async function stop(): Promise<void> {
  await started?.then(
    (server) => server.close(),
    () => {},
  );
  process.exit(0); // what a library may still keep open must not hold the process
}

process.on("message", (message: ToWorker) => {
  if (message.type === "start") {
    started = start(message);
    started.catch((error: unknown) => {
      const setting = error instanceof ConfigError || error instanceof StoreError;
      tell({ type: "failed", message: error instanceof Error ? error.message : String(error), setting });
      process.disconnect?.();
    });
  } else if (message.type === "stop") {
    void stop();
  } else if (message.type === "collected") {
    asked.get(message.id)?.(message.snapshots);
  } else {
    void started?.then(
      async (server) => tell({ type: "counted", id: message.id, snapshot: await server.snapshot() }),
      () => {},
    );
  }
});
// A signal may go to the whole group of processes: each drains.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
