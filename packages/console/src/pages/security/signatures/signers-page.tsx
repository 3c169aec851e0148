import { getRouteApi } from "@tanstack/react-router";
import { call } from "../../../api/call.ts";
import { deleteSigner, type Signer } from "../../../api/gen/registry.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Row } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { ResourcePage } from "../../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../../access/parts/resource.ts";
import { useRows } from "../../access/parts/rows.ts";
import { keyWord } from "./key-words.ts";
import { signersList } from "./queries.ts";
import { SIGNER_COLUMNS } from "./signer-columns.tsx";
import { editSignerForm, newSignerForm } from "./signer-forms.tsx";

const route = getRouteApi("/shell/signatures/signers");

/** What the list of signers and the page of one have in common. */
export const SIGNERS: ResourceSpec<Signer> = {
  title: "Signers",
  noun: "signer",
  intro: "Who signs the images of a group and of all groups below it. This is independent of who can push.",
  columns: [
    ...SIGNER_COLUMNS,
    { id: "state", header: "Keys", cell: (signer) => <Keys signer={signer} /> },
    {
      id: "updated",
      header: "Updated",
      isWide: true,
      align: "end",
      cell: ({ updateTime }) => <Time value={updateTime} />,
    },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  create: { capability: "CAP_SIGNERS_CREATE", form: newSignerForm },
  edit: { capability: "CAP_SIGNERS_UPDATE", form: editSignerForm },
  remove: {
    capability: "CAP_SIGNERS_DELETE",
    send: (uid) => call(deleteSigner, { uid }),
    effect: "Its signatures are no longer trusted. A signer that a policy uses cannot be deleted.",
  },
  empty: {
    title: "No signers here",
    text: "Without signers, signatures cannot be verified: it is not known whose they are.",
    command: "moorage signers create acme/release --key cosign.pub",
  },
};

/** `/signatures/signers` */
export function SignersPage() {
  const search = route.useSearch();
  const list = useRows(signersList(search), ({ signers }) => signers);
  return <ResourcePage spec={SIGNERS} list={list} group={search.group ?? ""} order={search.order} />;
}

function Keys({ signer: { keys, keyless, x509 } }: { signer: Signer }) {
  if (keyless !== undefined || x509 !== undefined) return <span>certificates</span>;
  const nowMs = Date.now();
  const words = [...new Map(keys.map((key) => keyWord(key, nowMs)))];
  return (
    <Row>
      {words.map(([word, look]) => (
        <Badge key={word} look={look}>
          {word}
        </Badge>
      ))}
    </Row>
  );
}
