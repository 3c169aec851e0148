/** What a mail says, as plain text. */
export interface MailText {
  subject: string;
  lines: readonly string[];
}

const MAX_WORD_CHARS = 64;
const OTHER_CHARACTERS = /[^\p{L}\p{M}\p{N} .,_@'+()-]/gu;

/**
 * A name that somebody chose, for a sentence of a mail: one line of letters, digits and a few signs, at most 64 of
 * them, so that nobody puts an address of a site or markup into mails that this server sends.
 */
export function quotable(name: string): string {
  const text = name
    .slice(0, 4 * MAX_WORD_CHARS)
    .toWellFormed()
    .replace(OTHER_CHARACTERS, " ");
  return (
    text
      .split(" ")
      .filter((word) => word !== "")
      .join(" ")
      .slice(0, MAX_WORD_CHARS)
      .trim() || "somebody"
  );
}

/** The time as mails show it: `2026-01-31 12:00 UTC`. */
export function mailTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
