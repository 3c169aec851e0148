import { Note } from "../../ui/note.tsx";
import { Time } from "../../ui/time.tsx";
import { counted } from "../../lib/bytes.ts";

/** What is known of pulls at all. */
export interface Coverage {
  since?: string;
  lossyDays: readonly string[];
  lossyDayCount: number;
}

/** Since when pulls are counted, and on which days some are missing: without it a number says nothing. */
export function CoverageNote({ coverage }: { coverage: Coverage | undefined }) {
  if (coverage?.since === undefined) return <Note look="warning">This server does not count pulls.</Note>;
  const { since, lossyDays, lossyDayCount } = coverage;
  return (
    <Note>
      Pulls have been counted since <Time value={since} />. Nothing is known about the time before that.
      {lossyDayCount > 0 &&
        ` Some pulls are missing on ${counted(lossyDayCount, "day")}${
          lossyDays.length > 0 ? `: ${lossyDays.join(", ")}` : ""
        }${lossyDayCount > lossyDays.length ? " and others" : ""}.`}
    </Note>
  );
}
