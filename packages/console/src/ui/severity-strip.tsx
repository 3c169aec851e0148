import { SEVERITY_PLACES, type SeverityCounts, severityWords } from "../lib/severities.ts";
import styles from "./severity-strip.module.css";

export interface SeverityStripProps {
  counts: SeverityCounts;
  /** Whether there are more than were counted. */
  isMore?: boolean;
  /** Whether each number carries its letter: outside tables, where no head says what it is. */
  isLettered?: boolean;
}

/** Findings by severity: four numbers in fixed places, and a fifth for those of other or unknown severity. */
export function SeverityStrip({ counts, isMore = false, isLettered = false }: SeverityStripProps) {
  const words = severityWords(counts) + (isMore ? ", and more" : "");
  const cells = [...SEVERITY_PLACES.map(([place, , letter]) => [place, letter] as const), ["other", "?"] as const];
  return (
    <span role="img" aria-label={words} title={words} className={styles.strip} data-lettered={isLettered || undefined}>
      {cells.map(([place, letter]) => {
        const count = counts[place];
        if (place === "other" && count === 0) return null;
        return (
          <span key={place} className={count > 0 ? styles[place] : undefined}>
            {(isLettered || place === "other") && <i>{letter}</i>}
            {count}
            {isMore && count > 0 && "+"}
          </span>
        );
      })}
    </span>
  );
}

/** The head of a column of strips. */
export function SeverityHead() {
  return (
    <span className={styles.head}>
      {SEVERITY_PLACES.map(([place, word, , short]) => (
        <abbr key={place} title={word}>
          {short}
        </abbr>
      ))}
    </span>
  );
}
