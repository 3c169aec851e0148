import { useState } from "react";
import { FormDialog } from "./form-dialog.tsx";
import type { FormSpec, ResourceSpec } from "./resource.ts";
import { useChanged } from "./use-refresh.ts";

export interface NewResourceProps<Row> {
  spec: ResourceSpec<Row>;
  /** The uid of the group that it will belong to; empty while none is chosen, which is then asked for. */
  group: string;
  onClose: () => void;
}

/** The form for a new resource. Where no group is chosen, that is its first question. */
export function NewResource<Row>({ spec: { noun, create }, group, onClose }: NewResourceProps<Row>) {
  const [chosen, setChosen] = useState(group);
  const changed = useChanged();
  if (chosen === "") return <FormDialog key="group" form={groupForm(noun, setChosen)} onClose={onClose} isStep />;
  return (
    <FormDialog
      key="form"
      form={create.form(chosen)}
      onClose={onClose}
      onDone={(made) => {
        void changed();
        create.done?.(made);
      }}
    />
  );
}

function groupForm(noun: string, onGroup: (uid: string) => void): FormSpec {
  return {
    title: `New ${noun}`,
    action: "Continue",
    fields: [{ name: "group", label: "In which group?", kind: "group" }],
    send: async ({ group = "" }) => {
      if (group === "") throw new Error("Choose the group that it belongs to.");
      onGroup(group);
    },
  };
}
