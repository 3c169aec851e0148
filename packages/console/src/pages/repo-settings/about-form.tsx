import { useState } from "react";
import type { Repo } from "../../api/gen/registry.ts";
import { fieldErrors } from "../../lib/field-errors.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Note } from "../../ui/note.tsx";
import { useSave } from "./save.ts";
import { SettingsForm } from "./settings-form.tsx";

/** What a form of the settings gets. */
export interface RepoFormProps {
  repo: Repo;
  disabledReason: string | undefined;
}

/** What the image is: a line, and the readme as it will be shown. */
export function AboutForm({ repo, disabledReason }: RepoFormProps) {
  const save = useSave(repo.uid);
  const [readme, setReadme] = useState(repo.readme);
  const wrong = fieldErrors(save.error);
  return (
    <SettingsForm
      title="Description and readme"
      disabledReason={disabledReason}
      isBusy={save.isPending}
      error={save.error}
      fields={["description", "readme"]}
      onSave={(form) =>
        save.mutate({
          fields: { description: String(form.get("description")).trim(), readme },
          mask: "description,readme",
        })
      }
    >
      <TextField
        label="Description"
        name="description"
        defaultValue={repo.description}
        help="One line about the image"
        error={wrong("description")}
      />
      <TextArea
        label="Readme"
        rows={12}
        value={readme}
        onChange={({ target }) => setReadme(target.value)}
        help="Markdown. HTML is removed, and images appear as links."
        error={wrong("readme")}
      />
      {readme.trim() !== "" && (
        <div role="region" aria-label="Preview of the readme">
          <Note>
            <Markdown text={readme} />
          </Note>
        </div>
      )}
    </SettingsForm>
  );
}
