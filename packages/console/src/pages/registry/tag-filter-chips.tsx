import { FilterChip } from "../../ui/filter-chip.tsx";
import { filtersOf, HIDE, STATUS, type TagFilters, UPDATED } from "./tag-filters.ts";

export interface TagFilterChipsProps {
  filters: TagFilters;
  onFilter: (change: TagFilters) => void;
}

/** Which tags of a repo are listed; each chip holds as soon as it is chosen. */
export function TagFilterChips({ filters, onFilter }: TagFilterChipsProps) {
  const { updated, status, hide } = filtersOf(filters);
  return (
    <>
      <FilterChip
        label="Updated"
        none="At any time"
        value={updated}
        options={UPDATED}
        onValue={(value) => onFilter({ updated: value })}
      />
      <FilterChip label="Status" value={status} options={STATUS} onValue={(value) => onFilter({ status: value })} />
      <FilterChip
        label="Hide"
        none="Nothing"
        value={hide}
        options={HIDE}
        onValue={(value) => onFilter({ hide: value })}
      />
    </>
  );
}
