import { indexAt, type Move } from "./timeline-layout.ts";

const DAY_MS = 86_400_000;

/**
 * The moment that a key leads to: the arrows to the moves beside, with Shift by days, Home and End to the first one and
 * to now.
 */
export function keyTarget(
  key: string,
  isShift: boolean,
  moves: readonly Move[],
  here: number,
  nowMs: number,
): number | undefined {
  const at = moves[here]?.timeMs ?? nowMs;
  if (isShift && key === "ArrowLeft")
    return moves[Math.max(indexAt(moves, at - DAY_MS), -1)]?.timeMs ?? moves.at(-1)?.timeMs;
  if (isShift && key === "ArrowRight") return moves[Math.min(indexAt(moves, at + DAY_MS), here - 1)]?.timeMs ?? nowMs;
  if (key === "ArrowLeft" || key === "ArrowDown") return moves[Math.min(here + 1, moves.length - 1)]?.timeMs;
  if (key === "ArrowRight" || key === "ArrowUp") return moves[here - 1]?.timeMs ?? nowMs;
  if (key === "PageUp") return moves[Math.max(here - 10, 0)]?.timeMs;
  if (key === "PageDown") return moves[Math.min(here + 10, moves.length - 1)]?.timeMs;
  if (key === "Home") return moves.at(-1)?.timeMs;
  return key === "End" ? nowMs : undefined;
}
