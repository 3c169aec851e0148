import type { Subscription } from "../../api/gen/events.ts";
import { Button } from "../../ui/button.tsx";
import { Command } from "../../ui/command.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Stack } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";

/** The secret of a subscription, the one time that the server shows it. */
export function SecretDialog({
  subscription,
  onClose,
}: {
  subscription: Subscription | undefined;
  onClose: () => void;
}) {
  if (subscription === undefined) return null;
  const { secret, oldSecretExpireTime } = subscription;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Save this secret now"
      description="Your receiver verifies events with it. It is shown this once; later you can only make a new one."
      actions={
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      }
    >
      <Stack>
        <Command text={secret} label="secret" />
        {oldSecretExpireTime !== undefined && (
          <p>
            The previous secret also signs until <Time value={oldSecretExpireTime} />.
          </p>
        )}
      </Stack>
    </Dialog>
  );
}
