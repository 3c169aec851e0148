import { Menu as Base } from "@base-ui/react/menu";
import { Check, Ellipsis } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import buttonStyles from "./button.module.css";
import styles from "./menu.module.css";

export interface MenuItem {
  label: string;
  onSelect: () => void;
  isDanger?: boolean;
  icon?: ReactNode;
  /** Whether it is the one that holds, among several of which one does. */
  isChosen?: boolean;
  /** Why it cannot be done now; the item is shown with it. */
  disabledReason?: string | undefined;
}

export interface MenuProps {
  /** What three dots are for, such as "Actions for latest". */
  label: string;
  items: readonly MenuItem[];
  /** In place of three dots; what stands in it says what the menu is for. */
  trigger?: ReactElement<Record<string, unknown>>;
  /** Above the items. */
  head?: ReactNode;
  /** At which end of the button it opens. */
  align?: "start" | "end";
}

/** A button with a list of actions. */
export function Menu({ label, items, trigger, head, align = "end" }: MenuProps) {
  return (
    <Base.Root>
      {trigger === undefined ? (
        <Base.Trigger
          className={`${buttonStyles.button} ${buttonStyles.quiet} ${buttonStyles.icon}`}
          aria-label={label}
        >
          <Ellipsis size={16} aria-hidden />
        </Base.Trigger>
      ) : (
        <Base.Trigger render={trigger} />
      )}
      <Base.Portal>
        <Base.Positioner className={styles.positioner} align={align} sideOffset={4}>
          <Base.Popup className={styles.popup}>
            {head !== undefined && <div className={styles.head}>{head}</div>}
            {items.map(({ label: text, onSelect, isDanger, icon, isChosen = false, disabledReason }) => (
              <Base.Item
                key={text}
                className={`${styles.item} ${isDanger ? styles.danger : ""}`}
                disabled={disabledReason !== undefined}
                onClick={onSelect}
              >
                {icon}
                <span>
                  {text}
                  {disabledReason !== undefined && <small>{disabledReason}</small>}
                </span>
                {isChosen && <Check size={16} aria-label="chosen" />}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
