import { readStored, store } from "../../lib/browser-storage.ts";
import { type FormEvent, useState } from "react";
import { errorOf } from "../../api/errors.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextField } from "../../ui/field.tsx";
import styles from "./frame.module.css";
import { isOwnPath } from "./go.ts";

interface Provider {
  uid: string;
  name: string;
}
interface State {
  isBusy: boolean;
  error?: unknown;
  /** Those to choose from. */
  providers?: readonly Provider[];
}

/** The name under which the browser keeps the organization of the last sign-in. */
export const LAST_ORGANIZATION = "organization";
const TIMEOUT_MS = 30_000;

/** Asks for the organization, and goes to its identity provider; of several the person chooses one. */
export function OrganizationForm({ to }: { to: string | undefined }) {
  const [name, setName] = useState(() => readStored(LAST_ORGANIZATION) ?? "");
  const [{ isBusy, error, providers }, setState] = useState<State>({ isBusy: false });
  const find = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setState({ isBusy: true });
    try {
      const found = await providersOf(name.trim());
      store(LAST_ORGANIZATION, name.trim());
      const [only] = found;
      if (found.length === 1 && only !== undefined) window.location.assign(signInPath(only, to));
      else setState({ isBusy: false, providers: found });
    } catch (problem) {
      setState({ isBusy: false, error: problem });
    }
  };
  return (
    <form onSubmit={(event) => void find(event)}>
      <TextField
        label="Organization"
        help="Its name, or a group such as acme/team"
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
      {providers?.length === 0 && (
        <p role="alert">No organization of that name has an identity provider. Is the name right?</p>
      )}
      {providers !== undefined && providers.length > 1 ? (
        <ul className={styles.providers} aria-label="Identity providers">
          {providers.map((provider) => (
            <li key={provider.uid}>
              <a href={signInPath(provider, to)}>Sign in with {provider.name}</a>
            </li>
          ))}
        </ul>
      ) : (
        <Button look="primary" type="submit" isBusy={isBusy}>
          Continue
        </Button>
      )}
    </form>
  );
}

async function providersOf(organization: string): Promise<readonly Provider[]> {
  const response = await fetch(`/oauth/providers?organization=${encodeURIComponent(organization)}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw await errorOf(response);
  const { identity_providers: found } = (await response.json()) as { identity_providers: readonly Provider[] };
  return found;
}

function signInPath({ uid }: Provider, to: string | undefined): string {
  const path = isOwnPath(to) ? to : "/";
  return `/sign-in?identity_provider=${encodeURIComponent(uid)}&return_to=${encodeURIComponent(path)}`;
}
