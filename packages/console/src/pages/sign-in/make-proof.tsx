import { type ReactNode, useState } from "react";
import { type Authority, makePasskey, makePassword, noPasskeys } from "../../api/account.ts";
import { fieldErrors, otherError } from "../../lib/field-errors.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextField } from "../../ui/field.tsx";
import { Row, Stack } from "../../ui/page.tsx";
import { AppSetUp } from "./app-set-up.tsx";
import { useSteps } from "./use-steps.ts";

export interface MakeProofProps {
  by: Authority;
  /** Whether the person chooses the account's name, for a new account. */
  isNew: boolean;
  /** What the button for a password says. */
  action: string;
  onDone: () => void;
  children?: ReactNode;
}

/** Makes a passkey or a password: for a new account, or in place of one that is lost. */
export function MakeProof({ by, isNew, action, onDone, children }: MakeProofProps) {
  const { isBusy, error, asked, run } = useSteps(onDone);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [isPassword, setIsPassword] = useState(noPasskeys() !== undefined);
  const reason = noPasskeys();
  const submit = (form: HTMLFormElement): void => {
    const fields = { ...typed, ...(Object.fromEntries(new FormData(form)) as Record<string, string>) };
    setTyped(fields);
    const name = isNew ? { name: fields["name"] ?? "" } : {};
    if (!isPassword) return void run(() => makePasskey({ ...by, ...name }, "Passkey"));
    const setUp: Record<string, string> = asked?.next === "setUp" ? { setUp: asked.setUp } : {};
    void run(() => makePassword({ ...by, ...fields, ...setUp }));
  };
  const faults = fieldErrors(error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      <Stack>
        {children}
        {asked?.next === "setUp" ? (
          <>
            <p>Your organization requires a second factor in addition to a password.</p>
            <AppSetUp {...asked} />
          </>
        ) : (
          <>
            {isNew && (
              <TextField
                label="Name"
                name="name"
                help="Your email address or a user name to sign in with"
                error={faults("name")}
                required
                autoComplete="username"
                autoCapitalize="none"
                spellCheck={false}
              />
            )}
            {isPassword && (
              <TextField
                label="Password"
                name="password"
                type="password"
                help="At least 12 characters, such as four words"
                error={faults("password")}
                required
                autoComplete="new-password"
              />
            )}
          </>
        )}
        <ErrorNote error={otherError(error, ["name", "password"])} />
        <Row>
          <Button look="primary" type="submit" isBusy={isBusy}>
            {isPassword ? action : "Create a passkey"}
          </Button>
          {reason === undefined && asked === undefined && (
            <Button look="quiet" onClick={() => setIsPassword(!isPassword)}>
              {isPassword ? "Use a passkey instead" : "Use a password instead"}
            </Button>
          )}
        </Row>
        {reason !== undefined && <p>{reason}</p>}
      </Stack>
    </form>
  );
}
