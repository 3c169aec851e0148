import { counted } from "../../lib/bytes.ts";
import styles from "./left-out.module.css";

export interface LeftOutProps {
  /** Undefined: not known before the end of the list. */
  tags: number | undefined;
  /** The letters that are looked for; empty without. */
  q: string;
  /** Whether all tags were looked at. */
  isEnd: boolean;
}

/** How many tags the filters keep from being shown. */
export function LeftOut({ tags, q, isEnd }: LeftOutProps) {
  if (tags === undefined)
    return (
      <p role="status" className={styles.words}>
        Tags that do not fit the filters are left out.
      </p>
    );
  const among = q === "" ? "" : ` whose ${tags === 1 ? "name holds" : "names hold"} “${q}”`;
  return (
    <p role="status" className={styles.words}>
      {isEnd || q === "" ? "" : "So far "}
      {counted(tags, "tag")}
      {among} {tags === 1 ? "does" : "do"} not fit the filters.
    </p>
  );
}

/** How many tags do not fit; undefined while that is not known. Of a search those whose names were looked at. */
export function leftOutOf(
  pages: readonly { leftOut: number }[],
  { isSearch, all, total }: { isSearch: boolean; all: number | undefined; total: number | undefined },
): number | undefined {
  if (isSearch) return pages.reduce((sum, { leftOut }) => sum + leftOut, 0);
  return all === undefined || total === undefined ? undefined : Math.max(all - total, 0);
}
