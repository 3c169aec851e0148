import { useState } from "react";
import { call } from "../../../api/call.ts";
import { deleteFeed, type Feed, refreshFeed } from "../../../api/gen/operations.ts";
import { count } from "../../../lib/bytes.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useFeedsChanged } from "./use-feeds-refresh.ts";
import { IntervalDialog } from "./interval-dialog.tsx";

const OF_FILE = "It is set in a file on the server (MOORAGE_FEEDS_FILE); change it there";

/** What can be done with a feed. */
export function FeedActions({ feed, mayNot }: { feed: Feed; mayNot: string | undefined }) {
  const { name, address, fromFile, deleteTime, records } = feed;
  const [open, setOpen] = useState<"refresh" | "interval" | "remove">();
  const changed = useFeedsChanged();
  const close = (): void => setOpen(undefined);
  const isGoing = deleteTime === undefined ? undefined : "It is being removed";
  const isFixed = mayNot ?? isGoing ?? (fromFile ? OF_FILE : undefined);
  const isImported = address === "" ? "It has no address: it is imported from files only" : undefined;
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          {
            label: "Update now",
            disabledReason: mayNot ?? isGoing ?? isImported,
            onSelect: () => setOpen("refresh"),
          },
          { label: "Change interval…", disabledReason: isFixed, onSelect: () => setOpen("interval") },
          { label: "Remove…", isDanger: true, disabledReason: isFixed, onSelect: () => setOpen("remove") },
        ]}
      />
      <Confirm
        isOpen={open === "refresh"}
        onClose={close}
        title={`Update ${name} now?`}
        description={`The server will fetch ${address} within seconds.`}
        action="Update now"
        look="primary"
        onConfirm={async () => {
          await call(refreshFeed, { name });
          await changed();
          say(`${name} will be fetched within seconds`);
        }}
      />
      {open === "interval" && <IntervalDialog feed={feed} onClose={close} />}
      <Confirm
        isOpen={open === "remove"}
        onClose={close}
        title={`Remove the feed ${name}?`}
        description={`Its ${count(records)} records are removed, and findings that nothing else supports are closed. Images whose packages no other feed covers are no longer known: their state is “no data”.`}
        action="Remove"
        onConfirm={async () => {
          await call(deleteFeed, { name });
          await changed();
          say(`${name} is being removed`);
        }}
      />
    </>
  );
}
