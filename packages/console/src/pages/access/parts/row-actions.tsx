import { useState } from "react";
import { useRights } from "../../../lib/rights.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Menu, type MenuItem } from "../../../ui/menu.tsx";
import { say } from "../../../ui/toasts.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { useChanged } from "./use-refresh.ts";
import type { ResourceSpec } from "./resource.ts";
import { parentOf } from "./tree.ts";

/** What can be done with one resource of a list. */
export function RowActions<Row>({ spec, row }: { spec: ResourceSpec<Row>; row: Row }) {
  const { noun, uidOf, nameOf, edit, remove, isFixed, groupOf, actions } = spec;
  const [open, setOpen] = useState<"edit" | "remove">();
  const rights = useRights(groupOf?.(row) ?? parentOf(uidOf(row)));
  const changed = useChanged();
  const name = nameOf(row);
  const fixed = isFixed?.(row);
  const verb = remove.verb ?? "Delete";
  const items: MenuItem[] = [
    ...(actions?.(row) ?? []),
    ...(edit === undefined
      ? []
      : [{ label: "Edit", onSelect: () => setOpen("edit"), disabledReason: fixed ?? rights(edit.capability) }]),
    {
      label: verb,
      onSelect: () => setOpen("remove"),
      isDanger: true,
      disabledReason: fixed ?? rights(remove.capability),
    },
  ];
  return (
    <>
      <Menu label={`Actions for ${name}`} items={items} />
      {open === "edit" && edit !== undefined && (
        <FormDialog form={edit.form(row)} onClose={() => setOpen(undefined)} onDone={() => void changed()} />
      )}
      <Confirm
        isOpen={open === "remove"}
        onClose={() => setOpen(undefined)}
        title={`${verb} ${noun} ${name}?`}
        description={remove.effect}
        action={verb}
        onConfirm={async () => {
          await remove.send(uidOf(row));
          await changed();
          say(`${name}: done`);
        }}
      >
        {open === "remove" && remove.about?.(row)}
      </Confirm>
    </>
  );
}
