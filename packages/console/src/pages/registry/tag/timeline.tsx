import { ChevronLeft, ChevronRight, ZoomIn, ZoomOut } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { counted } from "../../../lib/bytes.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { SEVERITY_PLACES } from "../../../lib/severities.ts";
import { exactTime } from "../../../lib/time.ts";
import { Button } from "../../../ui/button.tsx";
import { keyTarget } from "./timeline-keys.ts";
import { Minimap } from "./minimap.tsx";
import { MoveCard } from "./move-card.tsx";
import { Picture } from "./timeline-picture.tsx";
import styles from "./timeline.module.css";
import {
  firstSlotPx,
  following,
  indexAt,
  type Move,
  seenCount,
  slotsOf,
  timeAt,
  type View,
  within,
  xOf,
  zoomed,
} from "./timeline-layout.ts";
import { columnWords, type Measure } from "./timeline-columns.ts";
import { useColumns } from "./use-columns.ts";

const ABOUT: Readonly<Record<Measure, string>> = {
  findings: "Findings are counted with today's data.",
  size: "Sizes are those of a pull: of amd64, or of the only platform.",
  packages: "Packages are those of the platform that holds the most.",
};
const ZOOM = 1.6;
// Fewer are all in view without it.
const MAX_WITHOUT_MAP = 8;

export interface TimelineProps {
  /** The path of the image. */
  repo: string;
  repoUid: string;
  /** What columns are as high as. */
  measure: Measure;
  /** Newest first. */
  moves: readonly Move[];
  /** The moment that is looked at, in milliseconds since 1970. */
  atMs: number;
  nowMs: number;
  onMoment: (timeMs: number) => void;
}

/** Every digest that a tag has had, a slot each. A slider over it chooses a moment, by pointer or keyboard. */
export function Timeline({ repo, repoUid, measure, moves, atMs, nowMs, onMoment }: TimelineProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [chosen, setChosen] = useState<View>();
  const [pointed, setPointed] = useState<number>();
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const total = moves.length;
  const here = Math.max(indexAt(moves, atMs), 0);
  const start = { first: 0, slotPx: firstSlotPx(total, Math.max(width, 1)) };
  const view = within(chosen ?? following(start, here, total, Math.max(width, 1)), total, Math.max(width, 1));
  const seen = seenCount(view.slotPx, Math.max(width, 1));
  const slots = useMemo(
    () => (width === 0 ? [] : slotsOf(total, { first: view.first, slotPx: view.slotPx }, width)),
    [total, view.first, view.slotPx, width],
  );
  const columns = useColumns({ repo, repoUid, measure }, moves, slots);
  const choose = (timeMs: number): void => {
    const chosenMs = Math.round(Math.min(Math.max(timeMs, moves.at(-1)?.timeMs ?? timeMs), nowMs));
    setChosen(following(view, Math.max(indexAt(moves, chosenMs), 0), total, Math.max(width, 1)));
    onMoment(chosenMs);
  };
  const onKey = (event: KeyboardEvent): void => {
    const wanted = keyTarget(event.key, event.shiftKey, moves, indexAt(moves, atMs), nowMs);
    if (wanted === undefined) return;
    event.preventDefault();
    choose(wanted);
  };
  const onPointer = (event: PointerEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const timeMs = timeAt(moves, view, width, event.clientX - box.left, nowMs);
    setPointed(indexAt(moves, timeMs));
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    choose(timeMs);
  };
  const zoom = (factor: number) => () => setChosen(zoomed(view, factor, here, total, Math.max(width, 1)));
  const page = (moved: number) => () =>
    setChosen(within({ ...view, first: view.first + moved }, total, Math.max(width, 1)));
  const chosenMove = moves[indexAt(moves, atMs)];
  const said = `${exactTime(new Date(atMs).toISOString())}: ${wordsOf(chosenMove)}${
    chosenMove === undefined || chosenMove.isDeletion ? "" : `, ${columnWords(measure, columns.of(chosenMove))}`
  }`;
  const x = xOf(moves, view, width, atMs, nowMs);
  const isInView = here >= view.first && here < view.first + seen;
  return (
    <div className={styles.timeline}>
      <div className={styles.head}>
        <span>
          {counted(Math.min(seen, total), "move")} of {total.toLocaleString("en")} shown.{" "}
          {columns.isTooMuch ? `Zoom in to see ${measure === "size" ? "sizes" : measure}.` : ABOUT[measure]}
        </span>
        <ul className={styles.legend} aria-hidden>
          {(measure === "findings" ? SEVERITY_PLACES : []).map(([place, word]) => (
            <li key={place}>
              <svg width={8} height={8}>
                <rect width={8} height={8} rx={2} className={styles[place]} />
              </svg>
              {word}
            </li>
          ))}
          <li>
            <svg width={8} height={8}>
              <rect width={8} height={8} rx={2} className={styles.unknown} />
            </svg>
            Not known
          </li>
        </ul>
        <span className={styles.tools}>
          <Button
            look="quiet"
            aria-label="Earlier move"
            title="Earlier move"
            onClick={() => choose(keyTarget("ArrowLeft", false, moves, indexAt(moves, atMs), nowMs) ?? atMs)}
            icon={<ChevronLeft size={16} aria-hidden />}
          />
          <Button
            look="quiet"
            aria-label="Later move"
            title="Later move"
            onClick={() => choose(keyTarget("ArrowRight", false, moves, indexAt(moves, atMs), nowMs) ?? atMs)}
            icon={<ChevronRight size={16} aria-hidden />}
          />
          <Button
            look="quiet"
            aria-label="Zoom out"
            title="Zoom out"
            onClick={zoom(1 / ZOOM)}
            icon={<ZoomOut size={16} aria-hidden />}
          />
          <Button
            look="quiet"
            aria-label="Zoom in"
            title="Zoom in"
            onClick={zoom(ZOOM)}
            icon={<ZoomIn size={16} aria-hidden />}
          />
          <Button isSmall onClick={() => choose(nowMs)}>
            Now
          </Button>
        </span>
      </div>
      {total > MAX_WITHOUT_MAP && width > 0 && (
        <Minimap
          moves={moves}
          nowMs={nowMs}
          width={width}
          fromMs={moves[Math.min(view.first + seen, total) - 1]?.timeMs ?? 0}
          toMs={moves[view.first - 1]?.timeMs ?? nowMs}
          onMove={(timeMs) =>
            setChosen(
              within(
                { ...view, first: Math.max(indexAt(moves, timeMs), 0) - Math.floor(seen / 2) },
                total,
                Math.max(width, 1),
              ),
            )
          }
          onPage={(isLater) => page(isLater ? -seen : seen)()}
        />
      )}
      <div ref={frame} className={styles.frame} onPointerLeave={() => setPointed(undefined)}>
        <Picture
          moves={moves}
          slots={slots}
          columns={columns}
          width={width}
          cursorX={isInView ? x : undefined}
          here={here}
          slider={{
            role: "slider",
            tabIndex: 0,
            "aria-label": "Moment",
            "aria-valuemin": moves.at(-1)?.timeMs ?? 0,
            "aria-valuemax": nowMs,
            "aria-valuenow": atMs,
            "aria-valuetext": said,
            onKeyDown: onKey,
            onPointerDown: onPointer,
            onPointerMove: onPointer,
          }}
        />
        {pointed !== undefined && moves[pointed] !== undefined && (
          <MoveCard
            number={total - pointed}
            move={moves[pointed]}
            measure={measure}
            column={columns.of(moves[pointed])}
            x={xOf(moves, view, width, moves[pointed].timeMs, nowMs)}
            isAtEnd={xOf(moves, view, width, moves[pointed].timeMs, nowMs) > width / 2}
          />
        )}
      </div>
    </div>
  );
}

function wordsOf(move: Move | undefined): string {
  if (move === undefined) return "not there yet";
  return move.isDeletion ? "deleted" : shortDigest(move.digest);
}
