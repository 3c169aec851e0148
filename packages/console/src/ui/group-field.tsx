import type { Group } from "../api/gen/iam.ts";
import { SelectField } from "./field.tsx";
import { groupPath } from "../lib/groups.ts";

export interface GroupFieldProps {
  label?: string;
  help?: string;
  error?: string | undefined;
  /** The uid that is chosen; empty for none. */
  value: string;
  onValue: (uid: string) => void;
  groups: readonly Group[];
  /** What stands for no group, when that is a choice. */
  none?: string;
}

/** The choice of a group by its path. */
export function GroupField({ label = "Group", help, error, value, onValue, groups, none }: GroupFieldProps) {
  const choices = groups
    .map(({ uid }) => ({ uid, path: groupPath(uid, groups) }))
    .toSorted((a, b) => a.path.localeCompare(b.path));
  return (
    <SelectField
      label={label}
      help={help}
      error={error}
      value={value}
      onChange={(event) => onValue(event.target.value)}
    >
      {none !== undefined && <option value="">{none}</option>}
      {choices.map(({ uid, path }) => (
        <option key={uid} value={uid}>
          {path}
        </option>
      ))}
      {value !== "" && !groups.some(({ uid }) => uid === value) && <option value={value}>{value}</option>}
    </SelectField>
  );
}
