import { exactTime, isRecorded, relativeTime } from "../lib/time.ts";

export interface TimeProps {
  value: string | undefined;
  /** In place of a time that is not there. */
  none?: string;
}

/** A time in words, such as "3 h ago", and after a week as a date; the exact time is shown under the pointer. */
export function Time({ value, none = "never" }: TimeProps) {
  if (value === undefined || value === "") return <span>{none}</span>;
  if (!isRecorded(value)) return <span>not recorded</span>;
  return (
    <time dateTime={value} title={exactTime(value)}>
      {relativeTime(value, Date.now())}
    </time>
  );
}
