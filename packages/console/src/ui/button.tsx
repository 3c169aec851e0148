import { type ComponentProps, type ReactElement, type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./button.module.css";
import type { Hint } from "./hint.tsx";

// Few pages have a button that needs one when they first show.
let loaded: typeof Hint | undefined;

export interface ButtonProps extends Omit<ComponentProps<"button">, "disabled"> {
  /**
   * `primary`: what the page is for, once a page; `danger`: leads to what cannot be taken back; `solidDanger`: does it.
   */
  look?: "primary" | "plain" | "danger" | "solidDanger" | "quiet";
  /** Lower, for rows and heads of cards. */
  isSmall?: boolean;
  /**
   * Why the button does nothing now. It stays where it is and can be reached by keyboard, so that the reason can be
   * read.
   */
  disabledReason?: string | undefined;
  /** Whether what it began is under way. */
  isBusy?: boolean;
  icon?: ReactNode;
}

/** A button. One that is not possible says why instead of being hidden. */
export function Button({
  look = "plain",
  disabledReason,
  isBusy = false,
  isSmall = false,
  icon,
  children,
  className = "",
  onClick,
  type = "button",
  ...rest
}: ButtonProps) {
  const isDisabled = disabledReason !== undefined || isBusy;
  const button = (
    <button
      {...rest}
      type={type}
      className={[
        styles.button,
        styles[look],
        isSmall && styles.small,
        children === undefined && styles.icon,
        className,
      ]
        .filter(Boolean)
        .join(" ")}
      aria-disabled={isDisabled || undefined}
      aria-busy={isBusy || undefined}
      onClick={(event) => {
        if (isDisabled) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon}
      {children}
    </button>
  );
  return disabledReason === undefined ? (
    button
  ) : (
    <Hinted text={disabledReason}>{button as ReactElement<Record<string, unknown>>}</Hinted>
  );
}

interface HintedProps {
  text: string;
  children: ReactElement<Record<string, unknown>>;
}

/** The button with its hint, once the code of hints is there; a button that has the focus then keeps it. */
function Hinted({ text, children }: HintedProps) {
  const [Loaded, setLoaded] = useState(() => loaded);
  const place = useRef<HTMLSpanElement>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    if (Loaded !== undefined) {
      if (hadFocus.current) place.current?.querySelector("button")?.focus();
      return;
    }
    import("./hint.tsx").then(
      ({ Hint: component }) => {
        hadFocus.current = place.current?.contains(document.activeElement) ?? false;
        loaded = component;
        setLoaded(() => component);
      },
      () => {
        // Without it the button is as it would be before.
      },
    );
  }, [Loaded]);
  return (
    <span ref={place} className={styles.hinted}>
      {Loaded === undefined ? children : <Loaded text={text}>{children}</Loaded>}
    </span>
  );
}
