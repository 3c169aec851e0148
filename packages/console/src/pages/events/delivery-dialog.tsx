import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { type Delivery, listDeliveries, redeliverEvent } from "../../api/gen/events.ts";
import { collection } from "../../api/queries.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Facts, Stack } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { say } from "../../ui/toasts.tsx";
import { answerOf } from "./delivery-answer.ts";
import { DeliveryBadge } from "./states.tsx";

/** A delivery with each of its attempts; it can be sent again. */
export function DeliveryDialog({ delivery, onClose }: { delivery: Delivery | undefined; onClose: () => void }) {
  const client = useQueryClient();
  const rights = useRights(delivery?.uid ?? "");
  const again = useMutation({
    mutationFn: (uid: string) => call(redeliverEvent, { uid }),
    onSuccess: async () => {
      say("The event will be sent again");
      await client.invalidateQueries({ queryKey: [collection(listDeliveries)] });
    },
  });
  if (delivery === undefined) return null;
  const { uid, eventId, eventType, eventSubject, state, nextTryTime, createTime, attempts } = delivery;
  return (
    <Dialog
      isOpen
      isDrawer
      onClose={onClose}
      title={eventType}
      actions={
        <>
          <Button
            disabledReason={rights("CAP_EVENTS_SUBSCRIPTION_UPDATE")}
            isBusy={again.isPending}
            onClick={() => again.mutate(uid)}
          >
            Send again
          </Button>
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      <Stack>
        <ErrorNote error={again.error} />
        <Facts
          facts={[
            ["State", <DeliveryBadge key="state" state={state} />],
            ["Since", <Time key="since" value={createTime} />],
            ["Next attempt", nextTryTime && <Time key="next" value={nextTryTime} />],
            ["Subject", <code key="subject">{eventSubject}</code>],
            ["Event", <code key="id">{eventId}</code>],
          ]}
        />
        <h3>Attempts</h3>
        {attempts.length === 0 ? (
          <p>No attempt has finished yet.</p>
        ) : (
          <ol aria-label="Attempts">
            {attempts.map(({ startTime, latency, status, error }, index) => (
              <li key={`${startTime} ${index}`}>
                <Time value={startTime} />: {answerOf(status, error)}
                {latency !== undefined && `, after ${latency.replace(/s$/, " s")}`}
              </li>
            ))}
          </ol>
        )}
      </Stack>
    </Dialog>
  );
}
