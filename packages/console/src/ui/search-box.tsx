import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";
import styles from "./search-box.module.css";

export interface SearchBoxProps {
  label: string;
  value?: string | undefined;
  placeholder?: string;
  /** Called with the text without spaces around it, when it is sent. */
  onSearch: (text: string) => void;
}

/** A line of text that is searched for when it is sent. */
export function SearchBox({ label, value = "", placeholder, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <form
      role="search"
      aria-label={label}
      className={styles.box}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text.trim());
      }}
    >
      <input
        type="search"
        className={styles.input}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        maxLength={200}
        onChange={(event) => {
          setText(event.target.value);
          // The browser's own way to empty the field sends nothing.
          if (event.target.value === "" && value !== "") onSearch("");
        }}
      />
      <Button type="submit" icon={<Search size={16} aria-hidden />}>
        Search
      </Button>
    </form>
  );
}
