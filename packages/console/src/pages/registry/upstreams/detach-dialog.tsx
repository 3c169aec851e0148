import { useQuery } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";
import { detachRegistryUpstream, type RegistryUpstream } from "../../../api/gen/registry.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Facts } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useChanged } from "../../access/parts/use-refresh.ts";
import { detachPreviewQuery } from "./queries.ts";
import { stayingWords } from "./upstream-words.ts";

export interface DetachDialogProps {
  upstream: RegistryUpstream;
  onClose: () => void;
  /** Called when it is detached. */
  onGone: () => Promise<void>;
}

/** Makes the group of an upstream an ordinary one, after showing what stays and what is missing. */
export function DetachDialog({ upstream: { uid, registry }, onClose, onGone }: DetachDialogProps) {
  const { data, error } = useQuery(detachPreviewQuery(uid));
  const changed = useChanged();
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Detach ${registry}?`}
      description="The group becomes an ordinary one, such as when the registry is lost: images that came from there stay, and can be pushed to. Nothing more is fetched."
      action="Detach"
      disabledReason={data === undefined ? "What stays is not counted yet" : undefined}
      onConfirm={async () => {
        await call(detachRegistryUpstream, { uid });
        await onGone();
        await changed();
        say(`${registry}: detached`);
      }}
    >
      {data === undefined && error === null && <p role="status">Counting what stays…</p>}
      <ErrorNote error={error} />
      {data !== undefined && (
        <Facts
          facts={[
            ...stayingWords(data),
            [
              "Oldest comparison",
              <Time key="oldest" value={data.oldestCheckTime} none={data.tags === "0" ? "no tags" : "not known"} />,
            ],
            ["Not counted", "images at the registry that nobody has pulled here"],
          ]}
        />
      )}
    </Confirm>
  );
}
