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

/** A time from one moment to another, in milliseconds since 1970. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** A stretch of the picture in which the tag pointed to one digest, or several that are too close to be seen apart. */
export interface Bar {
  /** Pixels from the left. */
  x: number;
  width: number;
  /** The index of its last move in the list of moves. */
  index: number;
  /** How many moves it stands for; more than 1 where they are too close. */
  count: number;
  isDeletion: boolean;
}

const MIN_BAR_PX = 6;
const MIN_SPAN_MS = 1_000;

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

/** The bars of what is seen, from the left: never more than fit into the picture, however many moves there are. */
export function layOut(moves: readonly Move[], { fromMs, toMs }: Span, widthPx: number): Bar[] {
  if (moves.length === 0 || toMs <= fromMs || widthPx <= 0) return [];
  const xOf = (timeMs: number): number => ((timeMs - fromMs) / (toMs - fromMs)) * widthPx;
  const bars: Bar[] = [];
  const before = indexAt(moves, fromMs);
  let index = before < 0 ? moves.length - 1 : before;
  while (index >= 0 && (moves[index]?.timeMs ?? 0) < toMs) {
    const first = index;
    const x = Math.max(xOf(moves[first]?.timeMs ?? 0), 0);
    // All that begin within the least width of a bar are drawn as one, which is found without a look at each.
    const endMs = fromMs + ((x + MIN_BAR_PX) / widthPx) * (toMs - fromMs);
    const last = Math.min(first, Math.max(indexAt(moves, Math.min(endMs, toMs)), 0));
    const next = moves[last - 1];
    const end = next === undefined ? widthPx : Math.min(xOf(next.timeMs), widthPx);
    bars.push({
      x,
      width: Math.max(end - x, 0),
      index: last,
      count: first - last + 1,
      isDeletion: moves[last]?.isDeletion ?? false,
    });
    index = last - 1;
  }
  return bars;
}

/** The time that all of the moves take, up to now. */
export function wholeSpan(moves: readonly Move[], nowMs: number): Span {
  const fromMs = moves.at(-1)?.timeMs ?? nowMs - MIN_SPAN_MS;
  const toMs = Math.max(nowMs, (moves[0]?.timeMs ?? 0) + MIN_SPAN_MS);
  const spareMs = (toMs - fromMs) * 0.02;
  return { fromMs: fromMs - spareMs, toMs };
}

/** The span made shorter (`factor` below 1) or longer around a moment, within `whole`. */
export function zoomed({ fromMs, toMs }: Span, whole: Span, aroundMs: number, factor: number): Span {
  const length = Math.min(Math.max((toMs - fromMs) * factor, MIN_SPAN_MS), whole.toMs - whole.fromMs);
  const part = (aroundMs - fromMs) / (toMs - fromMs);
  const from = Math.min(Math.max(aroundMs - part * length, whole.fromMs), whole.toMs - length);
  return { fromMs: from, toMs: from + length };
}

/** The span moved so that the moment is in it. */
export function following({ fromMs, toMs }: Span, timeMs: number): Span {
  if (timeMs >= fromMs && timeMs <= toMs) return { fromMs, toMs };
  const half = (toMs - fromMs) / 2;
  return { fromMs: timeMs - half, toMs: timeMs + half };
}
