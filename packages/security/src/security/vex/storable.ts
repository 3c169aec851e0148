const MAX_IDS = 50;
const MAX_ID = 200;
const MAX_TEXT = 2_048;

/** A text that every database takes, cut where it is too long. */
export function storable(text: string): string {
  return text.replaceAll("\0", "").slice(0, MAX_TEXT).toWellFormed();
}

/** Those of the ids that are stored: the first, without those that are too long for one. */
export function storableIds(ids: readonly string[]): string[] {
  return ids
    .filter((id) => id.length <= MAX_ID)
    .slice(0, MAX_IDS)
    .map(storable);
}
