import { setTimeout as wait } from "node:timers/promises";
import { inspect } from "node:util";

/** Far longer than anything takes on a busy machine. */
const LIMIT_MS = 180_000;
/** Soon at first; what takes longer than a second is looked at less often, since a look takes its share of the work. */
const SOON_MS = 20;
const LATER_MS = 50;

export interface Patience {
  /** After how long it gives up: three minutes by default. */
  limitMs?: number;
  /** How long it waits between two looks: by default 20 milliseconds, and 50 after a second. */
  everyMs?: number;
  /** What there is instead, for the error's text. */
  instead?: () => unknown;
}

/**
 * Looks again and again until there is something, neither false nor undefined, and returns it. Throws what `look`
 * throws; when it gives up, an error with the condition's text.
 */
export async function eventually<T>(
  look: () => Promise<T | false | undefined> | T | false | undefined,
  { limitMs = LIMIT_MS, everyMs, instead }: Patience = {},
): Promise<T> {
  for (const startMs = performance.now(); ;) {
    const found = await look();
    if (found !== false && found !== undefined) return found;
    const passedMs = performance.now() - startMs;
    if (passedMs > limitMs) {
      const state = instead === undefined ? "" : `\nThere is ${inspect(await instead(), { depth: 10 })}`;
      throw new Error(`not so after ${limitMs / 1000} s: ${String(look)}${state}`);
    }
    await wait(everyMs ?? (passedMs < 1_000 ? SOON_MS : LATER_MS));
  }
}
