import { getRouteApi, Link } from "@tanstack/react-router";
import { call } from "../../../../api/call.ts";
import { deleteTrustRoot, type TrustRoot } from "../../../../api/gen/registry.ts";
import { parentUid } from "../../../../lib/uid.ts";
import { Place } from "../../../access/parts/place.tsx";
import { ResourcePage } from "../../../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../../../access/parts/resource.ts";
import { useRows } from "../../../access/parts/rows.ts";
import { pollMs, trustRootsList } from "./queries.ts";
import { contentOf, contentWords } from "./root-content.ts";
import { editRootForm, newRootForm } from "./root-forms.ts";
import { KeptBySigners } from "./root-signers.tsx";
import { RootState } from "./root-state.tsx";

const route = getRouteApi("/shell/signatures/trust-roots");

/** What the list of trust roots and the page of one have in common. */
export const ROOTS: ResourceSpec<TrustRoot> = {
  title: "Trust roots",
  noun: "trust root",
  intro: "The authorities and logs that verify the identities of signers, in a group and all groups below it.",
  isTall: true,
  columns: [
    {
      id: "name",
      header: "Trust root",
      orderBy: "name",
      cell: ({ uid, name }) => (
        <Link to="/signatures/trust-root" search={{ uid }}>
          {name}
        </Link>
      ),
    },
    { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => <Place uid={parentUid(uid)} /> },
    { id: "from", header: "From", isMinor: true, cell: ({ tuf }) => (tuf === undefined ? "pasted" : tuf.url) },
    { id: "names", header: "Names", isWide: true, cell: namesOf },
    { id: "state", header: "State", orderBy: "state", cell: (root) => <RootState root={root} /> },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  create: { capability: "CAP_SIGNERS_CREATE", form: newRootForm },
  edit: { capability: "CAP_SIGNERS_UPDATE", form: editRootForm },
  remove: {
    capability: "CAP_SIGNERS_DELETE",
    send: (uid) => call(deleteTrustRoot, { uid }),
    effect: "It no longer verifies identities.",
    about: ({ uid }) => <KeptBySigners uid={uid} />,
  },
  empty: {
    title: "No trust roots here",
    text: "Without a trust root here, the trusted root in the server's settings verifies identities, if there is one.",
    command: 'moorage trust-roots create acme/own --trusted-root "$(cat trusted_root.json)"',
  },
};

/** `/signatures/trust-roots` */
export function TrustRootsPage() {
  const search = route.useSearch();
  const list = useRows(
    {
      ...trustRootsList(search),
      refetchInterval: ({ state: { data } }) =>
        pollMs(data?.pages.length === 1 ? data.pages[0]?.trustRoots : undefined),
    },
    ({ trustRoots }) => trustRoots,
  );
  return <ResourcePage spec={ROOTS} list={list} group={search.group ?? ""} order={search.order} />;
}

function namesOf({ trustedRoot, tuf }: TrustRoot): string {
  if (tuf !== undefined) return "what the mirror has";
  const parts = contentOf(trustedRoot);
  return parts === undefined ? "not readable" : contentWords(parts);
}
