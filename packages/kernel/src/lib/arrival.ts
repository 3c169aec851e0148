import { AsyncLocalStorage } from "node:async_hooks";

const arrivals = new AsyncLocalStorage<number>();

/** Runs the work of a request that arrives now, with all that it waits for. */
export function arrives<T>(work: () => T): T {
  return arrivals.run(performance.now(), work);
}

/** When the request arrived that this is done for, by `performance.now()`; undefined outside of requests. */
export function arrivedAtMs(): number | undefined {
  return arrivals.getStore();
}
