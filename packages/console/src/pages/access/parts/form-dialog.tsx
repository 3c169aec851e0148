import { type FormEvent, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Stack } from "../../../ui/page.tsx";
import { fieldErrors } from "./form-errors.ts";
import { FormField } from "./form-field.tsx";
import type { FormSpec, Values } from "./resource.ts";

export interface FormDialogProps {
  form: FormSpec;
  onClose: () => void;
  /** Called with the answer, before the dialog closes. */
  onDone?: (made: unknown) => void;
  /** Whether another form follows: it stays open when it is sent. */
  isStep?: boolean;
}

/** A form in a dialog: it stays with what was typed until the server has accepted it. */
export function FormDialog({ form, onClose, onDone, isStep = false }: FormDialogProps) {
  const { title, action, description, fields } = form;
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, initial = "" }) => [name, initial])),
  );
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const shown = fields.filter(({ when }) => when?.(values) ?? true);
  const { byName, rest } = fieldErrors(
    state.error,
    shown.map(({ name }) => name),
  );
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      const made = await form.send(Object.fromEntries(shown.map(({ name }) => [name, values[name] ?? ""])));
      setState({ isBusy: false });
      if (!isStep) onClose();
      onDone?.(made);
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      {...(description !== undefined && { description })}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="access-form" isBusy={state.isBusy}>
            {action}
          </Button>
        </>
      }
    >
      <form id="access-form" onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          {shown.map((spec) => (
            <FormField
              key={spec.name}
              spec={spec}
              value={values[spec.name] ?? ""}
              onChange={(value) => setValues((before) => ({ ...before, [spec.name]: value }))}
              error={byName.get(spec.name)}
            />
          ))}
          {form.preview?.(values)}
          <ErrorNote error={rest} />
        </Stack>
      </form>
    </Dialog>
  );
}
