import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import { type Config, ConfigError, withUrls } from "@moorage/kernel/config";
import { systemClock } from "@moorage/kernel/lib/clock";
import { programFile } from "@moorage/kernel/lib/program-file";
import { createLog, type Snapshot } from "@moorage/kernel/observe";
import type { Logger } from "pino";
import { writeBootstrap } from "../installation/bootstrap-file.ts";
import { prepareInstallation } from "../installation/open.ts";
import { warnOfAddresses } from "./address-warning.ts";
import type { FromWorker, ToWorker } from "./cluster-messages.ts";
import { type Closed, type CloseOptions, logClosed } from "./end.ts";
import { cleanTempFolder } from "./orphaned-folders.ts";
import { openSharedPort } from "./shared-port.ts";
import { SHUTDOWN_LIMIT_MS } from "./shutdown.ts";

/** Several processes that serve one port together. */
export interface Workers {
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** Rejects when workers die so often that starting another is pointless. */
  failed: Promise<never>;
  /** Lets all workers drain and exit. It never rejects. Further calls wait for the same end. */
  close(options?: CloseOptions): Promise<Closed>;
}

/** A worker that ended sooner than this counts as one that died quickly. */
const QUICK_DEATH_MS = 2_000;
const MAX_QUICK_DEATHS = 8;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const COUNT_TIMEOUT_MS = 2_000;
// Counted, so that a machine that was stopped for a while kills nobody: a minute without an answer.
const PING_EVERY_MS = 5_000;
const MOST_SILENT_PINGS = 12;
const PER_PROCESS = /^process_(?!start_time)/;

interface Running {
  worker: Worker;
  number: number;
  readyMs: number | undefined;
  /** Pings since its last answer. */
  silentPings: number;
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
  const delay = Promise.withResolvers<void>();
  let closing: Promise<Closed> | undefined;
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
  const take = (self: Running, message: FromWorker): void => {
    const { worker, number } = self;
    if (message.type === "pong") self.silentPings = 0;
    else if (message.type === "leaving") port.leave(worker);
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
    const self: Running = { worker, number, readyMs: undefined, silentPings: 0 };
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
  /** A worker whose event loop does not turn answers nobody: another takes its place. */
  const ping = (): void => {
    for (const self of running.values()) {
      if (self.readyMs === undefined) continue;
      if (self.silentPings >= MOST_SILENT_PINGS) {
        log.error({ worker: self.number }, "worker does not answer, and is killed");
        self.worker.process.kill("SIGKILL");
      }
      self.silentPings += 1;
      send(self.worker, { type: "ping" });
    }
  };
  const pinging = setInterval(ping, PING_EVERY_MS).unref();
  const close = async (delayMs: number): Promise<Closed> => {
    for (const pause of pauses) clearTimeout(pause);
    clearInterval(pinging);
    const withinMs = delayMs + settings.drainTimeoutMs + SHUTDOWN_LIMIT_MS;
    const ends = [...running.values()].map((each) => ended(each, delayMs, withinMs));
    if (delayMs > 0) await delay.promise;
    port.close();
    const cut = (await Promise.all(ends)).filter((end) => end !== undefined);
    release();
    logClosed(log, cut, "all workers ended");
    return { cut };
  };

  cluster.setupPrimary({
    exec: fileURLToPath(programFile("cluster-worker", import.meta.url)),
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
    await (closing = close(0));
    throw fault;
  }
  serving = true;
  log.info({ url: config.baseUrl, workers: settings.workers }, "workers serve");
  warnOfAddresses(config, log);
  return {
    config,
    failed: failed.promise,
    close({ delayMs = 0 } = {}) {
      if (closing === undefined && delayMs > 0) setTimeout(delay.resolve, delayMs);
      if (closing !== undefined && delayMs === 0) {
        delay.resolve();
        for (const { worker } of running.values()) send(worker, { type: "stop", delayMs: 0 });
      }
      return (closing ??= close(delayMs));
    },
  };
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

/**
 * Drains the worker after the delay, and kills it when all of that takes longer than `withinMs`. Resolves with what was
 * cut off, if anything was.
 */
async function ended({ worker, number }: Running, delayMs: number, withinMs: number): Promise<string | undefined> {
  if (worker.isDead()) return undefined;
  const exit = new Promise<number | null>((resolve) => worker.once("exit", resolve));
  send(worker, { type: "stop", delayMs });
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), withinMs);
  const code = await exit;
  clearTimeout(timer);
  if (code === 0) return undefined;
  return code === null ? `worker ${number} was killed` : `worker ${number} ended with code ${code}`;
}
