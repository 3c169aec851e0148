import { durationWords } from "../../../lib/durations.ts";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { createFeed, type FeedPreset } from "../../../api/gen/operations.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { CheckField } from "../../../ui/field.tsx";
import { Facts, Stack } from "../../../ui/page.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useFeedsChanged } from "./use-feeds-refresh.ts";

export interface AddDialogProps {
  presets: readonly FeedPreset[];
  onClose: () => void;
  /** Called when all of them are added. */
  onAdded: () => void;
}

/** Adds presets, after it was seen from where they are fetched, how often, and under which license. */
export function AddDialog({ presets, onClose, onAdded }: AddDialogProps) {
  const [isAccepted, setIsAccepted] = useState(false);
  // Those that are added no longer are presets that can be, and the dialog goes on to show them.
  const [shown] = useState(presets);
  const changed = useFeedsChanged();
  const [left] = useState(() => new Set(presets.map(({ name }) => name)));
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={shown.length === 1 ? `Add the feed ${shown[0]?.name}?` : `Add ${shown.length} feeds?`}
      description="The server fetches them within seconds, and from then on automatically."
      action="Add"
      look="primary"
      disabledReason={isAccepted ? undefined : "Confirm that they should be fetched"}
      onConfirm={async () => {
        try {
          for (const name of left) {
            await call(createFeed, { feed: {}, preset: name, acceptLicence: true });
            left.delete(name);
          }
        } finally {
          await changed();
        }
        onAdded();
        say(shown.length === 1 ? `${shown[0]?.name} is added` : `${shown.length} feeds are added`);
      }}
    >
      <Stack>
        {shown.map(({ name, covers, address, licence, interval }) => (
          <section key={name} aria-label={name}>
            <h3>{name}</h3>
            <Facts
              facts={[
                ["Covers", covers],
                ["From", address],
                ["Every", durationWords(interval)],
                ["License", licence],
              ]}
            />
          </section>
        ))}
        <CheckField
          label={
            shown.length === 1
              ? "Fetch it from there, under this license"
              : "Fetch them from there, under these licenses"
          }
          checked={isAccepted}
          onChange={(event) => setIsAccepted(event.target.checked)}
        />
      </Stack>
    </Confirm>
  );
}
