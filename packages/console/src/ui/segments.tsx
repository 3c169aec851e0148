import { type ReactNode, useId } from "react";
import styles from "./segments.module.css";

export interface SegmentedProps<Value extends string> {
  /** What is chosen, for assistive technology. */
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, label: ReactNode])[];
  onValue: (value: Value) => void;
}

/** A choice of one among a few that are all seen; by arrow keys too. */
export function Segmented<Value extends string>({ label, value, options, onValue }: SegmentedProps<Value>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className={styles.segmented}>
      {options.map(([each, text]) => (
        <label key={each}>
          <input
            type="radio"
            name={name}
            className="visually-hidden"
            checked={each === value}
            onChange={() => onValue(each)}
          />
          {text}
        </label>
      ))}
    </div>
  );
}
