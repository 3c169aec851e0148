import { useState } from "react";
import type { RepoDeprecationInput } from "../../api/gen/registry.ts";
import { fieldErrors } from "../../lib/field-errors.ts";
import { localTime, timeOfLocal } from "../../lib/local-time.ts";
import { CheckField, TextField } from "../../ui/field.tsx";
import type { RepoFormProps } from "./about-form.tsx";
import { useSave } from "./save.ts";
import { SettingsForm } from "./settings-form.tsx";

const FIELDS = ["message", "replacement", "endTime", "block"].map((name) => `deprecation.${name}`);

/** That the image is not to be used any longer, and what becomes of its pulls. */
export function DeprecationForm({ repo, disabledReason }: RepoFormProps) {
  const save = useSave(repo.uid);
  const now = repo.deprecation;
  const [isOn, setOn] = useState(now !== undefined);
  const wrong = fieldErrors(save.error);
  return (
    <SettingsForm
      title="Deprecation"
      lede="Anyone who pulls a deprecated image gets a warning, shown by docker, with what to use instead."
      disabledReason={disabledReason}
      isBusy={save.isPending}
      error={save.error}
      fields={FIELDS}
      onSave={(form) => save.mutate({ fields: isOn ? { deprecation: deprecationOf(form) } : {}, mask: "deprecation" })}
    >
      <CheckField
        label="This image is deprecated"
        checked={isOn}
        onChange={({ target }) => setOn(target.checked)}
        help="Its tags stay, and pushes still work"
      />
      {isOn && (
        <>
          <TextField
            label="Reason"
            name="message"
            defaultValue={now?.message}
            maxLength={1_000}
            placeholder="no longer built"
            error={wrong("deprecation.message")}
          />
          <TextField
            label="Use instead"
            name="replacement"
            defaultValue={now?.replacement}
            placeholder="acme/team/app"
            spellCheck={false}
            help="The path of an image here, with or without a tag"
            error={wrong("deprecation.replacement")}
          />
          <TextField
            label="Ends on"
            name="endTime"
            type="datetime-local"
            defaultValue={localTime(now?.endTime)}
            help="Leave empty if it has already ended"
            error={wrong("deprecation.endTime")}
          />
          <CheckField
            label="Reject pulls from then on"
            name="block"
            defaultChecked={now?.block}
            help="Otherwise pulls still work, with the warning"
          />
        </>
      )}
    </SettingsForm>
  );
}

function deprecationOf(form: FormData): RepoDeprecationInput {
  const endTime = timeOfLocal(form.get("endTime"));
  return {
    message: String(form.get("message") ?? "").trim(),
    replacement: String(form.get("replacement") ?? "").trim(),
    block: form.get("block") !== null,
    ...(endTime !== undefined && { endTime }),
  };
}
