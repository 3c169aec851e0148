import { getRouteApi, Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { deleteIdentity, type Identity } from "../../api/gen/iam.ts";
import { Time } from "../../ui/time.tsx";
import { sayIssuerCheck } from "./identity-check.ts";
import { editIdentityForm, newIdentityForm } from "./identity-forms.ts";
import { assumedBy, seenTime } from "./identity-words.ts";
import { Place } from "./parts/place.tsx";
import { ResourcePage } from "./parts/resource-page.tsx";
import type { ResourceSpec } from "./parts/resource.ts";
import { useRows } from "./parts/rows.ts";
import { parentOf } from "./parts/tree.ts";
import { identitiesList } from "./queries.ts";

const route = getRouteApi("/shell/access/identities");

/** Identities, how they are changed and deleted. */
export const IDENTITIES: ResourceSpec<Identity> = {
  title: "Identities",
  noun: "identity",
  intro:
    "Who acts: a person, a machine or a CI job. An identity can do what its roles allow. One that pulls from the organization must be created in the organization itself, not in a group below it.",
  columns: [
    {
      id: "name",
      header: "Name",
      orderBy: "name",
      cell: ({ uid, name, email }) => (
        <>
          <Link to="/access/identity" search={{ uid }}>
            {name}
          </Link>
          {email !== "" && email !== name && <div>{email}</div>}
        </>
      ),
    },
    { id: "how", header: "Assumed by", cell: assumedBy, isMinor: true },
    { id: "group", header: "Group", cell: ({ uid }) => <Place uid={parentOf(uid)} />, isMinor: true },
    { id: "seen", header: "Last seen", cell: (identity) => <Time value={seenTime(identity)} /> },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  create: { capability: "CAP_IAM_IDENTITY_CREATE", form: newIdentityForm },
  edit: { capability: "CAP_IAM_IDENTITY_UPDATE", form: editIdentityForm },
  actions: (identity) =>
    identity.claimMatch?.issuer ? [{ label: "Check the issuer", onSelect: () => void sayIssuerCheck(identity) }] : [],
  remove: {
    capability: "CAP_IAM_IDENTITY_DELETE",
    send: (uid) => call(deleteIdentity, { uid }),
    effect: "It loses its roles and tokens from its next request on. What it did stays in the audit log.",
  },
  empty: {
    title: "No identities here",
    text: "Create one for each job that pulls or pushes, so that each has only the permissions it needs.",
    command: "moorage pull-token create --group acme --name cluster-1 --ttl 30d",
  },
};

/** `/access/identities` */
export function IdentitiesPage() {
  const search = route.useSearch();
  const list = useRows(identitiesList(search), ({ identities }) => identities);
  return <ResourcePage spec={IDENTITIES} list={list} group={search.group ?? ""} order={search.order} />;
}
