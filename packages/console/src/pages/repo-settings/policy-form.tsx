import { type MouseEvent, useState } from "react";
import type { TagPolicyInput } from "../../api/gen/registry.ts";
import { daysOf, durationOfDays } from "../../lib/durations.ts";
import { fieldErrors } from "../../lib/field-errors.ts";
import { linesOf } from "../../lib/lines.ts";
import { Button } from "../../ui/button.tsx";
import { CheckField, TextArea, TextField } from "../../ui/field.tsx";
import type { RepoFormProps } from "./about-form.tsx";
import { RetentionPreview } from "./retention-preview.tsx";
import { RetentionRules, type Rule, ruleFields, ruleOf } from "./retention-rules.tsx";
import { useSave } from "./save.ts";
import { SettingsForm } from "./settings-form.tsx";

const FIELDS = ["immutableTags", "protectedTags", "retention", "historyRetention", "allowSparse"];

/** Which tags may move or go, and how long tags and their history are kept; with a dry run. */
export function PolicyForm({ repo, disabledReason }: RepoFormProps) {
  const save = useSave(repo.uid);
  const policy = repo.tagPolicy;
  const [rules, setRules] = useState<readonly Rule[]>(() => (policy?.retention ?? []).map(ruleFields));
  const [tried, setTried] = useState<TagPolicyInput>();
  const wrong = fieldErrors(save.error);
  const policyOf = (form: FormData): TagPolicyInput => ({
    immutableTags: linesOf(form.get("immutable")),
    protectedTags: linesOf(form.get("protected")),
    retention: rules.map(ruleOf),
    historyRetention: durationOfDays(String(form.get("history"))),
    allowSparse: form.get("sparse") !== null,
  });
  const attempt = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>): void => {
    if (form !== null) setTried(policyOf(new FormData(form)));
  };
  return (
    <SettingsForm
      title="Tag policy"
      disabledReason={disabledReason}
      isBusy={save.isPending}
      error={save.error}
      fields={FIELDS}
      onSave={(form) =>
        save.mutate({
          fields: { tagPolicy: policyOf(form) },
          mask: FIELDS.map((field) => `tagPolicy.${field}`).join(","),
        })
      }
      actions={<Button onClick={attempt}>Show what retention would delete</Button>}
      after={tried !== undefined && <RetentionPreview uid={repo.uid} policy={tried} />}
    >
      <TextArea
        label="Immutable tags"
        name="immutable"
        rows={3}
        spellCheck={false}
        defaultValue={policy?.immutableTags.join("\n")}
        help="Patterns of whole names, one a line, such as v[0-9].*"
        error={wrong("immutableTags")}
      />
      <TextArea
        label="Protected tags"
        name="protected"
        rows={3}
        spellCheck={false}
        defaultValue={policy?.protectedTags.join("\n")}
        help="Patterns, one a line. Retention keeps them as well."
        error={wrong("protectedTags")}
      />
      <RetentionRules rules={rules} onRules={setRules} errors={wrong} />
      <TextField
        label="History retention, days"
        name="history"
        type="number"
        min={0}
        step="any"
        defaultValue={daysOf(policy?.historyRetention)}
        help="What a tag pointed to before. Empty: for ever."
        error={wrong("historyRetention")}
      />
      <CheckField
        label="Allow sparse indexes"
        name="sparse"
        defaultChecked={policy?.allowSparse}
        help="An index is accepted without all the manifests that it names"
      />
    </SettingsForm>
  );
}
