import { exactTime } from "../../../lib/time.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { SeverityStrip } from "../../../ui/severity-strip.tsx";
import { Mover } from "../mover.tsx";
import { type ColumnParts, columnWords, type Measure, severitiesIn } from "./timeline-columns.ts";
import styles from "./timeline.module.css";
import type { Move } from "./timeline-layout.ts";

export interface MoveCardProps {
  /** From 1 at the oldest move that is read. */
  number: number;
  move: Move;
  measure: Measure;
  /** Undefined where it is not known. */
  column: ColumnParts | undefined;
  x: number;
  /** Whether it stands to the left of its slot. */
  isAtEnd: boolean;
}

/** Beside the pointer: what the move was. The same stands below the timeline for the move that is chosen. */
export function MoveCard({ number, move, measure, column, x, isAtEnd }: MoveCardProps) {
  const side = isAtEnd ? { right: `calc(100% - ${x}px + 12px)` } : { left: `${x + 40}px` };
  return (
    <div className={styles.card} style={side} aria-hidden>
      <div className={styles.cardHead}>
        <strong>Move {number.toLocaleString("en")}</strong>
        <span>{exactTime(new Date(move.timeMs).toISOString())}</span>
      </div>
      <code>{move.isDeletion ? "deleted" : shortDigest(move.digest)}</code>
      <span className={styles.cardWho}>
        <Mover actor={move.actor} reason={move.reason} /> {move.reason}
      </span>
      {column !== undefined && measure === "findings" ? (
        <SeverityStrip counts={severitiesIn(column)} isMore={column.isMore ?? false} isLettered />
      ) : (
        <span>{columnWords(measure, column)}</span>
      )}
    </div>
  );
}
