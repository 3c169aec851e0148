/** A deterministic generator of pseudorandom numbers. Not for secrets. */
export interface Dice {
  /** An integer from 0 up to the limit, exclusive. */
  below(limit: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  bytes(count: number): Buffer;
}

/** A generator seeded with the parts: the same parts give the same numbers. Method: mulberry32. */
export function diceOf(...parts: number[]): Dice {
  let state = 0x9e3779b9;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  for (const part of parts) state = (next() ^ Math.imul(part + 1, 0x85ebca6b)) | 0;
  const below = (limit: number): number => Math.floor((next() / 2 ** 32) * limit);
  return {
    below,
    chance: (share) => next() / 2 ** 32 < share,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error("nothing to pick from");
      return list[below(list.length)] as T;
    },
    bytes(count) {
      const bytes = Buffer.alloc(count);
      for (let at = 0; at < count; at++) bytes[at] = next() >>> 24;
      return bytes;
    },
  };
}
