import { FilterChip } from "../../ui/filter-chip.tsx";
import { ECOSYSTEMS } from "./words.ts";

export interface EcosystemChipProps {
  value: string | undefined;
  onValue: (word: string | undefined) => void;
}

/** The registry that a list is narrowed to. */
export function EcosystemChip({ value, onValue }: EcosystemChipProps) {
  return (
    <FilterChip label="Registry" value={value} options={ECOSYSTEMS.map(([, word]) => [word, word])} onValue={onValue} />
  );
}
