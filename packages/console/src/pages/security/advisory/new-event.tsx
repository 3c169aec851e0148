import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { call } from "../../../api/call.ts";
import { createAdvisoryEvent } from "../../../api/gen/vulnerabilities.ts";
import { collection } from "../../../api/queries.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { SelectField, TextArea, TextField } from "../../../ui/field.tsx";
import { EVENT_WORDS, REASON_WORDS } from "../words.ts";
import { type EventFields, eventOf } from "./event-of.ts";

/** Writes an event, which then is waiting for review. */
export function NewEvent({ parent, onClose }: { parent: string; onClose: () => void }) {
  const id = useId();
  const [type, setType] = useState("FIXED");
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const client = useQueryClient();
  const create = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const field = (name: string): string => String(form.get(name) ?? "").trim();
    const fields: EventFields = { type, versions: field("versions"), reason: field("reason"), note: field("note") };
    setState({ isBusy: true });
    try {
      await call(createAdvisoryEvent, { parent, advisoryEvent: { ...eventOf(fields), issue: field("issue") } });
      await client.invalidateQueries({ queryKey: [collection(createAdvisoryEvent)] });
      onClose();
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Add an event"
      description="It needs a review. The latest approved event applies."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={id} isBusy={state.isBusy}>
            Add
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={(event) => void create(event)}>
        <SelectField label="What was found out" value={type} onChange={({ target }) => setType(target.value)}>
          {Object.entries(EVENT_WORDS).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </SelectField>
        {(type === "FIXED" || type === "PATCHED") && (
          <TextField
            label={type === "FIXED" ? "Version that fixes it" : "Versions with a patch"}
            name="versions"
            required
          />
        )}
        {type === "FALSE_POSITIVE_DETERMINATION" && (
          <SelectField label="Why" name="reason">
            {Object.entries(REASON_WORDS).map(([each, words]) => (
              <option key={each} value={each}>
                {words}
              </option>
            ))}
          </SelectField>
        )}
        {type !== "DETECTION" && <TextArea label="Note" name="note" maxLength={2048} rows={3} />}
        <TextField label="Issue" name="issue" help="A link to a discussion" maxLength={1024} />
        <ErrorNote error={state.error} />
      </form>
    </Dialog>
  );
}
