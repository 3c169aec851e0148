import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import styles from "./selection-bar.module.css";

/** Over the foot of a list while rows are selected: what can be done with them. */
export function SelectionBar({
  count,
  onClear,
  children,
}: {
  count: number;
  onClear: () => void;
  children: ReactNode;
}) {
  if (count === 0) return null;
  return (
    <div className={styles.space}>
      <div className={styles.bar} role="group" aria-label="Actions for the selection">
        <strong role="status">{count} selected</strong>
        <span className={styles.rule} />
        {children}
        <span className={styles.rule} />
        <Button look="quiet" aria-label="Clear the selection" onClick={onClear} icon={<X size={16} aria-hidden />} />
      </div>
    </div>
  );
}
