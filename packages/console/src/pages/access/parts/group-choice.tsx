import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChoiceField } from "./choice-field.tsx";
import { useChoices } from "./data.ts";

/** The group that a page is about: chosen once, kept in its address. `none`: what the page shows without one. */
export function GroupChoice({ group, none }: { group: string; none?: string }) {
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const choices = useChoices("group");
  return (
    <ChoiceField
      label="Group"
      help="With everything below it"
      none={none ?? "All groups"}
      choices={choices}
      value={group}
      onChange={(uid) => void navigate({ to: ".", search: { ...search, group: uid || undefined } })}
    />
  );
}
