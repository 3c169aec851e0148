import { exactTime, relativeTime } from "../lib/time.ts";

/** A time in words, such as "3 hours ago"; the exact time is shown under the pointer. */
export function Time({ value }: { value: string | undefined }) {
  if (value === undefined || value === "") return <span>never</span>;
  return (
    <time dateTime={value} title={exactTime(value)}>
      {relativeTime(value, Date.now())}
    </time>
  );
}
