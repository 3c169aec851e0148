import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { listTags, rollbackTags } from "../../../api/gen/registry.ts";
import { collection } from "../../../api/queries.ts";
import { useRights } from "../../../lib/rights.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Facts } from "../../../ui/page.tsx";
import { say } from "../../../ui/toasts.tsx";

export interface RollbackProps {
  repoUid: string;
  tag: string;
  /** What it is to point to again. */
  digest: string;
  /** What it points to now; empty when it was deleted. */
  current: string;
}

/** Makes the tag point again to a digest that it had, unless somebody else moves it in the meantime. */
export function Rollback({ repoUid, tag, digest, current }: RollbackProps) {
  const [isOpen, setOpen] = useState(false);
  const rights = useRights(repoUid);
  const client = useQueryClient();
  const needed = rights("CAP_TAG_UPDATE") ?? (current === "" ? rights("CAP_TAG_CREATE") : undefined);
  const reason = digest === current ? "The tag points to this digest now" : needed;
  return (
    <>
      <Button look="primary" disabledReason={reason} onClick={() => setOpen(true)}>
        Roll back to this version
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Roll ${tag} back?`}
        description="Nothing changes if the tag has moved in the meantime."
        action="Roll back"
        onConfirm={async () => {
          await call(rollbackTags, { repoUid, rollbacks: [{ name: tag, digest, expectedDigest: current }] });
          await client.invalidateQueries({ queryKey: [collection(listTags)] });
          say(`${tag} was rolled back`);
        }}
      >
        <Facts
          facts={[
            ["To", <code key="to">{digest}</code>],
            ["Expected now", current === "" ? "no such tag" : <code key="now">{current}</code>],
          ]}
        />
      </Confirm>
    </>
  );
}
