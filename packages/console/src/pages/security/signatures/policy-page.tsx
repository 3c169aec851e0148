import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { getSignaturePolicy } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Card, Facts, Page, Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Place } from "../../access/parts/place.tsx";
import { RowActions } from "../../access/parts/row-actions.tsx";
import { Exemptions } from "./exemptions.tsx";
import { Mode, POLICIES, Rules } from "./policies-page.tsx";
import { PolicyPreview } from "./policy-preview.tsx";
import { actionWords, scopeWords } from "./policy-words.ts";

const route = getRouteApi("/shell/signatures/policy");

/** `/signatures/policy`: what one policy asks for, what it blocks now, and what is exempt. */
export function PolicyPage() {
  const { uid = "" } = route.useSearch();
  const navigate = useNavigate();
  const { data: policy } = useSuspenseQuery(query(getSignaturePolicy, { uid }));
  const { repoPattern, tagPattern, eachPlatform, rules, since } = policy;
  const remove = {
    ...POLICIES.remove,
    send: async (gone: string) => {
      await POLICIES.remove.send(gone);
      await navigate({ to: "/signatures/policies" });
    },
  };
  return (
    <Page
      title={policy.name}
      badges={<Mode mode={policy.mode} />}
      lede={policy.description || undefined}
      actions={<RowActions spec={{ ...POLICIES, remove }} row={policy} />}
    >
      <Card>
        <Facts
          facts={[
            ["Group", <Place key="group" uid={parentUid(uid)} />],
            ["About", scopeWords(policy)],
            ["For", actionWords(policy)],
            ["Platforms", eachPlatform ? "each must be signed" : "the signature of the index is enough"],
            ["Images pushed before this pass", since && <Time key="since" value={since} />],
          ]}
        />
      </Card>
      <Section title="Asks for" count={rules.length}>
        <Rules policy={policy} />
      </Section>
      <Section title="What it blocks now">
        <p>
          {policy.mode === "GATE_MODE_ENFORCE"
            ? "As of now, without exemptions:"
            : "This policy is in preview. If enforced, without exemptions:"}
        </p>
        <Card>
          <PolicyPreview
            group={parentUid(uid)}
            policy={{ repoPattern, tagPattern, eachPlatform, rules, ...(since !== undefined && { since }) }}
          />
        </Card>
      </Section>
      <Exemptions policy={uid} />
    </Page>
  );
}
