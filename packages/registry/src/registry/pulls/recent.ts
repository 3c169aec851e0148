import { dayOf } from "@moorage/kernel/lib/days";
import type { AnsweredPull, CountedPulls, LastPull } from "./parts.ts";

/** Where the pulls of one content by one identity are counted on one day. */
interface Counted {
  identity: string;
  /** In days since 1970. */
  day: number;
  /** What one of them counts as: 0 for a layer. */
  pulls: 0 | 1;
  /** Undefined when none was a GET, or when there was no space. */
  sum: CountedPulls | undefined;
  /** Undefined for layers, or when there was no space. */
  last: LastPull | undefined;
}

/** What was counted a moment ago, by the object that a cached answer has for its content. */
export interface RecentPulls<C extends object> {
  /** Counts a pull where the one before was counted. False when it is not known where; then nothing was counted. */
  noteAgain(content: C, pull: AnsweredPull): boolean;
  keep(content: C, counted: Counted): void;
  /** Forgets all, before the sums are taken away. */
  clear(): void;
}

const MAX_RECENT = 1_000;

/**
 * Remembers where pulls are counted. A client that asks for the same again gets the same cached answer, and making the
 * key of its sum takes longer than all else that is counted.
 */
export function createRecentPulls<C extends object>(): RecentPulls<C> {
  const recent = new Map<C, Counted>();
  return {
    noteAgain(content, { method, identity, bytes, nowMs }) {
      const known = recent.get(content);
      if (known === undefined || known.identity !== identity || known.day !== dayOf(nowMs)) return false;
      const { sum, last, pulls } = known;
      if (pulls === 1 && last === undefined) return false;
      if (method === "GET") {
        if (sum === undefined) return false;
        sum.count += pulls;
        sum.bytes += bytes;
        if (nowMs < sum.firstMs) sum.firstMs = nowMs;
        if (nowMs > sum.lastMs) sum.lastMs = nowMs;
      }
      if (last !== undefined && nowMs > last.timeMs) last.timeMs = nowMs;
      return true;
    },
    keep(content, counted) {
      if (recent.size < MAX_RECENT || recent.has(content)) recent.set(content, counted);
    },
    clear: () => recent.clear(),
  };
}
