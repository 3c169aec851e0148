/** A record of a tag's history: from that time on it pointed to the digest, or it was deleted. */
export interface Move {
  /** Milliseconds since 1970. Those of a tag differ. */
  timeMs: number;
  /** What it came to point to; for a deletion what it pointed to before, if that is known. */
  digest: string;
  isDeletion: boolean;
  /** Such as push, promote, rollback, mirror or retention. */
  reason: string;
  /** The identity's uid; empty when the server did it, and for who may not know. */
  actor: string;
}

/** What of a history is seen: each move has a slot of the same width, however long it held. */
export interface View {
  /** The index of the newest move that is seen, in moves newest first. */
  first: number;
  /** Pixels that a move takes; less than one where there are more moves than pixels. */
  slotPx: number;
}

/** A slot of the picture: one move, or several that are too narrow to be seen apart. */
export interface Slot {
  /** The index of its newest move. */
  index: number;
  /** How many moves it stands for. */
  count: number;
  /** Pixels from the left. */
  x: number;
  width: number;
}

/** A mark on the axis of time, at the first slot of a day. */
export interface Tick {
  x: number;
  timeMs: number;
  /** Whether the label has space. */
  isLabeled: boolean;
  /** Whether days without moves were left out before it. */
  isBreak: boolean;
}

const MIN_SLOT_PX = 26;
const MAX_SLOT_PX = 160;
const MERGED_PX = 6;
const LABEL_PX = 46;
const DAY_MS = 86_400_000;

/** The index of the move in force at that time, in moves newest first; -1 before the first one. */
export function indexAt(moves: readonly Move[], timeMs: number): number {
  let low = 0;
  let high = moves.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moves[middle]?.timeMs ?? 0) > timeMs) low = middle + 1;
    else high = middle;
  }
  return low < moves.length ? low : -1;
}

/** How wide a slot is at first: as the track has space for, within limits. */
export function firstSlotPx(count: number, trackPx: number): number {
  return Math.min(Math.max(trackPx / Math.max(count, 1), MIN_SLOT_PX), MAX_SLOT_PX);
}

/** How many moves are seen together; at least one. */
export function seenCount(slotPx: number, trackPx: number): number {
  return Math.max(Math.floor(trackPx / slotPx), 1);
}

/** The view made wider (`factor` above 1) or narrower around a move, down to the width at which all moves are seen. */
export function zoomed(view: View, factor: number, around: number, count: number, trackPx: number): View {
  const least = Math.min(trackPx / Math.max(count, 1), MIN_SLOT_PX);
  const slotPx = Math.min(Math.max(view.slotPx * factor, least), MAX_SLOT_PX);
  const part = (around - view.first) / seenCount(view.slotPx, trackPx);
  return within({ first: Math.round(around - part * seenCount(slotPx, trackPx)), slotPx }, count, trackPx);
}

/** The view moved as little as needed so that the move is seen. */
export function following({ first, slotPx }: View, index: number, count: number, trackPx: number): View {
  const seen = seenCount(slotPx, trackPx);
  const next = index < first ? index : index >= first + seen ? index - seen + 1 : first;
  return within({ first: next, slotPx }, count, trackPx);
}

/** The view within the history. */
export function within({ first, slotPx }: View, count: number, trackPx: number): View {
  return { first: Math.min(Math.max(first, 0), Math.max(count - seenCount(slotPx, trackPx), 0)), slotPx };
}

/** The slots that are seen, from the oldest at the left: never more than a slot each six pixels. */
export function slotsOf(count: number, { first, slotPx }: View, trackPx: number): Slot[] {
  const last = Math.min(first + seenCount(slotPx, trackPx), count);
  const per = Math.max(Math.ceil(MERGED_PX / slotPx), 1);
  const slots: Slot[] = [];
  for (let index = first; index < last; index += per) {
    const merged = Math.min(per, last - index);
    slots.push({ index, count: merged, x: (last - index - merged) * slotPx, width: merged * slotPx });
  }
  return slots.toReversed();
}

/** Where a moment stands: within the slot of its move, as far as the move has held by then. */
export function xOf(moves: readonly Move[], view: View, trackPx: number, timeMs: number, nowMs: number): number {
  const index = indexAt(moves, timeMs);
  if (index < 0) return 0;
  const last = Math.min(view.first + seenCount(view.slotPx, trackPx), moves.length);
  const fromMs = moves[index]?.timeMs ?? 0;
  const toMs = moves[index - 1]?.timeMs ?? nowMs;
  const part = toMs > fromMs ? Math.min((timeMs - fromMs) / (toMs - fromMs), 1) : 1;
  return (last - index - 1 + part) * view.slotPx;
}

/** The moment at a place of the picture: the reverse of `xOf`. */
export function timeAt(moves: readonly Move[], view: View, trackPx: number, x: number, nowMs: number): number {
  const last = Math.min(view.first + seenCount(view.slotPx, trackPx), moves.length);
  const place = Math.min(Math.max(x / view.slotPx, 0), last - view.first);
  const index = Math.max(last - 1 - Math.floor(place), view.first);
  const fromMs = moves[index]?.timeMs ?? 0;
  const toMs = moves[index - 1]?.timeMs ?? nowMs;
  return Math.round(fromMs + (place - (last - 1 - index)) * (toMs - fromMs));
}

/** A tick for each day of which a move is seen. */
export function ticksOf(moves: readonly Move[], slots: readonly Slot[]): Tick[] {
  const ticks: Tick[] = [];
  let before: number | undefined;
  let labelX = Number.NEGATIVE_INFINITY;
  for (const { index, count, x } of slots) {
    const timeMs = moves[index + count - 1]?.timeMs ?? 0;
    const day = dayOf(timeMs);
    if (day !== before) {
      const isLabeled = x - labelX >= LABEL_PX;
      if (isLabeled) labelX = x;
      ticks.push({ x, timeMs, isLabeled, isBreak: before !== undefined && day - before > 1 });
    }
    before = dayOf(moves[index]?.timeMs ?? 0);
  }
  return ticks;
}

function dayOf(timeMs: number): number {
  const date = new Date(timeMs);
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS);
}

/** The index of the move that a rollback went back to: the last one before it with the same digest; -1 without one. */
export function wentBackTo(moves: readonly Move[], index: number, max: number): number {
  const { digest, reason } = moves[index] ?? {};
  if (reason !== "rollback") return -1;
  for (let at = index + 2; at < Math.min(moves.length, index + max); at++)
    if (moves[at]?.digest === digest && moves[at]?.isDeletion === false) return at;
  return -1;
}

/** How many moves there were in each of so many equal parts of the time from the first one to now. */
export function movesPerPart(moves: readonly Move[], nowMs: number, parts: number): number[] {
  const counts = Array.from({ length: parts }, () => 0);
  const fromMs = moves.at(-1)?.timeMs ?? nowMs;
  const perMs = Math.max((nowMs - fromMs) / parts, 1);
  for (const { timeMs } of moves) {
    const at = Math.min(Math.floor((timeMs - fromMs) / perMs), parts - 1);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
