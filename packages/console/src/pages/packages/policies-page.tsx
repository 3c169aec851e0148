import { getRouteApi } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { type ArtifactPolicy, deleteArtifactPolicy } from "../../api/gen/libraries.ts";
import { parentUid } from "../../lib/uid.ts";
import { Badge } from "../../ui/badge.tsx";
import { ResourcePage } from "../access/parts/resource-page.tsx";
import type { ResourceSpec } from "../access/parts/resource.ts";
import { useRows } from "../access/parts/rows.ts";
import { EcosystemChip } from "./ecosystem-chip.tsx";
import { GroupPath } from "./group-path.tsx";
import { editPolicyForm, newPolicyForm } from "./policy-forms.ts";
import { policyWords } from "./policy-words.ts";
import { policiesList } from "./queries.ts";
import { ecosystemWord, modeWord } from "./words.ts";

const route = getRouteApi("/shell/packages/policies");

const POLICIES: ResourceSpec<ArtifactPolicy> = {
  title: "Policies",
  noun: "policy",
  intro: "Which versions clients can get. If several policies are above a package, only the nearest applies.",
  columns: [
    { id: "ecosystem", header: "Registry", cell: ({ ecosystem }) => <Badge isName>{ecosystemWord(ecosystem)}</Badge> },
    { id: "group", header: "Group", cell: ({ uid }) => <GroupPath uid={parentUid(uid)} /> },
    {
      id: "mode",
      header: "Mode",
      cell: ({ mode }) => <Badge look={mode === "POLICY_MODE_ENFORCE" ? "success" : "plain"}>{modeWord(mode)}</Badge>,
    },
    { id: "rules", header: "Blocks", isMinor: true, cell: (policy) => policyWords(policy).join("; ") },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ ecosystem }) => `the policy for ${ecosystemWord(ecosystem)}`,
  create: { capability: "CAP_LIBRARIES_POLICIES_CREATE", form: newPolicyForm },
  edit: { capability: "CAP_LIBRARIES_POLICIES_UPDATE", form: editPolicyForm },
  remove: {
    capability: "CAP_LIBRARIES_POLICIES_DELETE",
    send: (uid) => call(deleteArtifactPolicy, { uid }),
    effect: "The policy of the next group above then applies, if there is one. Otherwise nothing is blocked.",
  },
  empty: {
    title: "No policies here",
    text: "Without a policy, clients get every version. A new policy starts as a preview and lists what it would block.",
    command: "moorage policies create acme --ecosystem javascript --cooldown 7d",
  },
};

/** `/packages/policies` */
export function PoliciesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(policiesList(search), ({ artifactPolicies }) => artifactPolicies);
  return (
    <ResourcePage
      spec={POLICIES}
      list={list}
      group={search.group ?? ""}
      order={search.order}
      filters={
        <EcosystemChip
          value={search.ecosystem}
          onValue={(ecosystem) => void navigate({ search: { ...search, ecosystem } })}
        />
      }
    />
  );
}
