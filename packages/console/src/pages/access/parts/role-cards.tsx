import { useId, useState } from "react";
import { ChoiceField } from "./choice-field.tsx";
import { useChoices } from "./data.ts";
import type { OwnField } from "./resource.ts";
import styles from "./role-cards.module.css";

/** The built-in roles that people are given most, the least of them first, and what each adds. */
const COMMON = [
  ["viewer", "Viewer", "Sees and pulls everything but the audit log"],
  ["editor", "Editor", "Also pushes, and sets policies"],
  ["owner", "Owner", "Also gives access to others"],
] as const;
const OTHER = "other";

/** Chooses a role by its uid: one of those that are given most, or any other. */
export function RoleCards({ value, onChange, error }: OwnField) {
  const name = useId();
  const roles = useChoices("role");
  const [isOther, setIsOther] = useState(false);
  const cards = COMMON.flatMap(([label, title, text]) => {
    const role = roles.find((each) => each.label === label);
    return role === undefined ? [] : [{ uid: role.value, title, text }];
  });
  const choose = (uid: string): void => {
    setIsOther(uid === OTHER);
    onChange(uid === OTHER ? "" : uid);
  };
  return (
    <fieldset className={styles.cards} aria-describedby={`${name}-error`}>
      <legend>Role</legend>
      {[...cards, { uid: OTHER, title: "Other", text: "Any role that you may give" }].map(({ uid, title, text }) => (
        <label key={uid}>
          <input
            type="radio"
            name={name}
            checked={uid === OTHER ? isOther : !isOther && uid === value}
            onChange={() => choose(uid)}
          />
          <span>
            <strong>{title}</strong>
            <small>{text}</small>
          </span>
        </label>
      ))}
      {isOther ? (
        <ChoiceField label="Other role" choices={roles} value={value} onChange={onChange} error={error} />
      ) : (
        <p id={`${name}-error`} className={styles.error}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
