import { Search } from "lucide-react";
import { useEffect, useRef } from "react";
import styles from "./search-box.module.css";
import { useTyped } from "./use-entry.ts";

export interface SearchBoxProps {
  label: string;
  value?: string | undefined;
  placeholder?: string;
  /** Fewer letters are not searched for: they count as none. */
  minLetters?: number;
  /** Called with the text without spaces around it, when the typing pauses. */
  onSearch: (text: string) => void;
}

/** A line of text that is searched for as it is typed, and immediately when it is sent. A `/` anywhere goes to it. */
export function SearchBox({ label, value = "", placeholder = label, minLetters = 1, onSearch }: SearchBoxProps) {
  const { text, setText, send } = useTyped(value, minLetters, onSearch);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <form
      role="search"
      aria-label={label}
      className={styles.box}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <input
        ref={input}
        type="search"
        className={styles.input}
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={placeholder}
        value={text}
        maxLength={200}
        onChange={(event) => setText(event.target.value)}
      />
      <Search size={16} aria-hidden />
      <kbd aria-hidden>/</kbd>
    </form>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}
