import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import {
  deleteSubscription,
  listDeliveries,
  listSubscriptions,
  pauseSubscription,
  resumeSubscription,
  rotateSubscriptionSecret,
  type Subscription,
  testSubscription,
} from "../../api/gen/events.ts";
import { collection } from "../../api/queries.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { say } from "../../ui/toasts.tsx";
import { isSigned } from "./format-words.ts";
import { ReplayDialog } from "./replay-dialog.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

/** What can be done with a subscription. */
export function SubscriptionActions({ subscription }: { subscription: Subscription }) {
  const { uid, sink, state, format } = subscription;
  const client = useQueryClient();
  const navigate = useNavigate();
  const rights = useRights(uid);
  const [open, setOpen] = useState<"replay" | "rotate" | "delete">();
  const [rotated, setRotated] = useState<Subscription>();
  const [error, setError] = useState<unknown>();
  const mayNot = rights("CAP_EVENTS_SUBSCRIPTION_UPDATE");
  const refresh = async (): Promise<void> => {
    await Promise.all(
      [listSubscriptions, listDeliveries].map((method) => client.invalidateQueries({ queryKey: [collection(method)] })),
    );
  };
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    setError(undefined);
    try {
      await work();
      say(done);
      await refresh();
    } catch (problem) {
      setError(problem);
    }
  };
  const isActive = state === "SUBSCRIPTION_STATE_ACTIVE";
  return (
    <>
      <Button
        disabledReason={mayNot}
        onClick={() => void act(() => call(testSubscription, { uid }), "A test event is being sent")}
      >
        Send a test
      </Button>
      {isActive ? (
        <Button
          disabledReason={mayNot}
          onClick={() => void act(() => call(pauseSubscription, { uid }), "Paused: events are kept")}
        >
          Pause
        </Button>
      ) : (
        <Button
          disabledReason={mayNot}
          onClick={() => void act(() => call(resumeSubscription, { uid }), "Resumed: waiting events are sent first")}
        >
          Resume
        </Button>
      )}
      <Button disabledReason={mayNot} onClick={() => setOpen("replay")}>
        Send again…
      </Button>
      {isSigned(format) && (
        <Button disabledReason={mayNot} onClick={() => setOpen("rotate")}>
          New secret…
        </Button>
      )}
      <Button look="danger" disabledReason={rights("CAP_EVENTS_SUBSCRIPTION_DELETE")} onClick={() => setOpen("delete")}>
        Delete…
      </Button>
      <ErrorNote error={error} />
      {open === "replay" && <ReplayDialog uid={uid} onClose={() => setOpen(undefined)} onDone={refresh} />}
      <Confirm
        isOpen={open === "rotate"}
        onClose={() => setOpen(undefined)}
        title="Create a new secret"
        description="The current secret also signs for 24 hours, so that the receiver can switch."
        action="Create a new secret"
        onConfirm={async () => {
          setRotated(await call(rotateSubscriptionSecret, { uid }));
          await refresh();
        }}
      />
      <Confirm
        isOpen={open === "delete"}
        onClose={() => setOpen(undefined)}
        title="Delete the webhook"
        description={`Nothing more is sent to ${sink}, including events that are waiting. Its delivery history is deleted.`}
        action="Delete"
        onConfirm={async () => {
          await call(deleteSubscription, { uid });
          await navigate({ to: "/events/subscriptions" });
          await refresh();
        }}
      />
      <SecretDialog subscription={rotated} onClose={() => setRotated(undefined)} />
    </>
  );
}
