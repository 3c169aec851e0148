import cluster, { type Worker } from "node:cluster";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { systemClock } from "../lib/clock.ts";
import { writeBootstrap } from "../installation/bootstrap-file.ts";
import { type Config, ConfigError, withUrls } from "../config/index.ts";
import { createLog, type Snapshot } from "../observe/index.ts";
import { prepareInstallation } from "../installation/open.ts";
import type { FromWorker, ToWorker } from "./cluster-messages.ts";
import { cleanTempFolder } from "./orphaned-folders.ts";
import { openSharedPort } from "./shared-port.ts";

/** Several processes that serve one port together. */
export interface Workers {
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** Rejects when workers die so often that starting another is pointless. */
  failed: Promise<never>;
  /** Lets all workers drain and exit. Further calls wait for the same end. */
  close(): Promise<void>;
}

/** A worker that ended sooner than this counts as one that died quickly. */
const QUICK_DEATH_MS = 2_000;
const MAX_QUICK_DEATHS = 8;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** How long a worker may take beyond the time for draining. */
const STOP_GRACE_MS = 5_000;
const COUNT_TIMEOUT_MS = 2_000;
const PER_PROCESS = /^process_(?!start_time)/;

interface Running {
  worker: Worker;
  number: number;
  readyMs: number | undefined;
}
interface Counting {
  snapshots: Snapshot[];
  missing: Set<number>;
  done(): void;
}

/**
 * Starts `settings.workers` processes that serve one port, and replaces one that dies, after a growing pause. This
 * process locks the data folder, accepts the connections and hands them to the workers (shared-port.ts); it answers no
 * requests itself. Resolves when all workers are ready. Throws a ConfigError or StoreError that says in one line what
 * the operator has to change.
 */
export async function startWorkers(settings: Config, log: Logger = createLog(settings)): Promise<Workers> {
  const { installation, release } = await prepareInstallation(settings, systemClock.nowMs());
  await cleanTempFolder(log);
  const port = await openSharedPort(settings).catch((error: unknown) => {
    release();
    throw error;
  });
  const chosen = { ...settings, port: port.port };
  const config = withUrls(chosen, port.port);
  const running = new Map<number, Running>();
  const counting = new Map<number, Counting>();
  const pauses = new Set<NodeJS.Timeout>();
  const failed = Promise.withResolvers<never>();
  // The caller of `failed` sees the rejection; without one it must not end the process.
  failed.promise.catch(() => {});
  let nextCount = 0;
  let quickDeaths = 0;
  let closing: Promise<void> | undefined;
  let serving = false;

  // Whoever learns that the server is ready finds the URLs: no connection is handed out before.
  let isAnnounced = false;
  const announce = (): void => {
    if (isAnnounced) return;
    const { baseUrl, registryUrl, dataDir } = config;
    writeBootstrap(dataDir, { baseUrl, registryUrl, ...installation.bootstrap });
    isAnnounced = true;
  };
  const collect = async (): Promise<Snapshot[]> => {
    const id = nextCount++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const count: Counting = { snapshots: [], missing: new Set(running.keys()), done: resolve };
    counting.set(id, count);
    const timer = setTimeout(resolve, COUNT_TIMEOUT_MS);
    for (const { worker } of running.values()) send(worker, { type: "count", id });
    await promise;
    clearTimeout(timer);
    counting.delete(id);
    return count.snapshots;
  };
  const take = ({ worker, number }: Running, message: FromWorker): void => {
    if (message.type === "leaving") port.leave(worker);
    else if (message.type === "closed") port.closed(worker, message.count);
    else if (message.type === "collect") {
      void collect().then((snapshots) => send(worker, { type: "collected", id: message.id, snapshots }));
    } else if (message.type === "counted") {
      const count = counting.get(message.id);
      if (!count?.missing.delete(number)) return;
      count.snapshots.push(ofWorker(message.snapshot, number));
      if (count.missing.size === 0) count.done();
    }
  };
  /** Starts the worker. Resolves when it is ready, or with the error that kept it from starting. */
  const start = (number: number): Promise<Error | undefined> => {
    const worker = cluster.fork();
    const self: Running = { worker, number, readyMs: undefined };
    running.set(number, self);
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    worker.on("online", () => send(worker, { type: "start", settings: chosen, number, address: port.address }));
    worker.on("error", (error) => log.error({ err: error, worker: number }, "talking to a worker failed"));
    worker.on("message", (message: FromWorker) => {
      if (message.type === "ready") {
        self.readyMs = performance.now();
        port.join(worker);
        resolve(undefined);
      } else if (message.type === "failed")
        resolve(message.setting ? new ConfigError(message.message) : new Error(message.message));
      else if (message.type === "accepting")
        try {
          announce();
          // Beside others it gets connections once it is ready.
          if (!port.isServed()) port.join(worker);
        } catch (error) {
          resolve(error instanceof Error ? error : new Error(String(error)));
        }
      else take(self, message);
    });
    worker.once("exit", (code, signal) => {
      running.delete(number);
      port.leave(worker);
      for (const count of counting.values()) if (count.missing.delete(number) && count.missing.size === 0) count.done();
      resolve(new Error(`worker ${number} ended before it answered`));
      died(self, code, signal);
    });
    return promise;
  };
  const died = ({ number, readyMs, worker }: Running, code: number | null, signal: string | null): void => {
    if (!serving || closing !== undefined) return;
    quickDeaths = readyMs === undefined || performance.now() - readyMs < QUICK_DEATH_MS ? quickDeaths + 1 : 0;
    log.error({ worker: number, workerPid: worker.process.pid, code, signal }, "worker ended");
    if (quickDeaths >= MAX_QUICK_DEATHS)
      return failed.reject(new Error(`workers end as soon as they are started, ${quickDeaths} times in a row`));
    const pause = setTimeout(
      () => {
        pauses.delete(pause);
        void start(number).then(
          (result) => result instanceof Error && log.error({ err: result, worker: number }, "worker did not start"),
        );
      },
      Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, quickDeaths - 1), LONGEST_PAUSE_MS),
    );
    pauses.add(pause);
  };
  const close = async (): Promise<void> => {
    for (const pause of pauses) clearTimeout(pause);
    port.close();
    await Promise.all(
      [...running.values()].map(({ worker }) => ended(worker, settings.drainTimeoutMs + STOP_GRACE_MS)),
    );
    release();
    log.info("all workers ended");
  };

  cluster.setupPrimary({
    exec: fileURLToPath(new URL(`./cluster-worker${extname(import.meta.url)}`, import.meta.url)),
    args: [],
    serialization: "advanced",
  });
  // The first worker alone, because it finds what is wrong with the settings.
  const first = await start(1);
  const others =
    first instanceof Error
      ? []
      : await Promise.all(Array.from({ length: settings.workers - 1 }, (_, at) => start(at + 2)));
  const fault = [first, ...others].find((result) => result instanceof Error);
  if (fault !== undefined) {
    await (closing = close());
    throw fault;
  }
  serving = true;
  log.info({ url: config.baseUrl, workers: settings.workers }, "workers serve");
  return { config, failed: failed.promise, close: () => (closing ??= close()) };
}

interface Metric {
  name: string;
  values: { labels: Record<string, string | number> }[];
}

/** Labels the memory and time metrics of a process with its worker: sums would hide the one that grows. */
function ofWorker(snapshot: Snapshot, worker: number): Snapshot {
  // The type of prom-client's snapshots, which Snapshot hides.
  return (snapshot as Metric[]).map((metric) => {
    if (!PER_PROCESS.test(metric.name)) return metric;
    return {
      ...metric,
      values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker: String(worker) } })),
    };
  });
}

function send(worker: Worker, message: ToWorker): void {
  // The exit listener handles a worker that has just died.
  if (worker.isConnected()) worker.send(message, () => {});
}

/** Drains the worker, and kills it when that takes longer than `withinMs`. */
async function ended(worker: Worker, withinMs: number): Promise<void> {
  if (worker.isDead()) return;
  const exit = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  send(worker, { type: "stop" });
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), withinMs);
  await exit;
  clearTimeout(timer);
}
