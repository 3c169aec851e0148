import { type ReactNode, useState } from "react";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { Stack } from "../../../ui/page.tsx";

/** One of what can be chosen. */
export interface Choice {
  value: string;
  label: string;
  detail?: string;
}

export interface ChoiceFieldProps {
  label: string;
  choices: readonly Choice[];
  value: string;
  onChange: (value: string) => void;
  /** What stands there while nothing is chosen. */
  none?: string;
  help?: ReactNode;
  error?: string | undefined;
}

const MANY = 20;
const MAX_SHOWN = 200;

/** A choice among any number: where there are many, letters narrow them. */
export function ChoiceField({ label, choices, value, onChange, none = "Choose…", help, error }: ChoiceFieldProps) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const found = choices.filter(({ label: name, value: uid }) => uid === value || name.toLowerCase().includes(wanted));
  const chosen = choices.find((choice) => choice.value === value);
  const select = (
    <SelectField
      label={label}
      help={help ?? chosen?.detail}
      error={error}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{none}</option>
      {value !== "" && chosen === undefined && <option value={value}>{value}</option>}
      {found.slice(0, MAX_SHOWN).map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </SelectField>
  );
  if (choices.length <= MANY) return select;
  return (
    <Stack>
      <TextField
        label={`Search: ${label.toLowerCase()}`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        help={`${found.length} of ${choices.length} match`}
      />
      {select}
    </Stack>
  );
}
