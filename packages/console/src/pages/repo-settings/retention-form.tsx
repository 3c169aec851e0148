import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { listTags, type TagPolicyInput } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { fieldErrors } from "../../lib/field-errors.ts";
import { Button } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";
import type { RepoFormProps } from "./about-form.tsx";
import { RetentionPreview } from "./retention-preview.tsx";
import { type Rule, RuleSentence, ruleFields, ruleOf } from "./retention-rules.tsx";
import { useSave } from "./save.ts";
import { SettingsForm } from "./settings-form.tsx";

/** Which tags are deleted in time, as sentences, with what the rules would do now before they are saved. */
export function RetentionForm({ repo, disabledReason }: RepoFormProps) {
  const save = useSave(repo.uid);
  const [rules, setRules] = useState<readonly Rule[]>(() => (repo.tagPolicy?.retention ?? []).map(ruleFields));
  const total = useQuery(query(listTags, { uidp: { childrenOf: repo.uid }, pageSize: 1 })).data?.totalCount;
  const wrong = fieldErrors(save.error);
  const shown = useDeferredValue(rules);
  const policy: TagPolicyInput = {
    protectedTags: repo.tagPolicy?.protectedTags ?? [],
    retention: shown.map(ruleOf),
  };
  const isChanged = JSON.stringify(rules) !== JSON.stringify((repo.tagPolicy?.retention ?? []).map(ruleFields));
  const change = (rule: Rule): void => setRules(rules.map((each) => (each.id === rule.id ? rule : each)));
  const add = (): void => {
    const id = Math.max(-1, ...rules.map((rule) => rule.id)) + 1;
    setRules([...rules, { id, tagPattern: "", keepLast: "", keepDays: "" }]);
  };
  return (
    <SettingsForm
      title="Retention"
      lede="Old tags are deleted in time. The first rule that fits a tag decides; a tag that no rule fits stays, and so do protected tags."
      disabledReason={disabledReason}
      isBusy={save.isPending}
      error={save.error}
      fields={rules.map((_, index) => `retention[${index}]`)}
      onSave={() =>
        save.mutate({ fields: { tagPolicy: { retention: rules.map(ruleOf) } }, mask: "tagPolicy.retention" })
      }
      after={
        rules.length > 0 && (
          <RetentionPreview
            uid={repo.uid}
            policy={policy}
            tags={total === undefined ? undefined : Number(total)}
            isSaved={!isChanged}
          />
        )
      }
    >
      {rules.length === 0 && <p>No rules: tags stay until someone deletes them.</p>}
      {rules.map((rule, index) => (
        <RuleSentence
          key={rule.id}
          rule={rule}
          index={index}
          error={wrong(`retention[${index}]`)}
          onRule={change}
          onRemove={() => setRules(rules.filter(({ id }) => id !== rule.id))}
        />
      ))}
      <Row>
        <Button icon={<Plus size={14} aria-hidden />} onClick={add}>
          Add a rule
        </Button>
      </Row>
    </SettingsForm>
  );
}
