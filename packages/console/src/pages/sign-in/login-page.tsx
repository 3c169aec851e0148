import { getRouteApi } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountsHere } from "../../api/account.ts";
import { readStored } from "../../lib/browser-storage.ts";
import { Command } from "../../ui/command.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { Note } from "../../ui/note.tsx";
import { AccountForm } from "./account-form.tsx";
import { Frame } from "./frame.tsx";
import styles from "./frame.module.css";
import { goTo } from "./go.ts";
import { OrganizationForm } from "./organization-form.tsx";
import { ProviderChoice } from "./provider-choice.tsx";
import { LAST_ORGANIZATION, type Provider, providersOf } from "./providers.ts";
import { TokenForm } from "./token-form.tsx";

const route = getRouteApi("/login");

/**
 * The ways to sign in: an identity provider of the organization in the address or of the last sign-in, an account of
 * this server, an access token, a link.
 */
export function LoginPage() {
  const { to, ended, organization: asked } = route.useSearch();
  const [organization, setOrganization] = useState(() => asked ?? readStored(LAST_ORGANIZATION) ?? "");
  const { providers = [], error, isPending, choose } = useProviders(organization);
  // Where that is not known, the other ways stay.
  const { data: here } = useQuery({ queryKey: ["accounts here"], queryFn: accountsHere });
  const isKnown = providers.length > 0;
  const form = (
    <>
      <ErrorNote error={error} />
      <OrganizationForm
        key={organization}
        to={to}
        name={organization}
        onFound={(name, found) => {
          choose(name, found);
          setOrganization(name);
        }}
      />
    </>
  );
  // What is shown first stays where it is.
  if (isPending) return <Frame title="Sign in">{null}</Frame>;
  return (
    <Frame title={isKnown ? `Sign in to ${organization}` : "Sign in"}>
      {ended !== undefined && <Note look="warning">Your session has ended. Sign in to continue where you were.</Note>}
      {isKnown && (
        <>
          <ProviderChoice organization={organization} providers={providers} to={to} />
          <p className={styles.or}>or</p>
        </>
      )}
      {here?.accounts === true && (
        <>
          <AccountForm needsOrganization={here.needsOrganization} onDone={() => goTo(to)} />
          <hr />
        </>
      )}
      {!isKnown && here?.accounts === true && (
        <details>
          <summary>Sign in through an identity provider</summary>
          {form}
        </details>
      )}
      {!isKnown && here?.accounts !== true && (
        <>
          {form}
          <hr />
        </>
      )}
      <TokenForm to={to} isOpen={isKnown && here?.accounts !== true} />
      {isKnown && (
        <>
          <hr />
          <p>
            Not {organization}? <LinkButton onClick={() => setOrganization("")}>Other organization</LinkButton>
          </p>
        </>
      )}
      <details>
        <summary>I run this server</summary>
        <p>On its machine, create a link that works once:</p>
        <Command text="moorage sign-in-link" />
      </details>
      <p>
        Is a device showing you a code? <a href="/oauth/device">Approve the device</a>.
      </p>
    </Frame>
  );
}

/** The providers of an organization; `choose` puts in those that are known already. */
function useProviders(organization: string) {
  const [chosen, setChosen] = useState<{ organization: string; providers: readonly Provider[] }>();
  const isChosen = chosen?.organization === organization;
  const { data, error, isLoading } = useQuery({
    queryKey: ["providers of", organization],
    queryFn: () => providersOf(organization),
    enabled: organization !== "" && !isChosen,
    retry: false,
  });
  return {
    providers: isChosen ? chosen.providers : data,
    error,
    isPending: isLoading,
    choose: (name: string, providers: readonly Provider[]) => setChosen({ organization: name, providers }),
  };
}
