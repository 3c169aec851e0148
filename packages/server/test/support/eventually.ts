import { setTimeout as wait } from "node:timers/promises";

/** Far longer than anything takes on a busy machine. */
const LIMIT_MS = 180_000;
const EVERY_MS = 20;

/**
 * Looks again and again until there is something, neither false nor undefined, and returns it. Throws what `look`
 * throws; after three minutes, or `limitMs`, an error with the condition's text.
 */
export async function eventually<T>(
  look: () => Promise<T | false | undefined> | T | false | undefined,
  { limitMs = LIMIT_MS }: { limitMs?: number } = {},
): Promise<T> {
  for (const endMs = performance.now() + limitMs; ; await wait(EVERY_MS)) {
    const found = await look();
    if (found !== false && found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`not so after ${limitMs / 1000} s: ${String(look)}`);
  }
}
