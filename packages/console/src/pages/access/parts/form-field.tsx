import { CheckField, SegmentsField, SelectField, TextArea, TextField } from "../../../ui/field.tsx";
import { CapabilityChoice } from "./capability-choice.tsx";
import { ChoiceField } from "./choice-field.tsx";
import { useChoices } from "./data.ts";
import type { FieldSpec } from "./resource.ts";

export interface FormFieldProps {
  spec: FieldSpec;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** One field of a form as its description has it. */
export function FormField({ spec, value, onChange, error }: FormFieldProps) {
  const { kind = "text", label, help, options = [], isSecret, none } = spec;
  const isChoice = kind === "group" || kind === "role" || kind === "identity" || kind === "provider";
  const choices = useChoices(isChoice ? kind : undefined);
  const common = { label, error, ...(help !== undefined && { help }) };
  if (spec.render !== undefined) return spec.render({ value, onChange, error });
  if (isChoice)
    return (
      <ChoiceField
        {...common}
        {...(none !== undefined && { none })}
        choices={choices}
        value={value}
        onChange={onChange}
      />
    );
  if (kind === "capabilities") return <CapabilityChoice value={value} onChange={onChange} error={error} />;
  if (kind === "check")
    return (
      <CheckField
        label={label}
        help={help}
        checked={value === "true"}
        onChange={(event) => onChange(event.target.checked ? "true" : "")}
      />
    );
  const onText = (event: { target: { value: string } }): void => onChange(event.target.value);
  if (kind === "lines") return <TextArea {...common} value={value} onChange={onText} spellCheck={false} />;
  if (kind === "segments") return <SegmentsField {...common} value={value} options={options} onValue={onChange} />;
  if (kind === "options")
    return (
      <SelectField {...common} value={value} onChange={onText}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </SelectField>
    );
  return (
    <TextField
      {...common}
      value={value}
      onChange={onText}
      type={isSecret ? "password" : "text"}
      autoComplete="off"
      spellCheck={false}
    />
  );
}
