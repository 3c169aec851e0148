import { getRouteApi, Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { deleteIdentityProvider, type IdentityProvider } from "../../api/gen/iam.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Place } from "./parts/place.tsx";
import { ResourcePage } from "./parts/resource-page.tsx";
import type { ResourceSpec } from "./parts/resource.ts";
import { useRows } from "./parts/rows.ts";
import { parentOf } from "./parts/tree.ts";
import { editProviderForm, newProviderForm } from "./provider-forms.ts";
import { providersList } from "./queries.ts";

const route = getRouteApi("/shell/access/providers");

const PROVIDERS: ResourceSpec<IdentityProvider> = {
  title: "Identity providers",
  noun: "provider",
  intro:
    "Where the people of an organization sign in with OpenID Connect. Register the redirect URI there exactly as shown.",
  columns: [
    { id: "name", header: "Name", orderBy: "name", cell: ({ name }) => name },
    {
      id: "issuer",
      header: "Issuer",
      cell: ({ oidc, accounts }) => (accounts === undefined ? oidc?.issuer : "Accounts of this server"),
      isMinor: true,
    },
    {
      id: "redirect",
      header: "Redirect URI",
      cell: ({ redirectUri }) =>
        redirectUri !== "" && (
          <>
            <code>{redirectUri}</code> <CopyButton text={redirectUri} label="Copy redirect URI" />
          </>
        ),
      isMinor: true,
    },
    { id: "group", header: "Group", cell: ({ uid }) => <Place uid={parentOf(uid)} /> },
    {
      id: "mappings",
      header: "Groups there",
      cell: ({ uid }) => (
        <Link to="/access/mappings" search={{ provider: uid }}>
          Mappings
        </Link>
      ),
    },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  create: { capability: "CAP_IAM_IDENTITY_PROVIDERS_CREATE", form: newProviderForm },
  edit: { capability: "CAP_IAM_IDENTITY_PROVIDERS_UPDATE", form: editProviderForm },
  remove: {
    capability: "CAP_IAM_IDENTITY_PROVIDERS_DELETE",
    send: (uid) => call(deleteIdentityProvider, { uid }),
    effect: "Nobody can sign in through it any longer, and its mappings are deleted with it.",
  },
  empty: {
    title: "No identity provider here",
    text: "With a provider, people sign in with the accounts they already have. Choose the organization, then “New provider”.",
    command: "moorage login --help",
  },
};

/** `/access/providers` */
export function ProvidersPage() {
  const search = route.useSearch();
  const list = useRows(providersList(search), ({ identityProviders }) => identityProviders);
  return <ResourcePage spec={PROVIDERS} list={list} group={search.group ?? ""} order={search.order} />;
}
