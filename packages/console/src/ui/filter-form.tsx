import type { FormEvent, ReactNode } from "react";
import { Button } from "./button.tsx";
import styles from "./filter-form.module.css";

export interface FilterFormProps {
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** The fields. */
  children: ReactNode;
  /** Further buttons. */
  actions?: ReactNode;
}

/** The filters of a list beside each other; they hold when the form is sent. */
export function FilterForm({ onSubmit, children, actions }: FilterFormProps) {
  return (
    <form
      className={styles.form}
      role="search"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(event);
      }}
    >
      <div className={styles.fields}>{children}</div>
      <div className={styles.actions}>
        <Button type="submit">Filter</Button>
        {actions}
      </div>
    </form>
  );
}
