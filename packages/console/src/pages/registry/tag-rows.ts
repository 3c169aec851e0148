import type { TagRow } from "./queries.ts";

/** A row of the list of tags: names of one digest that were moved to it together. */
export interface NamedVersion {
  /** The first of them in the order of the list, by which the rest of the row is read. */
  first: TagRow;
  /** All of them, the first one included. */
  tags: TagRow[];
}

/** What the address says for a row for each tag. */
export const EACH_TAG = "tags";

// A client pushes the tags of an image one after the other.
const MAX_APART_MS = 120_000;

/**
 * The rows of tags, in their order: several names share the row of the first one where they have its digest, were moved
 * at nearly the same time, and are both deprecated or both not. What was moved there later has a row of its own, since
 * somebody else may have done that. `isEach`: a row for each.
 */
export function rowsOfTags(tags: readonly TagRow[], isEach: boolean): NamedVersion[] {
  if (isEach) return tags.map((tag) => ({ first: tag, tags: [tag] }));
  const rows: NamedVersion[] = [];
  const byDigest = new Map<string, NamedVersion[]>();
  for (const tag of tags) {
    const known = byDigest.get(tag.digest) ?? [];
    const row = known.find(({ first }) => isTogether(first, tag));
    if (row !== undefined) {
      row.tags.push(tag);
      continue;
    }
    const added = { first: tag, tags: [tag] };
    rows.push(added);
    byDigest.set(tag.digest, [...known, added]);
  }
  return rows;
}

function isTogether(one: TagRow, other: TagRow): boolean {
  if (one.deprecated !== other.deprecated) return false;
  // NaN, where a time is not known, is not within.
  return Math.abs(Date.parse(one.updateTime ?? "") - Date.parse(other.updateTime ?? "")) <= MAX_APART_MS;
}

/** The two tags that a comparison of the selected ones is about: one of each digest; undefined unless there are two. */
export function comparedTags(selected: readonly TagRow[]): readonly [TagRow, TagRow] | undefined {
  const [newer, older, third] = [
    ...new Map(selected.toReversed().map((tag) => [tag.digest, tag])).values(),
  ].toReversed();
  return newer === undefined || older === undefined || third !== undefined ? undefined : [newer, older];
}
