import type { Caller, CallData } from "@moorage/kernel/core/call";
import type { BufferedPulls, PulledContent } from "@moorage/platform/events";

/** Pulls that are written together. What several of them have in common is in it once. */
export interface Batch {
  readonly pulls: Iterable<BufferedPulls>;
  /** The number of pulls. */
  readonly count: number;
  add(data: CallData, caller: Caller, pull: Pull, method: BufferedPulls["method"]): void;
}

/** Pulls by one client from one repo. `byContent`: its contents, by tag and digest. */
interface Shared {
  pulls: BufferedPulls;
  caller: Caller;
  userAgent: string;
  byContent: Map<string, PulledContent>;
}

// A client may send a user agent of any length.
const MAX_USER_AGENT_CHARS = 256;

/** Creates an empty batch. `numberOf` gives a number for each caller, as `numberedCallers` does. */
export function createBatch(numberOf: (caller: Caller) => number): Batch {
  const byClient = new Map<string, Shared>();
  let last: Shared | undefined;
  let count = 0;

  const sharedBy = (data: CallData, caller: Caller, pull: Pull, method: BufferedPulls["method"]): Shared => {
    const { remoteAddress } = data;
    const { repository, repo, type } = pull;
    // Pulls mostly come in a row from the same client, and comparing is cheaper than the look-up.
    if (
      last !== undefined &&
      last.caller === caller &&
      last.userAgent === data.userAgent &&
      last.pulls.method === method &&
      last.pulls.type === type &&
      last.pulls.repo === repo &&
      last.pulls.repository === repository &&
      last.pulls.remoteAddress === remoteAddress
    )
      return last;
    const userAgent = data.userAgent.slice(0, MAX_USER_AGENT_CHARS);
    const key = `${repo} ${repository} ${type} ${method} ${numberOf(caller)} ${remoteAddress} ${userAgent}`;
    const known = byClient.get(key);
    if (known !== undefined) return (last = known);
    const { identity, act = {} } = caller;
    const actor = { identity, act };
    const pulls = { repository, repo, type, method, actor, remoteAddress, userAgent, contents: [] };
    last = { pulls, caller, userAgent: data.userAgent, byContent: new Map() };
    byClient.set(key, last);
    return last;
  };

  return {
    get pulls() {
      return Array.from(byClient.values(), ({ pulls }) => pulls);
    },
    get count() {
      return count;
    },
    add(data, caller, pull, method) {
      const { pulls, byContent } = sharedBy(data, caller, pull, method);
      const { tag, digest } = pull;
      const key = `${digest} ${tag}`;
      const known = byContent.get(key);
      count += 1;
      if (known !== undefined) return void known.timesMs.push(data.nowMs);
      const content = { tag, digest, timesMs: [data.nowMs] };
      byContent.set(key, content);
      pulls.contents.push(content);
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

/** The content that was pulled. `tag` is the reference of the request; empty when it was requested by digest. */
export type Pull = Pick<BufferedPulls, "repository" | "repo" | "type"> & Pick<PulledContent, "tag" | "digest">;
