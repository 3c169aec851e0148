import { type FormEvent, useId, useState } from "react";
import { call } from "../../api/call.ts";
import { type DeliveryState, redeliverEvents } from "../../api/gen/events.ts";
import { counted } from "../../lib/bytes.ts";
import { localTime, timeOfLocal } from "../../lib/local-time.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { Stack } from "../../ui/page.tsx";
import { say } from "../../ui/toasts.tsx";

const HOUR_MS = 3_600_000;

export interface ReplayDialogProps {
  /** The subscription. */
  uid: string;
  onClose: () => void;
  onDone: () => Promise<void>;
}

/** Sends the deliveries of a time range once more, with as many calls as that takes. */
export function ReplayDialog({ uid, onClose, onDone }: ReplayDialogProps) {
  const formId = useId();
  const [{ isBusy, error, count }, setState] = useState<{ isBusy: boolean; error?: unknown; count: number }>({
    isBusy: false,
    count: 0,
  });
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const endTime = timeOfLocal(form.get("until")) ?? new Date().toISOString();
    const state = String(form.get("state")) as DeliveryState | "";
    let startTime = timeOfLocal(form.get("since"));
    let sent = 0;
    try {
      while (startTime !== undefined) {
        setState({ isBusy: true, count: sent });
        const states = state === "" ? [] : [state];
        const answer = await call(redeliverEvents, { uid, startTime, endTime, states });
        sent += answer.count;
        startTime = answer.nextStartTime;
      }
      say(`${counted(sent, "event")} sent again`);
      await onDone();
      onClose();
    } catch (problem) {
      setState({ isBusy: false, error: problem, count: sent });
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Send events again"
      description="Every event of that time is sent to the receiver again, with the same id."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={formId} isBusy={isBusy}>
            {isBusy ? `Sending, ${counted(count, "event")} so far` : "Send again"}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)}>
        <Stack>
          <SelectField label="Which" name="state" defaultValue="DELIVERY_STATE_DEAD">
            <option value="DELIVERY_STATE_DEAD">dead letters: delivery was given up</option>
            <option value="DELIVERY_STATE_DELIVERED">delivered events</option>
            <option value="">both</option>
          </SelectField>
          <TextField
            label="From"
            name="since"
            type="datetime-local"
            step={1}
            required
            defaultValue={localTime(new Date(Date.now() - HOUR_MS).toISOString())}
          />
          <TextField
            label="Until"
            name="until"
            type="datetime-local"
            step={1}
            help="Leave empty to use the current time"
          />
          <ErrorNote error={error} />
        </Stack>
      </form>
    </Dialog>
  );
}
