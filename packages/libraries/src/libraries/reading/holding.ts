import type { HeldBytes } from "@moorage/kernel/lib/byte-budget";
import { INLINE_BYTES } from "./limits.ts";
import type { Reading } from "./open.ts";

/** Bytes of a document that grows in memory. */
export interface Holding {
  /** Called before the document has so many bytes: a large one waits while too many are. Throws UNAVAILABLE. */
  hold(bytes: number): Promise<void> | undefined;
  release(): void;
}

const STEP_BYTES = 1024 * 1024;

/**
 * Counts the bytes of a document that is received, on behalf of a group. A small one takes nothing from the budget.
 * `announcedBytes`: how many it will have, if that is known.
 */
export function holding(reading: Pick<Reading, "take">, owner: string, announcedBytes = 0): Holding {
  const taken: HeldBytes[] = [];
  let held = INLINE_BYTES;
  const grow = async (bytes: number): Promise<void> => {
    taken.push(await reading.take(owner, taken.length === 0 ? bytes : bytes - held));
    held = bytes;
  };
  return {
    hold(bytes) {
      if (bytes <= held) return undefined;
      return grow(Math.max(bytes + STEP_BYTES, announcedBytes));
    },
    release() {
      for (const each of taken) each.release();
    },
  };
}
