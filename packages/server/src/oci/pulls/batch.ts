import type { Caller, CallData } from "../../core/call.ts";
import type { BufferedPull } from "../../events/index.ts";
import type { Pull } from "./recorder.ts";

/** Pulls that are written together. Those that are alike in all but their time are one note. */
export interface Batch {
  readonly notes: Iterable<BufferedPull>;
  /** Pulls, however few the notes are. */
  readonly count: number;
  add(data: CallData, caller: Caller, pull: Pull, method: BufferedPull["method"]): void;
}

// A user agent is whatever a client says.
const MAX_USER_AGENT_CHARS = 256;

/** An empty one. `numberOf`: a number for each caller, as `numberedCallers` gives them. */
export function createBatch(numberOf: (caller: Caller) => number): Batch {
  const notes = new Map<string, BufferedPull>();
  // Who was answered with it last, and where that was noted.
  const latest = new Map<Pull, { note: BufferedPull; caller: Caller; userAgent: string }>();
  let count = 0;

  const noteOf = (data: CallData, caller: Caller, pull: Pull, method: BufferedPull["method"]): BufferedPull => {
    const { remoteAddress } = data;
    const userAgent = data.userAgent.slice(0, MAX_USER_AGENT_CHARS);
    const key = `${pull.repo} ${pull.repository} ${pull.tag} ${pull.digest} ${pull.type} ${method} ${numberOf(caller)} ${remoteAddress} ${userAgent}`;
    const known = notes.get(key);
    if (known !== undefined) return known;
    const { identity, act = {} } = caller;
    const note: BufferedPull = { ...pull, method, actor: { identity, act }, remoteAddress, userAgent, timesMs: [] };
    notes.set(key, note);
    return note;
  };

  return {
    get notes() {
      return notes.values();
    },
    get count() {
      return count;
    },
    add(data, caller, pull, method) {
      // An answer that is kept is the same pull each time, and most often the same client's.
      const { remoteAddress, userAgent } = data;
      const last = latest.get(pull);
      const isAlike =
        last !== undefined &&
        last.caller === caller &&
        last.userAgent === userAgent &&
        last.note.method === method &&
        last.note.remoteAddress === remoteAddress;
      const note = isAlike ? last.note : noteOf(data, caller, pull, method);
      if (!isAlike) latest.set(pull, { note, caller, userAgent });
      note.timesMs.push(data.nowMs);
      count += 1;
    },
  };
}

/** A number for each caller: requests with the same token have the same one. */
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
