/** A tag as of a time. `endMs`: the last millisecond of the given second, in milliseconds since 1970. */
export interface TimedTag {
  tag: string;
  endMs: number;
}

const MARK = "--at--";
// The grammar of the tag itself is from the OCI distribution specification v1.1, "Pulling manifests".
const TIMED = /^([a-zA-Z0-9_][a-zA-Z0-9._-]*)--at--(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const MAX_TAG_LENGTH = 128;

/** The violation for creating a tag with a reserved name, worded to follow the name of the field. */
export const RESERVED_TAG = `must not hold ${MARK}: such a name stands for a tag as of a time, is read-only and is never pushed`;

/**
 * Parses `<tag>--at--<yyyymmddThhmmssZ>`, a tag as of a second in UTC. The second includes all its milliseconds, as a
 * date in the Tag History's `end` includes its whole day. Undefined for any other name, also for a date that does not
 * exist, hour 24 or second 60.
 */
export function parseTimedTag(name: string): TimedTag | undefined {
  const [, tag, year, month, day, hour, minute, second] = (name.length <= MAX_TAG_LENGTH && TIMED.exec(name)) || [];
  if (tag === undefined) return undefined;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const startMs = Date.parse(`${text}Z`);
  // Date.parse takes a day or hour too many as one of the next month or day.
  if (Number.isNaN(startMs) || !new Date(startMs).toISOString().startsWith(text)) return undefined;
  return { tag, endMs: startMs + 999 };
}

/** Whether no tag may be created under this name: it is a timed tag, or looks like one with a typing error. */
export function isReservedTag(name: string): boolean {
  return name.includes(MARK);
}
