import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { checkedLookup, FetchError, type LookupRules } from "@moorage/kernel/lib/guarded-fetch";
import { createSemaphores } from "@moorage/kernel/lib/semaphore";

export interface LookupOptions extends LookupRules {
  timeoutMs: number;
}

type Found = { error: Error } | { addresses: LookupAddress[] };

// Of one organization's sinks. Those that fail have their own limit, so that they delay only each other.
const CONCURRENCY = { failing: 2, others: 8 };

/**
 * Makes the lookup functions of sinks. Addresses are checked as in lib/guarded-fetch.ts; few lookups of an organization
 * run concurrently, and connections that are opened together to one name share one. `isFailing`: whether the last
 * attempt to reach the sink failed. A lookup that cannot start within `timeoutMs` fails.
 */
export function createLookups({
  timeoutMs,
  ...rules
}: LookupOptions): (organization: string, isFailing: () => boolean) => LookupFunction {
  const resolve = checkedLookup(rules);
  const underWay = new Map<string, Promise<Found>>();
  const semaphores = { failing: createSemaphores(CONCURRENCY.failing), others: createSemaphores(CONCURRENCY.others) };
  const find = (organization: string, name: string, kind: keyof typeof semaphores): Promise<Found> => {
    const key = `${organization} ${kind} ${name}`;
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const askedMs = performance.now();
    const found = semaphores[kind](
      organization,
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
  return (organization, isFailing) =>
    (name, { all, family }, callback) => {
      void find(organization, name, isFailing() ? "failing" : "others").then((found) => {
        if ("error" in found) return callback(found.error, "");
        const fit = found.addresses.filter((one) => (family !== 4 && family !== 6) || one.family === family);
        const [first] = fit;
        if (first === undefined) return callback(new FetchError("failed", "the sink's name has no address"), "");
        return all ? callback(null, fit) : callback(null, first.address, first.family);
      });
    };
}
