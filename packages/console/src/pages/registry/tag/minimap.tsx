import { type PointerEvent, useMemo } from "react";
import { exactTime } from "../../../lib/time.ts";
import styles from "./timeline.module.css";
import { type Move, movesPerPart } from "./timeline-layout.ts";

const HEIGHT = 36;
const PART_PX = 9;
const MAX_PARTS = 120;
const MIN_BRUSH_PX = 24;
const year = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", year: "numeric" });

export interface MinimapProps {
  moves: readonly Move[];
  nowMs: number;
  width: number;
  /** What the timeline shows. */
  fromMs: number;
  toMs: number;
  /** Called with the moment that the timeline is to show in its middle. */
  onMove: (timeMs: number) => void;
  onPage: (isLater: boolean) => void;
}

/** All of the moves that are read along the time, with a frame around those that are shown. */
export function Minimap({ moves, nowMs, width, fromMs, toMs, onMove, onPage }: MinimapProps) {
  const parts = Math.max(Math.min(Math.floor(width / PART_PX), MAX_PARTS), 1);
  const counts = useMemo(() => movesPerPart(moves, nowMs, parts), [moves, nowMs, parts]);
  const most = counts.reduce((max, each) => Math.max(max, each), 1);
  const oldestMs = moves.at(-1)?.timeMs ?? nowMs;
  const xOf = (timeMs: number): number => ((timeMs - oldestMs) / Math.max(nowMs - oldestMs, 1)) * width;
  const brush = Math.max(xOf(toMs) - xOf(fromMs), MIN_BRUSH_PX);
  const x = Math.min(Math.max(xOf(fromMs), 0), width - brush);
  const onPointer = (event: PointerEvent<SVGSVGElement>): void => {
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.getBoundingClientRect();
    onMove(oldestMs + ((event.clientX - box.left) / box.width) * (nowMs - oldestMs));
  };
  return (
    <div className={styles.map}>
      <svg
        role="slider"
        tabIndex={0}
        aria-label="Part of the history that is shown"
        aria-valuemin={oldestMs}
        aria-valuemax={nowMs}
        aria-valuenow={fromMs}
        aria-valuetext={`${exactTime(new Date(fromMs).toISOString())} to ${exactTime(new Date(toMs).toISOString())}`}
        width={width}
        height={HEIGHT}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onKeyDown={(event) => {
          if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
          event.preventDefault();
          onPage(event.key === "ArrowRight");
        }}
      >
        {counts.map((count, at) => {
          const height = count === 0 ? 0 : Math.max((count / most) * (HEIGHT - 4), 2);
          const step = width / parts;
          return (
            <rect
              key={at}
              x={at * step}
              y={HEIGHT - height}
              width={Math.max(step - 2, 1)}
              height={height}
              rx={1}
              className={styles.mapBar}
            />
          );
        })}
        <rect x={x} y={1} width={brush} height={HEIGHT - 2} rx={4} className={styles.brush} />
      </svg>
      <div className={styles.mapEnds}>
        <span>{year.format(oldestMs)}</span>
        <span>{year.format(nowMs)}</span>
      </div>
    </div>
  );
}
