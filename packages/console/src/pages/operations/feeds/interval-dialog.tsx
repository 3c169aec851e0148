import { useState } from "react";
import { call } from "../../../api/call.ts";
import { type Feed, updateFeed } from "../../../api/gen/operations.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { TextField } from "../../../ui/field.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useFeedsChanged } from "./use-feeds-refresh.ts";

const HOUR_S = 3_600;

/** Changes how often a feed is fetched. */
export function IntervalDialog({ feed: { name, interval = "" }, onClose }: { feed: Feed; onClose: () => void }) {
  const [hours, setHours] = useState(String(Number.parseFloat(interval) / HOUR_S));
  const changed = useFeedsChanged();
  const seconds = Math.round(Number(hours) * HOUR_S);
  const isRight = hours.trim() !== "" && Number.isFinite(seconds) && seconds > 0;
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Interval of ${name}`}
      description="Every answer that relies on data older than the interval says so."
      action="Change"
      look="primary"
      disabledReason={isRight ? undefined : "Enter a number of hours"}
      onConfirm={async () => {
        await call(updateFeed, { feed: { name, interval: `${seconds}s` }, updateMask: "interval" });
        await changed();
        say(`${name}: changed`);
      }}
    >
      <TextField
        label="Hours between fetches"
        help="Such as 6, or 0.5; from a minute to a year"
        inputMode="decimal"
        value={hours}
        onChange={(event) => setHours(event.target.value)}
      />
    </Confirm>
  );
}
