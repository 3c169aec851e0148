import { LongName } from "../../ui/long-name.tsx";
import styles from "./tag-cells.module.css";

const MAX_SHOWN = 3;

/** The names of one digest: the first, and those beside it, each with its own page. */
export function TagNames({ repo, names }: { repo: string; names: readonly string[] }) {
  const [first = "", ...others] = names;
  const rest = others.slice(MAX_SHOWN - 1);
  return (
    <span className={styles.names}>
      <TagLink repo={repo} name={first} />
      {others.slice(0, MAX_SHOWN - 1).map((name) => (
        <span key={name} className={styles.other}>
          <TagLink repo={repo} name={name} />
        </span>
      ))}
      {rest.length > 0 && (
        <span className={styles.none} title={rest.join(", ")}>
          +{rest.length}
        </span>
      )}
    </span>
  );
}

function TagLink({ repo, name }: { repo: string; name: string }) {
  return (
    <a className={styles.tag} aria-label={name} href={`/tag?name=${encodeURIComponent(`${repo}:${name}`)}`}>
      <LongName name={name} />
    </a>
  );
}
