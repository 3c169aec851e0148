// Reads a command line as bash's line editor sees it: completion there works on the text, not on words.

/** The words of a line up to the cursor, without quotes; the last one is where the cursor is. */
export interface BashLine {
  readonly words: readonly string[];
  /** The quote that is open at the cursor; empty outside of quotes. */
  readonly quote: "" | "'" | '"';
  /** How many characters of the last word stand before what the line editor replaces. */
  readonly kept: number;
}

/**
 * Splits a line into words. `breaks`: bash's COMP_WORDBREAKS. At those characters, such as `:` and `=`, the line editor
 * begins a new word, though for the command it is one: of `acme/app:1` it replaces the `1` alone.
 */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let word: string | undefined;
  let kept = 0;
  let quote: BashLine["quote"] = "";
  const add = (text: string): void => {
    word = `${word ?? ""}${text}`;
  };
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? "";
    if (quote === "'" || (quote === '"' && char !== "\\")) {
      if (char === quote) {
        quote = "";
        kept = word?.length ?? 0;
      } else add(char);
    } else if (char === "\\" && quote === '"' && !/["$`\\]/.test(line[at + 1] ?? "")) {
      add(char);
    } else if (char === "\\") {
      at += 1;
      add(line[at] ?? "");
    } else if (char === "'" || char === '"') {
      quote = char;
      add("");
      kept = word?.length ?? 0;
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      kept = 0;
    } else {
      add(char);
      if (breaks.includes(char)) kept = word?.length ?? 0;
    }
  }
  return { words: [...words, word ?? ""], quote, kept };
}

/** A word as it is inserted at the cursor of a line. */
export function insertion(word: string, { quote, kept }: BashLine): string {
  const text = word.slice(kept);
  if (quote === "'") return text.replaceAll("'", String.raw`'\''`);
  return quote === '"'
    ? text.replaceAll(/["$`\\]/g, String.raw`\$&`)
    : text.replaceAll(/[\s"'`$\\|&;<>()*?[\]{}!#~]/g, String.raw`\$&`);
}
