import type { SVGProps } from "react";
import { shortDigest } from "../../../lib/digest.ts";
import type { ColumnParts, ColumnsOf } from "./timeline-columns.ts";
import styles from "./timeline.module.css";
import { type Move, type Slot, ticksOf, wentBackTo } from "./timeline-layout.ts";

const TOP = 40;
const COLUMN_PX = 110;
const BASE = TOP + COLUMN_PX;
const HOW_Y = BASE + 16;
const AXIS_Y = BASE + 30;
const HEIGHT = AXIS_Y + 20;
const STUB_PX = 24;
const GAP_PX = 4;
const LABEL_PX = 96;
/** From this width on a column says how many findings it stands for: no axis has to be read for that. */
const TOTAL_PX = 30;
/** What a letter of that needs. */
const LETTER_PX = 7;
const MAX_BACK = 400;
const HOW: Readonly<Record<string, string>> = { push: "•", promote: "↑", rollback: "↩", mirror: "⟳" };
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });

export interface PictureProps {
  moves: readonly Move[];
  slots: readonly Slot[];
  columns: ColumnsOf;
  width: number;
  /** Where the moment stands; undefined out of view. */
  cursorX: number | undefined;
  /** The index of the move that is looked at. */
  here: number;
  slider: SVGProps<SVGSVGElement>;
}

/** Columns of what is measured, a slot each, with how the tag moved and the days below them. */
export function Picture({ moves, slots, columns, width, cursorX, here, slider }: PictureProps) {
  const most = Math.max(...slots.map(({ index }) => columns.of(moves[index])?.total ?? 0), 1);
  const slotOf = (index: number): Slot | undefined =>
    slots.find((slot) => index >= slot.index && index < slot.index + slot.count);
  return (
    <svg {...slider} width={width} height={HEIGHT} className={styles.picture}>
      <defs>
        <pattern id="not-scanned" width={6} height={6} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width={2} height={6} className={styles.hatch} />
        </pattern>
      </defs>
      <line x1={0} x2={width} y1={BASE} y2={BASE} className={styles.line} />
      {slots.map((slot) => {
        const move = moves[slot.index];
        if (move === undefined) return null;
        const isHere = here >= slot.index && here < slot.index + slot.count;
        return (
          <g key={slot.index} data-move={slot.index}>
            {isHere && <rect x={slot.x} y={4} width={slot.width} height={HOW_Y} rx={4} className={styles.here} />}
            <Column slot={slot} move={move} column={columns.of(move)} most={most} />
            <Total slot={slot} column={columns.of(move)} most={most} />
            <text x={slot.x + slot.width / 2} y={HOW_Y + 4} className={styles.how}>
              {slot.width < 10 ? "" : slot.count > 1 ? "" : move.isDeletion ? "×" : (HOW[move.reason] ?? "•")}
            </text>
            {slot.width >= LABEL_PX && (
              <text x={slot.x + slot.width / 2} y={18} className={styles.label}>
                {move.isDeletion ? "deleted" : shortDigest(move.digest).split(":").at(-1)}
              </text>
            )}
            {Array.from({ length: slot.count }, (_, at) => slot.index + at).map((index) => {
              const back = slot.count > 1 ? -1 : wentBackTo(moves, index, MAX_BACK);
              const to = back < 0 ? undefined : slotOf(back);
              return to === undefined ? null : <Mooring key={index} from={slot} to={to} />;
            })}
          </g>
        );
      })}
      {ticksOf(moves, slots).map(({ x, timeMs, isLabeled, isBreak }) => (
        <g key={x}>
          <line x1={x + 0.5} x2={x + 0.5} y1={AXIS_Y - 2} y2={AXIS_Y + 6} className={styles.line} />
          {isBreak && (
            <text x={x} y={BASE + 4} className={styles.break}>
              //
            </text>
          )}
          {isLabeled && x < width - 30 && (
            <text x={x + 4} y={AXIS_Y + 12} className={styles.day}>
              {day.format(timeMs)}
            </text>
          )}
        </g>
      ))}
      {cursorX !== undefined && (
        <>
          <line x1={cursorX} x2={cursorX} y1={8} y2={AXIS_Y} className={styles.cursor} />
          <circle cx={Math.min(Math.max(cursorX, 6), width - 6)} cy={8} r={6} className={styles.handle} />
        </>
      )}
    </svg>
  );
}

interface ColumnProps {
  slot: Slot;
  move: Move;
  column: ColumnParts | undefined;
  most: number;
}

function Column({ slot: { x, width }, move, column, most }: ColumnProps) {
  const gap = width > 12 ? GAP_PX : 0;
  const frame = { x: x + gap / 2, width: Math.max(width - gap, 1) };
  if (move.isDeletion) return <rect {...frame} y={BASE - STUB_PX} height={STUB_PX} rx={2} className={styles.deleted} />;
  if (column === undefined)
    return <rect {...frame} y={BASE - STUB_PX} height={STUB_PX} rx={2} className={styles.unknown} />;
  let y = BASE;
  const parts = column.parts.map(([tone, value]) => {
    const height = (value / most) * COLUMN_PX;
    y -= height;
    return value === 0 ? null : (
      <rect key={tone} {...frame} y={y} height={Math.max(height, 1)} className={styles[tone]} />
    );
  });
  return column.total === 0 ? <rect {...frame} y={BASE - 3} height={3} className={styles.clean} /> : <>{parts}</>;
}

/** What a column stands for, above it. */
function Total({ slot: { x, width }, column, most }: Omit<ColumnProps, "move">) {
  if (column === undefined || width < Math.max(TOTAL_PX, column.text.length * LETTER_PX)) return null;
  const { total, text } = column;
  return (
    <text x={x + width / 2} y={BASE - Math.max((total / most) * COLUMN_PX, 3) - 5} className={styles.total}>
      {text}
    </text>
  );
}

function Mooring({ from, to }: { from: Slot; to: Slot }) {
  const [start, end] = [from.x + from.width / 2, to.x + to.width / 2];
  return <path d={`M ${start} ${TOP} Q ${(start + end) / 2} ${2} ${end} ${TOP}`} className={styles.mooring} />;
}
