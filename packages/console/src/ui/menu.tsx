import { Menu as Base } from "@base-ui/react/menu";
import { Ellipsis } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import buttonStyles from "./button.module.css";
import styles from "./menu.module.css";

export interface MenuItem {
  label: string;
  onSelect: () => void;
  isDanger?: boolean;
  /** Why it cannot be done now; the item is shown with it. */
  disabledReason?: string | undefined;
}

export interface MenuProps {
  /** What the menu is for, such as "Actions for latest". */
  label: string;
  items: readonly MenuItem[];
  /** In place of three dots. */
  trigger?: ReactElement<Record<string, unknown>>;
  /** Above the items. */
  head?: ReactNode;
}

/** A button with a list of actions. */
export function Menu({ label, items, trigger, head }: MenuProps) {
  return (
    <Base.Root>
      {trigger === undefined ? (
        <Base.Trigger className={`${buttonStyles.button} ${buttonStyles.quiet}`} aria-label={label}>
          <Ellipsis size={18} aria-hidden />
        </Base.Trigger>
      ) : (
        <Base.Trigger render={trigger} aria-label={label} />
      )}
      <Base.Portal>
        <Base.Positioner className={styles.positioner} align="end" sideOffset={4}>
          <Base.Popup className={styles.popup}>
            {head !== undefined && <div className={styles.head}>{head}</div>}
            {items.map(({ label: text, onSelect, isDanger, disabledReason }) => (
              <Base.Item
                key={text}
                className={`${styles.item} ${isDanger ? styles.danger : ""}`}
                disabled={disabledReason !== undefined}
                onClick={onSelect}
              >
                {text}
                {disabledReason !== undefined && <small>{disabledReason}</small>}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
