import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { AccountForm } from "./account-form.tsx";
import { Frame } from "./frame.tsx";

const route = getRouteApi("/sign-in/account");

/** `/sign-in/account#<state>`: signs a program or a device in, with an account of this server. */
export function ProgramPage() {
  const [state] = useState(() => window.location.hash.slice(1));
  const { provider = "" } = route.useSearch();
  const [isDone, setIsDone] = useState(false);
  const done = (redirect: string | undefined): void => {
    if (redirect === undefined) setIsDone(true);
    else window.location.assign(redirect);
  };
  return (
    <Frame title={isDone ? "Signed in" : "Sign in"}>
      {isDone ? (
        <p>The device is signed in. You can close this page.</p>
      ) : (
        <>
          <p>A program is asking to act as you. Continue only if you just started this yourself.</p>
          <AccountForm needsOrganization={false} program={{ state, provider }} onDone={done} />
        </>
      )}
    </Frame>
  );
}
