import { ArrowUp } from "lucide-react";
import type { Finding } from "../../../api/gen/vulnerabilities.ts";
import { count } from "../../../lib/bytes.ts";
import { bestChanges, endWords } from "./best-changes.ts";
import styles from "./fix-first.module.css";

const MAX = 3;

/** The changes of packages that end most of these findings. Nothing where none has a fix. */
export function FixFirst({ findings }: { findings: readonly Finding[] }) {
  const changes = bestChanges(findings, MAX);
  if (changes.length === 0) return null;
  return (
    <ul className={styles.changes} aria-label="Fix first">
      {changes.map((change) => (
        <li key={`${change.package} ${change.version}`}>
          <span className={styles.icon}>
            <ArrowUp size={16} aria-hidden />
          </span>
          <div>
            <strong>
              Update {change.package} to {change.version}
            </strong>
            <p>{endWords(change)}</p>
          </div>
          <span className={styles.count} aria-hidden>
            {count(change.total)}
          </span>
        </li>
      ))}
    </ul>
  );
}
