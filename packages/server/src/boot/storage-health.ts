import type { Logger } from "pino";
import type { StorageFault } from "@moorage/kernel/errors";
import { describeFault, endsReadiness, faultIn, storageFault } from "@moorage/kernel/lib/storage-fault";
import type { StorageMetrics } from "@moorage/kernel/observe";
import { createStorageSpace, type StoragePlaces } from "./storage-space.ts";

type Part = StorageFault["part"];

/**
 * Which parts of the storage fail. A fault is known from the first operation that met it until a probe succeeds: a
 * process that is not ready gets no requests that could show that it works again.
 */
export interface StorageHealth {
  problem(): string | undefined;
  /** Faults of the last half minute that do not end the readiness. */
  notice(): string | undefined;
  /** A fault that a restart of the process mends. */
  defect(): string | undefined;
  /** Notes the fault that the error stands for, if it stands for one. Logged at most once a minute for each reason. */
  noted(error: unknown): void;
  /**
   * How to find out whether a part works: the probe rejects with an error that stands for a fault, or is taken for one.
   * It should write where the part has to be written.
   */
  watch(part: Part, probe: () => Promise<void>): void;
  /** Where the parts are, for what the log says when one is full. */
  places(places: StoragePlaces): void;
  /** Runs the part's probe soon, though no operation has failed. */
  suspect(part: Part): void;
  close(): void;
}

const FIRST_PROBE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
const PROBE_TIMEOUT_MS = 15_000;
// How long a fault is believed where there is no probe, since it was met last.
const FORGET_MS = 30_000;
const LOG_EVERY_MS = 60_000;

interface Known {
  fault: StorageFault | undefined;
  timer: NodeJS.Timeout | undefined;
  pauseMs: number;
}

export function createStorageHealth(log: Logger, metrics: () => StorageMetrics | undefined): StorageHealth {
  const probes = new Map<Part, () => Promise<void>>();
  const parts = new Map<Part, Known>();
  const logged = new Map<string, { atMs: number; unlogged: number }>();
  const passing = new Map<string, number>();
  let isClosed = false;
  const space = createStorageSpace(log, { onFull: (isFull) => metrics()?.full(isFull) });

  const known = (part: Part): Known => {
    let found = parts.get(part);
    if (found === undefined) parts.set(part, (found = { fault: undefined, timer: undefined, pauseMs: FIRST_PROBE_MS }));
    return found;
  };
  const logFault = (fault: StorageFault, error: unknown): void => {
    const key = `${fault.part} ${fault.reason}`;
    const nowMs = performance.now();
    const before = logged.get(key) ?? { atMs: -Infinity, unlogged: 0 };
    if (nowMs - before.atMs < LOG_EVERY_MS) return void (before.unlogged += 1);
    logged.set(key, { atMs: nowMs, unlogged: 0 });
    const { part, reason, detail } = fault;
    log.error({ part, reason, detail, err: error, unlogged: before.unlogged }, describeFault(fault));
  };
  const schedule = (part: Part, afterMs: number): void => {
    const state = known(part);
    if (isClosed || state.timer !== undefined) return;
    state.timer = setTimeout(() => void look(part), afterMs).unref();
  };
  const ended = (part: Part): void => {
    const state = known(part);
    state.pauseMs = FIRST_PROBE_MS;
    if (state.fault === undefined) return;
    metrics()?.failing(state.fault, false);
    log.info({ part }, `${describeFault(state.fault)} no longer`);
    if (state.fault.reason === "full") space.ended(part);
    state.fault = undefined;
  };
  const look = async (part: Part): Promise<void> => {
    const state = known(part);
    const probe = probes.get(part);
    try {
      await (probe === undefined ? undefined : inTime(probe(), part));
      state.timer = undefined;
      ended(part);
    } catch (error) {
      state.timer = undefined;
      if (isClosed) return;
      state.pauseMs = Math.min(state.pauseMs * 2, LONGEST_PAUSE_MS);
      noted(faultIn(error) === undefined ? storageFault({ part, reason: "io_error" }, error) : error);
      schedule(part, state.pauseMs);
    }
  };
  const noted = (error: unknown): void => {
    const fault = faultIn(error);
    if (fault === undefined) return;
    metrics()?.failed(fault);
    if (fault.reason !== "full") logFault(fault, error);
    if (!endsReadiness(fault)) return void passing.set(describeFault(fault), performance.now());
    const state = known(fault.part);
    if (state.fault?.reason !== fault.reason) {
      if (state.fault !== undefined) metrics()?.failing(state.fault, false);
      metrics()?.failing(fault, true);
    }
    if (fault.reason === "full") space.began(fault.part, fault.detail);
    else if (state.fault?.reason === "full") space.ended(fault.part);
    state.fault = fault;
    if (probes.has(fault.part)) return schedule(fault.part, state.pauseMs);
    clearTimeout(state.timer);
    state.timer = undefined;
    schedule(fault.part, FORGET_MS);
  };
  const faults = (): StorageFault[] => [...parts.values()].flatMap(({ fault }) => (fault === undefined ? [] : [fault]));

  return {
    problem() {
      const problems = faults().map(describeFault);
      if (problems.length === 0) return undefined;
      const refused = space.refused();
      return [...problems, ...(refused === undefined ? [] : [refused])].join("; ");
    },
    notice() {
      const sinceMs = performance.now() - FORGET_MS;
      return (
        [...passing].flatMap(([description, atMs]) => (atMs > sinceMs ? [description] : [])).join("; ") || undefined
      );
    },
    defect() {
      const replaced = faults().find(({ reason }) => reason === "replaced");
      return replaced === undefined ? undefined : describeFault(replaced);
    },
    noted,
    watch: (part, probe) => void probes.set(part, probe),
    places: space.places,
    suspect: (part) => schedule(part, 0),
    close() {
      isClosed = true;
      space.close();
      for (const { timer } of parts.values()) clearTimeout(timer);
    },
  };
}

/** Rejects when the probe takes too long: a disk that hangs answers nothing. */
async function inTime(probing: Promise<void>, part: Part): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(storageFault({ part, reason: "silent" }, new Error("a probe got no answer"))),
    PROBE_TIMEOUT_MS,
  );
  try {
    await Promise.race([probing, late]);
  } finally {
    clearTimeout(timer);
  }
}
