import { Bot } from "lucide-react";
import styles from "./avatar.module.css";

const HUES = 6;

export interface AvatarProps {
  /** A name or an address: its letters, and the color. */
  name: string;
  isMachine?: boolean;
  size?: "small" | "medium" | "large";
}

/** A mark beside a name: initials of a person, a robot for a machine. It says nothing that the name does not. */
export function Avatar({ name, isMachine = false, size = "medium" }: AvatarProps) {
  const look = isMachine ? styles.bot : styles[`hue${hueOf(name)}`];
  return (
    <span className={`${styles.avatar} ${styles[size]} ${look}`} aria-hidden>
      {isMachine ? <Bot size={size === "small" ? 12 : 14} /> : initialsOf(name)}
    </span>
  );
}

/** Up to two letters of a name: those of the first and the last word. */
function initialsOf(name: string): string {
  const words = (name.split("@")[0] ?? "").split(/[\s._-]/).filter((word) => word !== "");
  const [first = "?"] = words;
  const last = words.length > 1 ? (words.at(-1) ?? "") : "";
  return [first, last]
    .map((word) => [...word][0] ?? "")
    .join("")
    .toUpperCase();
}

function hueOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return sum % HUES;
}
