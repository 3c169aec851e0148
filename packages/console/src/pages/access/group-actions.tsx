import { useState } from "react";
import { call } from "../../api/call.ts";
import { deleteGroup, type Group } from "../../api/gen/iam.ts";
import { useRights } from "../../lib/rights.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Menu } from "../../ui/menu.tsx";
import { say } from "../../ui/toasts.tsx";
import { editGroupForm, newGroupForm } from "./group-forms.ts";
import { useChanged } from "./parts/use-refresh.ts";
import { FormDialog } from "./parts/form-dialog.tsx";

export interface GroupActionsProps {
  group: Group;
  path: string;
  /** After it was deleted. */
  onDeleted?: () => void;
}

/** What can be done with a group. */
export function GroupActions({ group, path, onDeleted }: GroupActionsProps) {
  const [open, setOpen] = useState<"new" | "edit" | "delete">();
  const rights = useRights(group.uid);
  const changed = useChanged();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Menu
        label={`Actions for ${path}`}
        items={[
          {
            label: "New group below",
            onSelect: () => setOpen("new"),
            disabledReason: rights("CAP_IAM_GROUPS_CREATE"),
          },
          {
            label: "Rename or describe",
            onSelect: () => setOpen("edit"),
            disabledReason: rights("CAP_IAM_GROUPS_UPDATE"),
          },
          {
            label: "Delete",
            isDanger: true,
            onSelect: () => setOpen("delete"),
            disabledReason: rights("CAP_IAM_GROUPS_DELETE"),
          },
        ]}
      />
      {open === "new" && (
        <FormDialog form={newGroupForm(group.uid, path)} onClose={close} onDone={() => void changed()} />
      )}
      {open === "edit" && <FormDialog form={editGroupForm(group)} onClose={close} onDone={() => void changed()} />}
      <Confirm
        isOpen={open === "delete"}
        onClose={close}
        title={`Delete group ${path}?`}
        description="Its members lose the roles they have on it. A group that still has images, people, machines, or groups below it cannot be deleted."
        action="Delete"
        onConfirm={async () => {
          await call(deleteGroup, { uid: group.uid });
          onDeleted?.();
          await changed();
          say(`Group ${path} is deleted`);
        }}
      />
    </>
  );
}
