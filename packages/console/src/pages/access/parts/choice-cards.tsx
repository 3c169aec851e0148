import { type ReactNode, useId } from "react";
import styles from "./choice-cards.module.css";

/** One of the cards: its value, its title, and what choosing it means. */
export type ChoiceCard = readonly [value: string, title: string, text: string];

export interface ChoiceCardsProps {
  legend: string;
  cards: readonly ChoiceCard[];
  value: string;
  onChange: (value: string) => void;
  /** What is wrong with the choice, as the server said. */
  error?: string | undefined;
  /** Whether cards stand beside each other where there is space: for more than a few. */
  isGrid?: boolean;
  /** Below the cards, such as a field that one of them needs. */
  children?: ReactNode;
}

/** A choice of one among cards, each of which says what it means. */
export function ChoiceCards({ legend, cards, value, onChange, error, isGrid = false, children }: ChoiceCardsProps) {
  const name = useId();
  return (
    <fieldset className={styles.cards} aria-describedby={`${name}-error`}>
      <legend>{legend}</legend>
      <div className={isGrid ? styles.grid : styles.list}>
        {cards.map(([each, title, text]) => (
          <label key={each} className={styles.option}>
            <input type="radio" name={name} checked={each === value} onChange={() => onChange(each)} />
            <span>
              <strong>{title}</strong>
              <small>{text}</small>
            </span>
          </label>
        ))}
      </div>
      {children}
      <p id={`${name}-error`} className={styles.error}>
        {error}
      </p>
    </fieldset>
  );
}
