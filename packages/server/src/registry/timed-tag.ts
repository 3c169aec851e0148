/** A tag as of a moment: `endMs` is the last millisecond of the second that was named, in milliseconds since 1970. */
export interface TimedTag {
  tag: string;
  endMs: number;
}

const MARK = "--at--";
// The tag's own grammar is that of the OCI distribution specification v1.1, "Pulling manifests".
const TIMED = /^([a-zA-Z0-9_][a-zA-Z0-9._-]*)--at--(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const MAX_TAG_LENGTH = 128;

/** What is wrong with a reserved name, where a tag is to be made: it follows the name of the field. */
export const RESERVED_TAG = `must not hold ${MARK}: such a name stands for a tag as of a time, is read-only and is never pushed`;

/**
 * Reads `<tag>--at--<yyyymmddThhmmssZ>`, a tag as of a second of UTC. A second stands for all its milliseconds, as a
 * date stands for its whole day in the Tag History's `end`. Undefined: the name is none, as with a day that its month
 * does not have, hour 24 or second 60.
 */
export function parseTimedTag(name: string): TimedTag | undefined {
  const [, tag, year, month, day, hour, minute, second] = (name.length <= MAX_TAG_LENGTH && TIMED.exec(name)) || [];
  if (tag === undefined) return undefined;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const startMs = Date.parse(`${text}Z`);
  // A day or hour too many is taken for the next month or day.
  if (Number.isNaN(startMs) || !new Date(startMs).toISOString().startsWith(text)) return undefined;
  return { tag, endMs: startMs + 999 };
}

/** Whether no tag may be made under this name: it is a tag as of a time, or looks like one that was mistyped. */
export function isReservedTag(name: string): boolean {
  return name.includes(MARK);
}
