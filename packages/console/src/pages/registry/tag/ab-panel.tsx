import { Link } from "@tanstack/react-router";
import { Badge } from "../../../ui/badge.tsx";
import { DigestChip } from "../../../ui/digest-chip.tsx";
import { SeverityStrip } from "../../../ui/severity-strip.tsx";
import { Time } from "../../../ui/time.tsx";
import { Mover } from "../mover.tsx";
import styles from "./ab-panel.module.css";
import { changeWords } from "./findings-change.ts";
import type { Move } from "./timeline-layout.ts";
import { type ColumnParts, severitiesIn } from "./timeline-columns.ts";
import { useColumns } from "./use-columns.ts";

const BOTH = [{ index: 0 }, { index: 1 }];

export interface AbPanelProps {
  /** The path of the image. */
  repo: string;
  repoUid: string;
  /** The move that is looked at. */
  from: Move;
  /** What the tag points to now. */
  to: Move;
}

/** The version that is looked at beside the one of now: who moved to it, its findings, and how those differ. */
export function AbPanel({ repo, repoUid, from, to }: AbPanelProps) {
  const columns = useColumns({ repo, repoUid, measure: "findings" }, [from, to], BOTH);
  const [before, after] = [columns.of(from), columns.of(to)];
  return (
    <section className={styles.panel} aria-label="A and B">
      <Side letter="A" move={from} findings={before} />
      <div className={styles.change}>
        <p>
          <span>Findings</span>
          <b>{changeOf(before, after)}</b>
        </p>
        <Link to="/compare" search={{ from: `${repo}@${from.digest}`, to: `${repo}@${to.digest}` }}>
          Full comparison
        </Link>
      </div>
      <Side letter="B" move={to} findings={after} />
    </section>
  );
}

interface SideProps {
  letter: string;
  move: Move;
  /** Undefined where they are not known. */
  findings: ColumnParts | undefined;
}

/** How findings differ. Of more than were read that is not known. */
function changeOf(before: ColumnParts | undefined, after: ColumnParts | undefined): string {
  if (before === undefined || after === undefined) return "not known";
  if (before.isMore === true || after.isMore === true) return "too many to compare here";
  return changeWords(severitiesIn(before), severitiesIn(after));
}

function Side({ letter, move, findings }: SideProps) {
  return (
    <div className={styles.side} role="group" aria-label={letter}>
      <p className={styles.line}>
        <span className={styles.letter} aria-hidden>
          {letter}
        </span>
        <b>
          <Time value={new Date(move.timeMs).toISOString()} />
        </b>
        <DigestChip digest={move.digest} />
      </p>
      <p className={styles.line}>
        <Mover actor={move.actor} reason={move.reason} />
        {move.reason !== "" && <Badge>{move.reason}</Badge>}
      </p>
      {findings === undefined ? (
        <p>Findings are not known</p>
      ) : (
        <SeverityStrip counts={severitiesIn(findings)} isMore={findings.isMore ?? false} isLettered />
      )}
    </div>
  );
}
