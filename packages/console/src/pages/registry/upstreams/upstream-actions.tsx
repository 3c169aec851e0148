import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { followRegistryUpstream, type RegistryUpstream, updateRegistryUpstream } from "../../../api/gen/registry.ts";
import { useRights } from "../../../lib/rights.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useChanged } from "../../access/parts/use-refresh.ts";
import { DetachDialog } from "./detach-dialog.tsx";

export interface UpstreamActionsProps {
  upstream: RegistryUpstream;
  /** Called when the upstream is no more. */
  onGone: () => Promise<void>;
}

/** What can be done with an upstream now: copy what it follows, turn it off or on, detach it. */
export function UpstreamActions({ upstream, onGone }: UpstreamActionsProps) {
  const { uid, registry, disabled, follow } = upstream;
  const [open, setOpen] = useState<"force" | "detach">();
  const changed = useChanged();
  const rights = useRights(parentUid(uid));
  const mayNot = rights("CAP_REGISTRY_UPSTREAMS_UPDATE");
  const cannotFollow =
    mayNot ?? (follow === undefined ? "It copies only what is pulled" : disabled ? "It is off" : undefined);
  const now = useMutation({
    mutationFn: (what: "follow" | "switch") => send(upstream, what),
    onSuccess: async (_, what) => {
      await changed();
      say(`${registry}: ${what === "follow" ? "copying starts now" : disabled ? "on" : "off"}`);
    },
    onError: ({ message }) => say(message),
  });
  const of = (what: "follow" | "switch") => ({
    isBusy: now.isPending && now.variables === what,
    onClick: () => now.mutate(what),
  });
  return (
    <>
      <Button look="primary" disabledReason={cannotFollow} {...of("follow")}>
        Copy now
      </Button>
      <Button disabledReason={mayNot} {...of("switch")}>
        {disabled ? "Turn on" : "Turn off"}
      </Button>
      {follow?.exact === true && (
        <Button look="danger" disabledReason={cannotFollow} onClick={() => setOpen("force")}>
          Delete more than a tenth
        </Button>
      )}
      <Button look="danger" disabledReason={rights("CAP_REGISTRY_UPSTREAMS_DELETE")} onClick={() => setOpen("detach")}>
        Detach
      </Button>
      <Confirm
        isOpen={open === "force"}
        onClose={() => setOpen(undefined)}
        title={`Delete more than a tenth of what came from ${registry}?`}
        description="Every tag that was copied and is gone there is deleted here, no matter how many. This cannot be undone."
        action="Copy and delete"
        onConfirm={async () => {
          await call(followRegistryUpstream, { uid, force: true });
          await changed();
          say(`${registry}: copying starts now`);
        }}
      />
      {open === "detach" && <DetachDialog upstream={upstream} onClose={() => setOpen(undefined)} onGone={onGone} />}
    </>
  );
}

async function send({ uid, disabled }: RegistryUpstream, what: "follow" | "switch"): Promise<unknown> {
  if (what === "follow") return await call(followRegistryUpstream, { uid });
  return await call(updateRegistryUpstream, { registryUpstream: { uid, disabled: !disabled }, updateMask: "disabled" });
}
