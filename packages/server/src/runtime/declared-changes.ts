import { type Columns, type DeclarableTable, DeclarationError, type WatchedRow } from "@moorage/kernel/store";
import { tagKey } from "@moorage/registry/registry";

// Whether a command declares the cached answers that it ends (ADR 32): looked at in tests that watch rows. What the
// tables of this list hold is in answers that are cached by keys; a change of any other table ends all of them.

/** The keys that a change of a row ends; "everything" for one that no key names. */
type Ends = (row: WatchedRow) => readonly string[] | "everything";

const NOTHING: Ends = () => [];

/** The row's tag, unless only these columns change. */
const tagOf =
  (repo: string, name: string, ...unread: string[]): Ends =>
  (row) =>
    changesOnly(row, unread)
      ? []
      : [row.before, row.after].flatMap((columns) =>
          columns === null ? [] : [tagKey(String(columns[repo]), String(columns[name]))],
        );

/** Content by its digest: new content is in no answer, since none says that it is missing. */
const contentBut =
  (...unread: string[]): Ends =>
  (row) =>
    row.change === "insert" || changesOnly(row, unread) ? [] : "everything";

const ENDS: Record<DeclarableTable, Ends> = {
  tags: tagOf("parent", "name", "last_pull_time"),
  tag_history: tagOf("repo", "tag"),
  manifests: contentBut("touch_time", "pushed_by", "may_advise", "architecture", "image_size", "labels"),
  manifest_references: contentBut(),
  blobs: contentBut(),
  repo_blobs: contentBut("touch_time"),
  // No answer that is cached by keys is made of these.
  audit_entries: NOTHING,
  counters: NOTHING,
  quotas: NOTHING,
  quota_refs: NOTHING,
  image_archives: NOTHING,
  image_archive_names: NOTHING,
};

function changesOnly({ change, before, after }: WatchedRow, unread: readonly string[]): boolean {
  return change === "update" && differing(before ?? {}, after ?? {}).every((column) => unread.includes(column));
}

function differing(before: Columns, after: Columns): string[] {
  return Object.keys(after).filter((column) => JSON.stringify(after[column]) !== JSON.stringify(before[column]));
}

/**
 * Throws a DeclarationError when the command has changed a row without a key that cached answers with it depend on.
 * `keys`: what it declares; undefined for everything.
 */
export function requireDeclaredChanges(
  command: string,
  keys: readonly string[] | undefined,
  rows: readonly WatchedRow[],
): void {
  if (keys === undefined) return;
  const declared = new Set(keys);
  const missing = new Set<string>();
  for (const row of rows) {
    if (row.change === "proposed" || !(row.table in ENDS)) continue;
    const ends = ENDS[row.table as DeclarableTable](row);
    const lacking = ends === "everything" ? ["everything"] : ends.filter((key) => !declared.has(key));
    for (const each of lacking) missing.add(`${row.change} of ${row.table} ends ${each}`);
  }
  if (missing.size === 0) return;
  throw new DeclarationError(
    `${command} does not declare what it changes: ${[...missing].join("; ")}; it declares ${JSON.stringify(keys)}`,
  );
}
