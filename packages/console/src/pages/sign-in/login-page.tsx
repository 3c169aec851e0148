import { getRouteApi } from "@tanstack/react-router";
import { Command } from "../../ui/command.tsx";
import { Note } from "../../ui/note.tsx";
import { Frame } from "./frame.tsx";
import { OrganizationForm } from "./organization-form.tsx";
import { TokenForm } from "./token-form.tsx";

const route = getRouteApi("/login");

/** The ways to sign in: an organization's identity provider, an access token, a link. */
export function LoginPage() {
  const { to, ended } = route.useSearch();
  return (
    <Frame title="Sign in">
      {ended !== undefined && <Note look="warning">Your session has ended. Sign in to go on where you were.</Note>}
      <OrganizationForm to={to} />
      <hr />
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
