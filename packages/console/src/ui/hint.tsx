import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";
import styles from "./hint.module.css";

/** Shows a text beside what has the focus or the pointer. Assistive technology reads it as its description. */
export function Hint({ text, children }: { text: string; children: ReactElement<Record<string, unknown>> }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} aria-description={text} delay={250} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className={styles.positioner}>
          <Tooltip.Popup className={styles.popup}>{text}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
