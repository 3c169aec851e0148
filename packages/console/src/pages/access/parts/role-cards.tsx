import { useState } from "react";
import { ChoiceCards } from "./choice-cards.tsx";
import { ChoiceField } from "./choice-field.tsx";
import { useChoices } from "./data.ts";
import type { OwnField } from "./resource.ts";

/** The built-in roles that people are given most, the least of them first, and what each adds. */
const COMMON = [
  ["viewer", "Viewer", "Views and pulls everything except the audit log"],
  ["editor", "Editor", "Also pushes, and sets policies"],
  ["owner", "Owner", "Also gives access to others"],
] as const;
const OTHER = "other";

/** Chooses a role by its uid: one of those that are given most, or any other. */
export function RoleCards({ value, onChange, error }: OwnField) {
  const roles = useChoices("role");
  const [isOther, setIsOther] = useState(false);
  const cards = COMMON.flatMap(([label, title, text]) => {
    const role = roles.find((each) => each.label === label);
    return role === undefined ? [] : [[role.value, title, text] as const];
  });
  const choose = (uid: string): void => {
    setIsOther(uid === OTHER);
    onChange(uid === OTHER ? "" : uid);
  };
  return (
    <ChoiceCards
      legend="Role"
      cards={[...cards, [OTHER, "Other", "Any role that you can grant"]]}
      value={isOther ? OTHER : value}
      onChange={choose}
      error={isOther ? undefined : error}
    >
      {isOther && <ChoiceField label="Other role" choices={roles} value={value} onChange={onChange} error={error} />}
    </ChoiceCards>
  );
}
