import { type FormEvent, useState } from "react";
import { signIn } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Command } from "../../ui/command.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextField } from "../../ui/field.tsx";
import { goTo } from "./go.ts";

/** Signs in with an access token, with its rights and as long as it lasts. `isOpen`: its field is shown at first. */
export function TokenForm({ to, isOpen = false }: { to: string | undefined; isOpen?: boolean }) {
  const [token, setToken] = useState("");
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setState({ isBusy: true });
    try {
      await signIn({ token: token.trim() });
      goTo(to);
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <details open={isOpen}>
      <summary>Sign in with an access token</summary>
      <form onSubmit={(event) => void submit(event)}>
        <Command text="moorage token" />
        <TextField
          label="Access token"
          help="The session has the token's permissions and ends when it expires"
          type="password"
          autoComplete="off"
          required
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
        <ErrorNote error={state.error} />
        <Button type="submit" isBusy={state.isBusy}>
          Sign in
        </Button>
      </form>
    </details>
  );
}
