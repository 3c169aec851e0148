import { getRouteApi } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { accountsHere } from "../../api/account.ts";
import { Command } from "../../ui/command.tsx";
import { Note } from "../../ui/note.tsx";
import { AccountForm } from "./account-form.tsx";
import { Frame } from "./frame.tsx";
import { goTo } from "./go.ts";
import { OrganizationForm } from "./organization-form.tsx";
import { TokenForm } from "./token-form.tsx";

const route = getRouteApi("/login");

/** The ways to sign in: an account of this server, an organization's identity provider, an access token, a link. */
export function LoginPage() {
  const { to, ended } = route.useSearch();
  // Where that is not known, the other ways stay.
  const { data: here } = useQuery({ queryKey: ["accounts here"], queryFn: accountsHere });
  return (
    <Frame title="Sign in">
      {ended !== undefined && <Note look="warning">Your session has ended. Sign in to go on where you were.</Note>}
      {here?.accounts === true && (
        <>
          <AccountForm needsOrganization={here.needsOrganization} onDone={() => goTo(to)} />
          <hr />
        </>
      )}
      {here?.accounts === true ? (
        <details>
          <summary>Sign in through an identity provider</summary>
          <OrganizationForm to={to} />
        </details>
      ) : (
        <>
          <OrganizationForm to={to} />
          <hr />
        </>
      )}
      <TokenForm to={to} />
      <details>
        <summary>I run this server</summary>
        <p>On its machine, make a link that works once:</p>
        <Command text="moorage sign-in-link" />
      </details>
      <p>
        A device shows you a code? <a href="/oauth/device">Approve the device</a>.
      </p>
    </Frame>
  );
}
