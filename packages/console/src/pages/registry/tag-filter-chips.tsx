import { FilterChip } from "../../ui/filter-chip.tsx";
import { filtersOf, FINDINGS, HIDE, PLATFORMS, SIGNATURES, STATUS, type TagFilters, UPDATED } from "./tag-filters.ts";

export interface TagFilterChipsProps {
  filters: TagFilters;
  onFilter: (change: TagFilters) => void;
}

/** Which tags of a repo are listed; each chip holds as soon as it is chosen. */
export function TagFilterChips({ filters, onFilter }: TagFilterChipsProps) {
  const { updated, status, hide, platform, signature, findings } = filtersOf(filters);
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
        label="Platform"
        value={platform}
        options={PLATFORMS}
        onValue={(value) => onFilter({ platform: value })}
      />
      <FilterChip
        label="Signature"
        value={signature}
        options={SIGNATURES}
        onValue={(value) => onFilter({ signature: value })}
      />
      <FilterChip
        label="Findings"
        value={findings}
        options={FINDINGS}
        onValue={(value) => onFilter({ findings: value })}
      />
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
