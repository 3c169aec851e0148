import type { Caller, CallData } from "../../core/call.ts";
import type { BufferedPull } from "../../events/index.ts";
import type { Pull } from "./recorder.ts";

/** Pulls that are written together. Those that differ only in their time share one entry. */
export interface Batch {
  readonly pulls: Iterable<BufferedPull>;
  /** The number of pulls, which may exceed the number of entries. */
  readonly count: number;
  add(data: CallData, caller: Caller, pull: Pull, method: BufferedPull["method"]): void;
}

// A client may send a user agent of any length.
const MAX_USER_AGENT_CHARS = 256;

/** Creates an empty batch. `numberOf` gives a number for each caller, as `numberedCallers` does. */
export function createBatch(numberOf: (caller: Caller) => number): Batch {
  const entries = new Map<string, BufferedPull>();
  // For each `Pull` object, the entry it was last added to, with the caller and user agent of that request.
  const latest = new Map<Pull, { entry: BufferedPull; caller: Caller; userAgent: string }>();
  let count = 0;

  const entryOf = (data: CallData, caller: Caller, pull: Pull, method: BufferedPull["method"]): BufferedPull => {
    const { remoteAddress } = data;
    const userAgent = data.userAgent.slice(0, MAX_USER_AGENT_CHARS);
    const key = `${pull.repo} ${pull.repository} ${pull.tag} ${pull.digest} ${pull.type} ${method} ${numberOf(caller)} ${remoteAddress} ${userAgent}`;
    const known = entries.get(key);
    if (known !== undefined) return known;
    const { identity, act = {} } = caller;
    const entry: BufferedPull = { ...pull, method, actor: { identity, act }, remoteAddress, userAgent, timesMs: [] };
    entries.set(key, entry);
    return entry;
  };

  return {
    get pulls() {
      return entries.values();
    },
    get count() {
      return count;
    },
    add(data, caller, pull, method) {
      // A cached answer carries the same `Pull` object each time, and mostly goes to the same client.
      const { remoteAddress, userAgent } = data;
      const last = latest.get(pull);
      const isAlike =
        last !== undefined &&
        last.caller === caller &&
        last.userAgent === userAgent &&
        last.entry.method === method &&
        last.entry.remoteAddress === remoteAddress;
      const entry = isAlike ? last.entry : entryOf(data, caller, pull, method);
      if (!isAlike) latest.set(pull, { entry, caller, userAgent });
      entry.timesMs.push(data.nowMs);
      count += 1;
    },
  };
}

/** Gives each caller a number: requests with the same token have the same one. */
export function numberedCallers(): (caller: Caller) => number {
  const numbers = new WeakMap<Caller, number>();
  let last = 0;
  return (caller) => {
    const known = numbers.get(caller);
    if (known !== undefined) return known;
    numbers.set(caller, (last += 1));
    return last;
  };
}
