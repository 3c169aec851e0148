import { type FormEvent, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Stack } from "../../../ui/page.tsx";
import { SignInAgain } from "./sign-in-again.tsx";

export interface NameDialogProps {
  title: string;
  initial: string;
  onClose: () => void;
  onName: (name: string) => Promise<void>;
}

/** Asks what a passkey is called. */
export function NameDialog({ title, initial, onClose, onName }: NameDialogProps) {
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("label")).trim();
    try {
      await onName(name);
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title={title}>
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          <TextField
            label="Name"
            name="label"
            defaultValue={initial}
            help="Where it is stored, such as laptop or phone"
            maxLength={64}
            autoFocus
          />
          <ErrorNote error={error} />
          <SignInAgain error={error} />
          <Button look="primary" type="submit">
            Continue
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}
