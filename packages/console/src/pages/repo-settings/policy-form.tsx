import type { TagPolicyInput } from "../../api/gen/registry.ts";
import { daysOf, durationOfDays } from "../../lib/durations.ts";
import { fieldErrors } from "../../lib/field-errors.ts";
import { linesOf } from "../../lib/lines.ts";
import { CheckField, TextArea, TextField } from "../../ui/field.tsx";
import type { RepoFormProps } from "./about-form.tsx";
import { useSave } from "./save.ts";
import { SettingsForm } from "./settings-form.tsx";

const FIELDS = ["immutableTags", "protectedTags", "historyRetention", "allowSparse"];

/** Which tags may move or go, and how long the history of tags is kept. */
export function PolicyForm({ repo, disabledReason }: RepoFormProps) {
  const save = useSave(repo.uid);
  const policy = repo.tagPolicy;
  const wrong = fieldErrors(save.error);
  const policyOf = (form: FormData): TagPolicyInput => ({
    immutableTags: linesOf(form.get("immutable")),
    protectedTags: linesOf(form.get("protected")),
    historyRetention: durationOfDays(String(form.get("history"))),
    allowSparse: form.get("sparse") !== null,
  });
  return (
    <SettingsForm
      title="Tag rules"
      lede="Patterns match whole names, one per line, such as v[0-9].*"
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
    >
      <TextArea
        label="Immutable tags"
        name="immutable"
        rows={3}
        spellCheck={false}
        defaultValue={policy?.immutableTags.join("\n")}
        help="Once pushed, these tags point to the same version forever"
        error={wrong("immutableTags")}
      />
      <TextArea
        label="Protected tags"
        name="protected"
        rows={3}
        spellCheck={false}
        defaultValue={policy?.protectedTags.join("\n")}
        help="Nobody can delete them, and retention keeps them"
        error={wrong("protectedTags")}
      />
      <TextField
        label="History retention, days"
        name="history"
        type="number"
        min={0}
        step="any"
        defaultValue={daysOf(policy?.historyRetention)}
        help="How long to keep what a tag pointed to before. Leave empty to keep it forever."
        error={wrong("historyRetention")}
      />
      <CheckField
        label="Allow sparse indexes"
        name="sparse"
        defaultChecked={policy?.allowSparse}
        help="Accept an index even if some of its manifests are missing"
      />
    </SettingsForm>
  );
}
