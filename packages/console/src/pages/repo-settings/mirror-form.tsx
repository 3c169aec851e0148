import { durationOfMinutes, minutesOf } from "../../lib/durations.ts";
import { fieldErrors } from "../../lib/field-errors.ts";
import { Button } from "../../ui/button.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import type { RepoFormProps } from "./about-form.tsx";
import { MirrorState } from "./mirror-state.tsx";
import { useSave } from "./save.ts";
import { SettingsForm } from "./settings-form.tsx";

const FIELDS = ["source", "tagPattern", "interval", "pullThrough", "username", "password"].map(
  (name) => `syncConfig.${name}`,
);

/** Which image of another registry, or of this one, the repo follows. */
export function MirrorForm({ repo, disabledReason, mayNotSync }: RepoFormProps & { mayNotSync: string | undefined }) {
  const save = useSave(repo.uid);
  const config = repo.syncConfig;
  const isMirror = config !== undefined && config.source !== "";
  const wrong = fieldErrors(save.error);
  const saveAll = (form: FormData): void => {
    const text = (name: string): string => String(form.get(name) ?? "").trim();
    const password = String(form.get("password") ?? "");
    const interval = durationOfMinutes(text("interval"));
    save.mutate({
      fields: {
        syncConfig: {
          source: text("source"),
          tagPattern: text("tagPattern"),
          ...(interval !== undefined && { interval }),
          pullThrough: form.get("pullThrough") !== null,
          username: text("username"),
          ...(password !== "" && { password }),
        },
      },
      mask: "syncConfig",
    });
  };
  return (
    <SettingsForm
      title="Mirror"
      disabledReason={disabledReason}
      isBusy={save.isPending}
      error={save.error}
      fields={FIELDS}
      onSave={saveAll}
      actions={
        isMirror && (
          <Button disabledReason={disabledReason} onClick={() => save.mutate({ fields: {}, mask: "syncConfig" })}>
            Stop following
          </Button>
        )
      }
      after={isMirror && <MirrorState uid={repo.uid} disabledReason={mayNotSync} />}
    >
      <TextField
        label="Source"
        name="source"
        defaultValue={config?.source}
        placeholder="registry.example.com/team/app"
        spellCheck={false}
        help="An image of another registry without a tag, or the path of an image here. Its tags are copied."
        error={wrong("syncConfig.source")}
      />
      <TextField
        label="Which tags"
        name="tagPattern"
        defaultValue={config?.tagPattern}
        placeholder="all"
        spellCheck={false}
        help="A pattern that matches whole names, such as v[0-9]+\.[0-9]+"
        error={wrong("syncConfig.tagPattern")}
      />
      <TextField
        label="Sync interval, minutes"
        name="interval"
        type="number"
        min={1}
        step="any"
        defaultValue={minutesOf(config?.interval)}
        placeholder="60"
        error={wrong("syncConfig.interval")}
      />
      <CheckField label="Pull-through cache" name="pullThrough" defaultChecked={config?.pullThrough} />
      <TextField
        label="User name"
        name="username"
        defaultValue={config?.username}
        autoComplete="off"
        error={wrong("syncConfig.username")}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        help="It is never shown. Leave empty to keep the stored one, as long as the source and user name stay the same."
        error={wrong("syncConfig.password")}
      />
    </SettingsForm>
  );
}
