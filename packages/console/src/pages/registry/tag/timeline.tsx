import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { exactTime } from "../../../lib/time.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { Button } from "../../../ui/button.tsx";
import { Row } from "../../../ui/page.tsx";
import styles from "./timeline.module.css";
import { following, indexAt, layOut, type Move, type Span, wholeSpan, zoomed } from "./timeline-layout.ts";

const HEIGHT = 96;
const BAR_TOP = 24;
const BAR_HEIGHT = 44;
const LABEL_PX = 150;
const HUES = 6;

export interface TimelineProps {
  /** Newest first. */
  moves: readonly Move[];
  /** The moment that is looked at, in milliseconds since 1970. */
  atMs: number;
  nowMs: number;
  onMoment: (timeMs: number) => void;
}

/** Every digest that a tag has had, along the time. A slider over it chooses a moment, by pointer or keyboard. */
export function Timeline({ moves, atMs, nowMs, onMoment }: TimelineProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const whole = wholeSpan(moves, nowMs);
  const [seen, setSeen] = useState<Span>();
  const span = seen ?? whole;
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const choose = (timeMs: number): void => {
    const chosenMs = Math.round(Math.min(Math.max(timeMs, moves.at(-1)?.timeMs ?? timeMs), nowMs));
    if (seen !== undefined) setSeen(following(seen, chosenMs));
    onMoment(chosenMs);
  };
  const here = indexAt(moves, atMs);
  const onKey = (event: KeyboardEvent): void => {
    const wanted = keyTarget(event.key, moves, here, nowMs);
    if (wanted === undefined) return;
    event.preventDefault();
    choose(wanted);
  };
  const onPointer = (event: PointerEvent<SVGSVGElement>): void => {
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.getBoundingClientRect();
    choose(span.fromMs + ((event.clientX - box.left) / box.width) * (span.toMs - span.fromMs));
  };
  const x = Math.min(Math.max(((atMs - span.fromMs) / (span.toMs - span.fromMs)) * width, 8), Math.max(width - 8, 8));
  const zoom = (factor: number) => () => setSeen(zoomed(following(span, atMs), whole, atMs, factor));
  const move = moves[here];
  const said = `${exactTime(new Date(atMs).toISOString())}: ${wordsOf(move)}`;
  return (
    <div className={styles.timeline}>
      <div ref={frame} className={styles.frame}>
        <svg
          role="slider"
          tabIndex={0}
          aria-label="Moment"
          aria-valuemin={moves.at(-1)?.timeMs ?? 0}
          aria-valuemax={nowMs}
          aria-valuenow={atMs}
          aria-valuetext={said}
          width={width}
          height={HEIGHT}
          className={styles.picture}
          onKeyDown={onKey}
          onPointerDown={onPointer}
          onPointerMove={onPointer}
        >
          {layOut(moves, span, width).map((bar) => {
            const { digest = "" } = moves[bar.index] ?? {};
            const look = bar.isDeletion ? styles.deleted : styles[`hue${hueOf(digest)}`];
            return (
              <g key={bar.index}>
                <rect x={bar.x} y={BAR_TOP} width={Math.max(bar.width - 1, 1)} height={BAR_HEIGHT} className={look} />
                {bar.width > LABEL_PX && (
                  <text x={bar.x + 8} y={BAR_TOP + 27} className={styles.label}>
                    {bar.isDeletion ? "deleted" : bar.count > 1 ? `${bar.count} moves` : shortDigest(digest)}
                  </text>
                )}
              </g>
            );
          })}
          <line x1={x} x2={x} y1={8} y2={HEIGHT - 8} className={styles.cursor} />
          <circle cx={x} cy={12} r={7} className={styles.handle} />
        </svg>
      </div>
      <div className={styles.ends}>
        <span>{exactTime(new Date(span.fromMs).toISOString())}</span>
        <span>{exactTime(new Date(span.toMs).toISOString())}</span>
      </div>
      <Row>
        <Button onClick={() => choose(keyTarget("ArrowLeft", moves, here, nowMs) ?? atMs)}>Earlier move</Button>
        <Button onClick={() => choose(keyTarget("ArrowRight", moves, here, nowMs) ?? atMs)}>Later move</Button>
        <Button onClick={() => choose(nowMs)}>Now</Button>
        <Button onClick={zoom(1 / 3)}>Zoom in</Button>
        <Button onClick={zoom(3)}>Zoom out</Button>
      </Row>
    </div>
  );
}

/** The moment that a key leads to: the arrows to the moves beside, Home and End to the first one and to now. */
function keyTarget(key: string, moves: readonly Move[], here: number, nowMs: number): number | undefined {
  if (key === "ArrowLeft" || key === "ArrowDown") return moves[Math.min(here + 1, moves.length - 1)]?.timeMs;
  if (key === "ArrowRight" || key === "ArrowUp") return moves[here - 1]?.timeMs ?? nowMs;
  if (key === "PageUp") return moves[Math.max(here - 10, 0)]?.timeMs;
  if (key === "PageDown") return moves[Math.min(here + 10, moves.length - 1)]?.timeMs;
  if (key === "Home") return moves.at(-1)?.timeMs;
  return key === "End" ? nowMs : undefined;
}

function wordsOf(move: Move | undefined): string {
  if (move === undefined) return "not there yet";
  return move.isDeletion ? "deleted" : shortDigest(move.digest);
}

function hueOf(digest: string): number {
  return Number.parseInt(digest.slice(-4), 16) % HUES;
}
