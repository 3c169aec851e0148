import { Check, Copy } from "lucide-react";
import { useCopy } from "./use-copy.ts";
import styles from "./chips.module.css";

const SHOWN = 12;

/** A digest by its first twelve digits, as a link where there is a page; the button copies `text`, all of it. */
export function DigestChip({ digest, href, text = digest }: { digest: string; href?: string; text?: string }) {
  const { said, copy } = useCopy(text, "Copy the digest");
  const hex = digest.slice(digest.indexOf(":") + 1).slice(0, SHOWN);
  return (
    <span className={styles.digest} title={digest}>
      {href === undefined ? (
        <code>{hex}</code>
      ) : (
        <a href={href}>
          <code>{hex}</code>
        </a>
      )}
      <button type="button" aria-label={said} onClick={copy}>
        {said === "Copied" ? <Check size={12} aria-hidden /> : <Copy size={12} aria-hidden />}
      </button>
    </span>
  );
}
