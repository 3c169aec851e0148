import { useState } from "react";
import { type AppSetUp as SetUp, makePassword, postAccount } from "../../../api/account.ts";
import { fieldErrors, otherError } from "../../../lib/field-errors.ts";
import { Button } from "../../../ui/button.tsx";
import { Command } from "../../../ui/command.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Note } from "../../../ui/note.tsx";
import { Facts, Row, Section, Stack } from "../../../ui/page.tsx";
import { say } from "../../../ui/toasts.tsx";
import { AppSetUp } from "../../sign-in/app-set-up.tsx";
import { SignInAgain } from "./sign-in-again.tsx";
import type { AccountPartProps } from "./passkeys.tsx";

/** The password of an account and the authenticator app that goes with it. */
export function PasswordSection({ account, onChanged }: AccountPartProps) {
  const [open, setOpen] = useState<"password" | SetUp>();
  // A new password that waits for an app to be set up.
  const [typed, setTyped] = useState<string>();
  const [codes, setCodes] = useState<readonly string[]>();
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const run = async (work: () => Promise<void>): Promise<void> => {
    setState({ isBusy: true });
    try {
      await work();
      setState({ isBusy: false });
      onChanged();
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  const setPassword = (form: FormData): Promise<void> =>
    run(async () => {
      const fields = Object.fromEntries(form) as Record<string, string>;
      const step = await makePassword(fields);
      if (step.next === "setUp") {
        setTyped(fields["password"]);
        return setOpen(step);
      }
      setOpen(undefined);
      setTyped(undefined);
      say("Password set. You are signed out everywhere else.");
    });
  const setApp = (form: FormData, { setUp }: SetUp): Promise<void> =>
    run(async () => {
      const fields = { setUp, code: String(form.get("code")) };
      if (typed !== undefined) {
        await makePassword({ password: typed, ...fields });
        setTyped(undefined);
        return setOpen(undefined);
      }
      const made = await postAccount<{ recoveryCodes: string[] }>("/session/account/app", fields);
      setOpen(undefined);
      setCodes(made.recoveryCodes);
    });
  const begin = (): Promise<void> =>
    run(async () => setOpen({ ...(await postAccount<SetUp>("/session/account/app")), next: "setUp" }));
  const remove = (what: string): Promise<void> =>
    run(async () => {
      await postAccount(`/session/account/${what}/remove`);
      setCodes(undefined);
    });
  const newCodes = (): Promise<void> =>
    run(async () => {
      setCodes((await postAccount<{ recoveryCodes: string[] }>("/session/account/recovery-codes")).recoveryCodes);
    });
  const { isBusy, error } = state;
  return (
    <Section title="Password and authenticator app">
      <Stack>
        <Facts
          facts={[
            ["Password", account.hasPassword ? "set" : "none"],
            ["Authenticator app", account.hasApp ? "set up" : "none"],
            ["Recovery codes left", account.hasApp ? String(account.recoveryCodes) : undefined],
          ]}
        />
        <ErrorNote error={otherError(error, ["password"])} />
        <SignInAgain error={error} />
        {codes !== undefined && (
          <>
            <Note look="warning">
              These codes are shown only once. Each works once in place of the app if you lose it. Store them somewhere
              safe.
            </Note>
            <Command text={codes.join("\n")} label="recovery codes" />
          </>
        )}
        {open === undefined ? (
          <Row>
            <Button onClick={() => setOpen("password")}>
              {account.hasPassword ? "Change the password" : "Set a password"}
            </Button>
            {account.hasPassword && !account.hasApp && (
              <Button isBusy={isBusy} onClick={() => void begin()}>
                Set up an authenticator app
              </Button>
            )}
            {account.hasApp && (
              <>
                <Button isBusy={isBusy} onClick={() => void newCodes()}>
                  New recovery codes
                </Button>
                <Button
                  isBusy={isBusy}
                  disabledReason={account.needsSecondFactor ? "Your organization requires it" : undefined}
                  onClick={() => void remove("app")}
                >
                  Remove the app
                </Button>
              </>
            )}
            {account.hasPassword && (
              <Button
                isBusy={isBusy}
                disabledReason={account.passkeys.length === 0 ? "You have no other way to sign in" : undefined}
                onClick={() => void remove("password")}
              >
                Remove the password
              </Button>
            )}
          </Row>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              const form = new FormData(event.currentTarget);
              void (open === "password" ? setPassword(form) : setApp(form, open));
            }}
          >
            <Stack>
              {open === "password" ? (
                <TextField
                  label="New password"
                  name="password"
                  type="password"
                  help="At least 12 characters, such as four words"
                  error={fieldErrors(error)("password")}
                  required
                  autoComplete="new-password"
                />
              ) : (
                <AppSetUp {...open} />
              )}
              <Row>
                <Button look="primary" type="submit" isBusy={isBusy}>
                  Save
                </Button>
                <Button
                  onClick={() => {
                    setOpen(undefined);
                    setTyped(undefined);
                  }}
                >
                  Cancel
                </Button>
              </Row>
            </Stack>
          </form>
        )}
      </Stack>
    </Section>
  );
}
