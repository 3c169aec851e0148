import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { readAccount } from "../../api/account.ts";
import { signIn } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Command } from "../../ui/command.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Frame } from "./frame.tsx";
import { goTo } from "./go.ts";

/** Asks before the link is used: programs that look at links in messages must not use it up. */
export function LinkPage() {
  const [secret] = useState(() => window.location.hash.slice(1));
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const use = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      await signIn({ link: secret });
      // The owner of the first start has no other way in yet.
      const { mayMake } = await readAccount().catch(() => ({ mayMake: false }));
      goTo(mayMake ? "/profile?first=yes" : "/");
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <Frame title="Sign in with a link">
      <ErrorNote error={state.error} />
      {secret === "" || state.error !== undefined ? (
        <>
          <p>A link works once, within ten minutes. Create another on the server's machine:</p>
          <Command text="moorage sign-in-link" />
          <Link to="/login">Other ways to sign in</Link>
        </>
      ) : (
        <>
          <p>This signs you in, in this browser, as the owner of the link. The link works once.</p>
          <Button look="primary" isBusy={state.isBusy} onClick={() => void use()}>
            Sign in
          </Button>
        </>
      )}
    </Frame>
  );
}
