import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { call } from "../../../api/call.ts";
import { deleteSignaturePolicy, type SignaturePolicy } from "../../../api/gen/registry.ts";
import { parentUid, shortUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { Column } from "../../../ui/column.ts";
import { Place } from "../../access/parts/place.tsx";
import { ResourcePage } from "../../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../../access/parts/resource.ts";
import { useRows } from "../../access/parts/rows.ts";
import { editPolicyForm, newPolicyForm } from "./policy-forms.tsx";
import { actionWords, ruleWords, scopeWords } from "./policy-words.ts";
import { allSignersQuery, policiesList } from "./queries.ts";
import styles from "./signatures.module.css";

const route = getRouteApi("/shell/signatures/policies");

/** The columns of a list of policies. */
export function policyColumns(): readonly Column<SignaturePolicy>[] {
  return [
    {
      id: "name",
      header: "Policy",
      cell: ({ uid, name }) => (
        <Link to="/signatures/policy" search={{ uid }}>
          {name}
        </Link>
      ),
    },
    { id: "group", header: "Group", cell: ({ uid }) => <Place uid={parentUid(uid)} /> },
    { id: "mode", header: "Mode", cell: ({ mode }) => <Mode mode={mode} /> },
    { id: "about", header: "About", isMinor: true, cell: scopeWords },
    { id: "on", header: "For", isMinor: true, cell: actionWords },
    { id: "rules", header: "Asks for", isWide: true, cell: (policy) => <Rules policy={policy} /> },
  ];
}

/** What the list of policies and the page of one have in common. */
export const POLICIES: ResourceSpec<SignaturePolicy> = {
  title: "Signature policies",
  noun: "policy",
  intro:
    "Which signatures images need before they can be pulled, promoted, or copied. Images that are not known to be signed are blocked.",
  columns: policyColumns(),
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  create: { capability: "CAP_SIGNATURE_POLICIES_CREATE", form: newPolicyForm },
  edit: { capability: "CAP_SIGNATURE_POLICIES_UPDATE", form: editPolicyForm },
  remove: {
    capability: "CAP_SIGNATURE_POLICIES_DELETE",
    send: (uid) => call(deleteSignaturePolicy, { uid }),
    effect: "Images no longer need these signatures. Its exemptions are deleted with it.",
  },
  empty: {
    title: "No signature policies here",
    text: "Without a policy, signatures block nothing. A new policy starts as a preview.",
    command: "moorage signature-policies create acme/signed --signer acme/release --on pull,promote",
  },
};

/** `/signatures/policies` */
export function PoliciesPage() {
  const search = route.useSearch();
  const list = useRows(policiesList(search), ({ signaturePolicies }) => signaturePolicies);
  return <ResourcePage spec={POLICIES} list={list} group={search.group ?? ""} order={search.order} />;
}

/** Whether a policy rejects. */
export function Mode({ mode }: Pick<SignaturePolicy, "mode">) {
  return mode === "GATE_MODE_ENFORCE" ? <Badge look="success">Enforced</Badge> : <Badge>Preview</Badge>;
}

/** The rules of a policy in words; all of them must be met. */
export function Rules({ policy: { rules } }: { policy: SignaturePolicy }) {
  const signers = useQuery(allSignersQuery).data ?? [];
  const nameOf = (uid: string): string => signers.find((each) => each.uid === uid)?.name ?? shortUid(uid);
  return (
    <ul className={styles.rules}>
      {rules.map((rule) => (
        <li key={rule.name}>
          <strong>{rule.name}:</strong> {ruleWords(rule, nameOf)}
        </li>
      ))}
    </ul>
  );
}
