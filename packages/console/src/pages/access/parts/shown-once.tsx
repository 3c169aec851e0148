import type { ReactNode } from "react";
import { Button } from "../../../ui/button.tsx";
import { Command } from "../../../ui/command.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Note } from "../../../ui/note.tsx";
import { Stack } from "../../../ui/page.tsx";

export interface ShownOnceProps {
  title: string;
  /** Texts to copy, each with what it is. */
  texts: readonly (readonly [label: string, text: string])[];
  onClose: () => void;
  children?: ReactNode;
}

/** A secret that only the answer to its creation has: with a button to copy it, until the dialog is closed. */
export function ShownOnce({ title, texts, onClose, children }: ShownOnceProps) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      actions={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <Stack>
        <Note look="warning">This is shown only once. The server does not keep it.</Note>
        {texts.map(([label, text]) => (
          <div key={label}>
            <h3>{label}</h3>
            <Command text={text} label={label.toLowerCase()} />
          </div>
        ))}
        {children}
      </Stack>
    </Dialog>
  );
}
