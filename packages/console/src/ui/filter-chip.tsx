import { ChevronDown, Plus, X } from "lucide-react";
import styles from "./filter-chip.module.css";

export interface FilterChipProps {
  /** What is filtered by, such as "Severity". */
  label: string;
  /** The chosen value; undefined without one. */
  value: string | undefined;
  options: readonly (readonly [value: string, label: string])[];
  /** What holds without a value. Defaults to "Any". */
  none?: string;
  onValue: (value: string | undefined) => void;
}

/** A filter that holds as soon as it is chosen. Without a value it is an outline; with one it can be taken off. */
export function FilterChip({ label, value, options, none = "Any", onValue }: FilterChipProps) {
  const isSet = value !== undefined;
  const word = options.find(([each]) => each === value)?.[1] ?? value;
  return (
    <span className={styles.chip} data-set={isSet || undefined}>
      {isSet ? <ChevronDown size={14} aria-hidden /> : <Plus size={14} aria-hidden />}
      <span aria-hidden>{isSet ? `${label}: ${word}` : label}</span>
      {/* The browser's own list, over all of the chip: known to fingers, keys and assistive technology. */}
      <select aria-label={label} value={value ?? ""} onChange={(event) => onValue(event.target.value || undefined)}>
        <option value="">{none}</option>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
        {isSet && !options.some(([each]) => each === value) && <option value={value}>{value}</option>}
      </select>
      {isSet && (
        <button type="button" aria-label={`Remove the filter ${label}`} onClick={() => onValue(undefined)}>
          <X size={14} aria-hidden />
        </button>
      )}
    </span>
  );
}
