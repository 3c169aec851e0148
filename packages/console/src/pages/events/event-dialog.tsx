import type { Event } from "../../api/gen/events.ts";
import { Json } from "../../ui/json.tsx";
import { IdentityName } from "../../lib/identity-name.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts, Stack } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";

/** An event as it is sent: its attributes, and its data as text. */
export function EventDialog({ event, onClose }: { event: Event | undefined; onClose: () => void }) {
  if (event === undefined) return null;
  return (
    <Dialog isOpen isDrawer onClose={onClose} title={event.type} actions={<Button onClick={onClose}>Close</Button>}>
      <Stack>
        <Facts
          facts={[
            ["When", <Time key="time" value={event.time} />],
            ["Who", <IdentityName key="actor" uid={event.actor} none="this server, or nobody" />],
            ["Subject", <code key="subject">{event.subject}</code>],
            ["Number of the subject", event.sequence],
            ["Group", <code key="group">{event.group}</code>],
            ["Id", <code key="id">{event.id}</code>],
          ]}
        />
        <Json value={event.data ?? {}} label="data of the event" />
      </Stack>
    </Dialog>
  );
}
