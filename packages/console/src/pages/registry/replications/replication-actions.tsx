import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { type Replication, runReplication, stopReplication, updateReplication } from "../../../api/gen/registry.ts";
import { useRights } from "../../../lib/rights.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useChanged } from "../../access/parts/use-refresh.ts";

type Doing = "run" | "stop" | "pause" | "resume";

const DONE: Readonly<Record<Doing, string>> = {
  run: "Comparing all tags now",
  stop: "Pushes in progress stop within 5 seconds",
  pause: "Paused: nothing is pushed",
  resume: "Resumed",
};

/** What can be done with a replication now: run, stop, pause, resume. */
export function ReplicationActions({ replication }: { replication: Replication }) {
  const { uid, name, disabled, destination, deletions } = replication;
  const [isForcing, setForcing] = useState(false);
  const changed = useChanged();
  const mayNot = useRights(parentUid(uid))("CAP_REPLICATIONS_UPDATE");
  const now = useMutation({
    mutationFn: (what: Doing) => send(uid, what),
    onSuccess: async (_, what) => {
      await changed();
      say(`${name}: ${DONE[what]}`);
    },
    onError: ({ message }) => say(message),
  });
  const isPaused = disabled ? "It is paused" : undefined;
  const of = (what: Doing) => ({
    isBusy: now.isPending && now.variables === what,
    onClick: () => now.mutate(what),
  });
  return (
    <>
      <Button look="primary" disabledReason={mayNot ?? isPaused} {...of("run")}>
        Run now
      </Button>
      <Button disabledReason={mayNot ?? isPaused} {...of("stop")}>
        Stop
      </Button>
      <Button disabledReason={mayNot} {...of(disabled ? "resume" : "pause")}>
        {disabled ? "Resume" : "Pause"}
      </Button>
      {deletions === "REPLICATION_DELETIONS_FOLLOW" && (
        <Button look="danger" disabledReason={mayNot ?? isPaused} onClick={() => setForcing(true)}>
          Delete more than a tenth
        </Button>
      )}
      <Confirm
        isOpen={isForcing}
        onClose={() => setForcing(false)}
        title={`Delete more than a tenth at ${destination}?`}
        description="Every tag that this replication pushed and that was deleted here is deleted there, no matter how many. This cannot be undone."
        action="Run and delete"
        onConfirm={async () => {
          await call(runReplication, { uid, force: true });
          await changed();
          say(`${name}: ${DONE.run}`);
        }}
      />
    </>
  );
}

async function send(uid: string, what: Doing): Promise<unknown> {
  if (what === "run") return await call(runReplication, { uid });
  if (what === "stop") return await call(stopReplication, { uid });
  const replication = { uid, disabled: what === "pause" };
  return await call(updateReplication, { replication, updateMask: "disabled" });
}
