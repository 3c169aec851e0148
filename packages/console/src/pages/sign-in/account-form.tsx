import { readStored, store } from "../../lib/browser-storage.ts";
import { useState } from "react";
import { noPasskeys, signInByPasskey, signInByPassword } from "../../api/account.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextField } from "../../ui/field.tsx";
import { AppSetUp, CodeField } from "./app-set-up.tsx";
import { LAST_ORGANIZATION } from "./providers.ts";
import { useSteps } from "./use-steps.ts";

export interface AccountFormProps {
  /** Whether the person names the organization. */
  needsOrganization: boolean;
  /** The program whose sign-in it is, and the accounts that it named; undefined for a sign-in of this browser. */
  program?: { state: string; provider: string };
  /** `redirect`: where the program waits; undefined for this browser. */
  onDone: (redirect: string | undefined) => void;
}

/** Signs in with an account of this server: by a passkey, or by a password and, where one is needed, a code. */
export function AccountForm({ needsOrganization, program, onDone }: AccountFormProps) {
  const { isBusy, error, asked, run } = useSteps(({ redirect }) => onDone(redirect));
  const [typed, setTyped] = useState<Record<string, string>>({});
  const reason = noPasskeys();
  const submit = (form: HTMLFormElement): void => {
    const fields = { ...typed, ...(Object.fromEntries(new FormData(form)) as Record<string, string>) };
    setTyped(fields);
    if ((fields["organization"] ?? "") !== "") store(LAST_ORGANIZATION, fields["organization"]);
    const setUp: Record<string, string> = asked?.next === "setUp" ? { setUp: asked.setUp } : {};
    void run(() => signInByPassword({ ...fields, ...setUp, ...program }));
  };
  return (
    <>
      {asked === undefined && reason === undefined && (
        <Button look="primary" isBusy={isBusy} onClick={() => void run(() => signInByPasskey(program?.state))}>
          Sign in with a passkey
        </Button>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        {asked === undefined && (
          <>
            {needsOrganization && (
              <TextField
                label="Organization"
                name="organization"
                defaultValue={readStored(LAST_ORGANIZATION) ?? ""}
                required
                autoComplete="organization"
                spellCheck={false}
              />
            )}
            <TextField
              label="Name"
              name="name"
              required
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
            />
            <TextField label="Password" name="password" type="password" required autoComplete="current-password" />
          </>
        )}
        {asked?.next === "code" && <CodeField help="From your authenticator app, or a recovery code" />}
        {asked?.next === "setUp" && (
          <>
            <p>Your organization requires a second factor.</p>
            <AppSetUp {...asked} />
          </>
        )}
        <ErrorNote error={error} />
        <Button look={reason === undefined && asked === undefined ? "plain" : "primary"} type="submit" isBusy={isBusy}>
          {asked === undefined ? "Sign in with a password" : "Sign in"}
        </Button>
      </form>
    </>
  );
}
