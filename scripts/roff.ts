// A little of roff, the language of man pages: the macros of man(7), which groff and mandoc both take.

/** A text as roff reads it as nothing but text. */
export function plainText(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replaceAll(
      /[^\x20-\x7e\n]/gu,
      (char) => `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replaceAll(/^\./gm, "\\&.");
}

/**
 * Prose out of Markdown of one paragraph: code in bold, links without their addresses, long names with places where a
 * line may end.
 */
export function prose(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .split(/(`[^`]+`)/)
    .map((part) => (/^`[^`]+`$/.test(part) ? `\\fB${plainText(part.slice(1, -1))}\\fP` : plainText(part)))
    .join("")
    .replaceAll(/\s*\n\s*/g, "\n")
    .replaceAll(/\S{24,}/g, (word) => word.replaceAll(/[/,=|:]/g, String.raw`$&\:`));
}

/** A macro with its arguments. */
export function macro(name: string, ...words: readonly string[]): string {
  return [`.${name}`, ...words.map((word) => `"${word.replaceAll('"', "\\(dq")}"`)].join(" ");
}

/** Paragraphs with a term each, such as flags. */
export function terms(list: readonly (readonly [term: string, text: string])[]): string[] {
  return list.flatMap(([term, text]) => [".TP", `\\fB${plainText(term)}\\fP`, prose(text)]);
}

/** Lines that stay as they are. */
export function verbatim(text: string): string[] {
  return [".PP", ".RS 4", ".nf", plainText(text), ".fi", ".RE"];
}
