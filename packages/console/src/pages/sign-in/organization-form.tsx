import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextField } from "../../ui/field.tsx";
import { type Provider, providersOf, signInThrough } from "./providers.ts";

interface State {
  isBusy: boolean;
  error?: unknown;
  /** No provider is there. */
  isUnknown?: boolean;
}

export interface OrganizationFormProps {
  to: string | undefined;
  /** What is in the field at first. */
  name: string;
  /** Several providers were found, of which the person chooses one. */
  onFound: (organization: string, providers: readonly Provider[]) => void;
}

/** Asks for the organization, and goes to its identity provider. */
export function OrganizationForm({ to, name: first, onFound }: OrganizationFormProps) {
  const [name, setName] = useState(first);
  const [{ isBusy, error, isUnknown }, setState] = useState<State>({ isBusy: false });
  const find = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setState({ isBusy: true });
    try {
      const found = await providersOf(name.trim());
      const [only] = found;
      if (only === undefined) setState({ isBusy: false, isUnknown: true });
      else if (found.length === 1) signInThrough(only, name.trim(), to);
      else onFound(name.trim(), found);
    } catch (problem) {
      setState({ isBusy: false, error: problem });
    }
  };
  return (
    <form onSubmit={(event) => void find(event)}>
      <TextField
        label="Organization"
        help="Organization name, or a group such as acme/team"
        value={name}
        required
        autoComplete="organization"
        spellCheck={false}
        onChange={({ target }) => {
          setName(target.value);
          setState({ isBusy: false });
        }}
      />
      <ErrorNote error={error} />
      {isUnknown === true && (
        <p role="alert">No organization of that name has an identity provider. Is the name right?</p>
      )}
      <Button look="primary" type="submit" isBusy={isBusy}>
        Continue
      </Button>
    </form>
  );
}
