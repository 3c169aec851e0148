import { Search } from "lucide-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import styles from "./search-box.module.css";

export interface SearchBoxProps {
  label: string;
  value?: string | undefined;
  placeholder?: string;
  /** Fewer letters are not searched for: they count as none. */
  minLetters?: number;
  /** Called with the text without spaces around it, when the typing pauses. */
  onSearch: (text: string) => void;
}

const PAUSE_MS = 200;

/** A line of text that is searched for as it is typed, and at once when it is sent. A `/` anywhere goes to it. */
export function SearchBox({ label, value = "", placeholder = label, minLetters = 1, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  // What was sent and has not come back as the value yet, and before it the value itself.
  const sent = useRef([value]);
  useEffect(() => {
    const at = sent.current.indexOf(value);
    // Changed by something else, such as Back.
    if (at < 0) setText(value);
    sent.current = at < 0 ? [value] : sent.current.slice(at);
  }, [value]);
  const search = useEffectEvent((): void => {
    const wanted = text.trim().length < minLetters ? "" : text.trim();
    if (wanted === sent.current.at(-1)) return;
    sent.current.push(wanted);
    onSearch(wanted);
  });
  useEffect(() => {
    const timer = setTimeout(() => search(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
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
        search();
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
