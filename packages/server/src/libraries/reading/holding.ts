import type { ByteLease } from "../../lib/byte-budget.ts";
import { INLINE_BYTES } from "./limits.ts";
import type { Reading } from "./open.ts";

/** Bytes of a document that grows in memory. */
export interface Holding {
  /** Called before the document has so many bytes: a large one waits while too many are. Throws UNAVAILABLE. */
  hold(bytes: number): Promise<void> | undefined;
  release(): void;
}

const STEP_BYTES = 1024 * 1024;

/** Counts the bytes of a document that is received. A small one takes nothing from the budget. */
export function holding(reading: Pick<Reading, "take">, announcedBytes = 0): Holding {
  let lease: ByteLease | undefined;
  let held = INLINE_BYTES;
  const grow = async (bytes: number): Promise<void> => {
    if (lease === undefined) lease = await reading.take(bytes);
    else await lease.grow(bytes);
    held = bytes;
  };
  return {
    hold(bytes) {
      if (bytes <= held) return undefined;
      return grow(Math.max(bytes + STEP_BYTES, announcedBytes));
    },
    release: () => lease?.release(),
  };
}
