import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { checkedLookup, FetchError } from "../lib/guarded-fetch.ts";
import { createSemaphore } from "../lib/semaphore.ts";

export interface LookupOptions {
  allowPrivateNetwork: boolean;
  timeoutMs: number;
}

type Found = { error: Error } | { addresses: LookupAddress[] };

// Node resolves names on its small thread pool, which also reads files: slow names must not occupy all its threads.
// Sinks that fail have their own limit, so that they delay only each other.
const CONCURRENCY = { failing: 1, others: 2 };

/**
 * Makes the lookup functions of sinks. Addresses are checked as in lib/guarded-fetch.ts; few lookups run concurrently,
 * and connections that are opened together to one name share one. `isFailing`: whether the last attempt to reach the
 * sink failed. A lookup that cannot start within `timeoutMs` fails.
 */
export function createLookups({
  allowPrivateNetwork,
  timeoutMs,
}: LookupOptions): (isFailing: () => boolean) => LookupFunction {
  const resolve = checkedLookup({ allowPrivateNetwork });
  const underWay = new Map<string, Promise<Found>>();
  const semaphores = { failing: createSemaphore(CONCURRENCY.failing), others: createSemaphore(CONCURRENCY.others) };
  const find = (name: string, kind: keyof typeof semaphores): Promise<Found> => {
    const key = `${kind} ${name}`;
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const askedMs = performance.now();
    const found = semaphores[kind](
      () =>
        new Promise<Found>((done) => {
          if (performance.now() - askedMs > timeoutMs)
            return done({ error: new FetchError("failed", "the sink's name could not be resolved in time") });
          resolve(name, { all: true }, (error, addresses) => {
            done(error === null ? { addresses: typeof addresses === "string" ? [] : addresses } : { error });
          });
        }),
    ).finally(() => underWay.delete(key));
    underWay.set(key, found);
    return found;
  };
  return (isFailing) =>
    (name, { all, family }, callback) => {
      void find(name, isFailing() ? "failing" : "others").then((found) => {
        if ("error" in found) return callback(found.error, "");
        const fit = found.addresses.filter((one) => (family !== 4 && family !== 6) || one.family === family);
        const [first] = fit;
        if (first === undefined) return callback(new FetchError("failed", "the sink's name has no address"), "");
        return all ? callback(null, fit) : callback(null, first.address, first.family);
      });
    };
}
