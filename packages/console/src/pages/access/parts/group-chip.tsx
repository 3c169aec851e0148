import { FilterChip } from "../../../ui/filter-chip.tsx";
import { useChoices } from "./data.ts";

/** The group that a list is about, with everything below it. */
export function GroupChip({ group, onGroup }: { group: string; onGroup: (uid: string | undefined) => void }) {
  const choices = useChoices("group");
  return (
    <FilterChip
      label="Group"
      none="All groups"
      value={group || undefined}
      options={choices.map(({ value, label }) => [value, label])}
      onValue={onGroup}
    />
  );
}
