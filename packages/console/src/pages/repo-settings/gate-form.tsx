import { useDeferredValue, useState } from "react";
import type {
  FindingSeverity,
  GateAction,
  GateMode,
  OnUnknown,
  VulnerabilityGate,
  VulnerabilityGateInput,
} from "../../api/gen/registry.ts";
import { fieldErrors } from "../../lib/field-errors.ts";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { useSave } from "./save.ts";
import type { RepoFormProps } from "./about-form.tsx";
import { GatePreview } from "./gate-preview.tsx";
import styles from "./retention-rules.module.css";
import { SettingsForm } from "./settings-form.tsx";

const SEVERITIES: readonly (readonly [value: FindingSeverity, words: string])[] = [
  ["FINDING_SEVERITY_UNSPECIFIED", "any, including unknown"],
  ["FINDING_SEVERITY_LOW", "low or worse"],
  ["FINDING_SEVERITY_MEDIUM", "medium or worse"],
  ["FINDING_SEVERITY_HIGH", "high or worse"],
  ["FINDING_SEVERITY_CRITICAL", "critical"],
];
const ACTIONS = ["GATE_ACTION_PULL", "GATE_ACTION_PROMOTE"] as const;
const FIELDS = ["severity", "fixableOnly", "kev", "graceDays", "on", "mode", "onUnknown"].map(
  (name) => `vulnerabilities.${name}`,
);

/** Which images are not pulled or promoted, for the findings in them, with what that would be before it is saved. */
export function GateForm({ repo, path, disabledReason }: RepoFormProps & { path: string }) {
  const save = useSave(repo.uid);
  const gate = repo.tagPolicy?.vulnerabilities;
  const [isOn, setOn] = useState(gate !== undefined);
  const [typed, setTyped] = useState<VulnerabilityGateInput>(() => startOf(gate));
  const shown = useDeferredValue(typed);
  const isSaved = gate !== undefined && JSON.stringify(typed) === JSON.stringify(startOf(gate));
  const wrong = fieldErrors(save.error);
  return (
    <SettingsForm
      title="Vulnerability gate"
      disabledReason={disabledReason}
      isBusy={save.isPending}
      error={save.error}
      fields={FIELDS}
      onSave={(form) =>
        save.mutate({
          fields: { tagPolicy: isOn ? { vulnerabilities: gateOf(form) } : {} },
          mask: "tagPolicy.vulnerabilities",
        })
      }
      after={isOn && <GatePreview repo={{ uid: repo.uid, path }} gate={shown} isSaved={isSaved} />}
    >
      <CheckField
        label="Block images with findings"
        checked={isOn}
        onChange={({ target }) => {
          setOn(target.checked);
          // The fields begin anew.
          setTyped(startOf(gate));
        }}
        help="A finding counts when all that is set here holds for it; one is enough"
      />
      {isOn && (
        <div
          className={styles.fields}
          onChange={({ target }) => {
            if (target instanceof HTMLElement) {
              const form = target.closest("form");
              if (form !== null) setTyped(gateOf(new FormData(form)));
            }
          }}
        >
          <SelectField
            label="Severity"
            name="severity"
            defaultValue={gate?.severity ?? "FINDING_SEVERITY_HIGH"}
            error={wrong("vulnerabilities.severity")}
          >
            {SEVERITIES.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </SelectField>
          <CheckField label="Only with a fix" name="fixable" defaultChecked={gate?.fixableOnly} />
          <CheckField label="Only known to be exploited (KEV)" name="kev" defaultChecked={gate?.kev} />
          <TextField
            label="Grace period, days"
            name="grace"
            type="number"
            min={0}
            max={3650}
            defaultValue={gate?.graceDays ?? 0}
            help="How long a finding must have been open before it counts"
            error={wrong("vulnerabilities.graceDays")}
          />
          <fieldset>
            <legend>Blocks images from</legend>
            <CheckField label="being pulled" name="pull" defaultChecked={gate?.on.includes("GATE_ACTION_PULL")} />
            <CheckField
              label="being promoted"
              name="promote"
              defaultChecked={gate === undefined || gate.on.includes("GATE_ACTION_PROMOTE")}
            />
            {wrong("vulnerabilities.on") !== undefined && <p role="alert">Choose one: {wrong("vulnerabilities.on")}</p>}
          </fieldset>
          <SelectField
            label="What it does"
            name="mode"
            defaultValue={gate?.mode ?? "GATE_MODE_PREVIEW"}
            error={wrong("vulnerabilities.mode")}
          >
            <option value="GATE_MODE_PREVIEW">only emits an event</option>
            <option value="GATE_MODE_ENFORCE">rejects, and emits an event</option>
          </SelectField>
          <SelectField
            label="Images whose contents are not known"
            name="unknown"
            defaultValue={unknownOf(gate)}
            help="Images that are waiting to be read, could not be read completely, or in which nothing was found"
            error={wrong("vulnerabilities.onUnknown")}
          >
            <option value="ON_UNKNOWN_HOLD">are blocked, as with findings</option>
            <option value="ON_UNKNOWN_PASS">pass</option>
          </SelectField>
        </div>
      )}
    </SettingsForm>
  );
}

function gateOf(form: FormData): VulnerabilityGateInput {
  const on: GateAction[] = [];
  if (form.get("pull") !== null) on.push("GATE_ACTION_PULL");
  if (form.get("promote") !== null) on.push("GATE_ACTION_PROMOTE");
  return {
    severity: String(form.get("severity")) as FindingSeverity,
    fixableOnly: form.get("fixable") !== null,
    kev: form.get("kev") !== null,
    graceDays: Number(form.get("grace")),
    on,
    mode: String(form.get("mode")) as GateMode,
    onUnknown: String(form.get("unknown")) as OnUnknown,
  };
}

/** The gate as the form shows it at first; without one, what a new gate begins with. */
function startOf(gate: VulnerabilityGate | undefined): VulnerabilityGateInput {
  return {
    severity: gate?.severity ?? "FINDING_SEVERITY_HIGH",
    fixableOnly: gate?.fixableOnly ?? false,
    kev: gate?.kev ?? false,
    graceDays: gate?.graceDays ?? 0,
    on: ACTIONS.filter((action) => gate?.on.includes(action) ?? action === "GATE_ACTION_PROMOTE"),
    mode: gate?.mode ?? "GATE_MODE_PREVIEW",
    onUnknown: unknownOf(gate),
  };
}

/** What the gate does now: one that enforces and does not say was set before there was this field. */
function unknownOf(gate: VulnerabilityGate | undefined): OnUnknown {
  if (gate === undefined || gate.onUnknown !== "ON_UNKNOWN_UNSPECIFIED") return gate?.onUnknown ?? "ON_UNKNOWN_HOLD";
  return gate.mode === "GATE_MODE_ENFORCE" ? "ON_UNKNOWN_PASS" : "ON_UNKNOWN_HOLD";
}
