// What each shell's script is answered.
import { type BashLine, insertion } from "./bash-line.ts";
import type { Candidate, Offer } from "./candidates.ts";
import { printable } from "../printable.ts";

/** The shells that there is completion for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** One of them. */
export type Shell = (typeof SHELLS)[number];

const MAX_CANDIDATES = 2000;
// After these a word goes on, so that no space follows it.
const OPEN = /[/:=]$/;

/**
 * For zsh, fish and PowerShell: a line for each candidate, its word, a tab and its help; `:files` or `:folders` where
 * the shell completes paths.
 */
export function linesFor({ candidates, paths }: Offer): string {
  if (paths !== undefined) return `:${paths}\n`;
  return candidates
    .filter(isPrintable)
    .slice(0, MAX_CANDIDATES)
    .map(({ word, help }) => `${word}\t${clean(help)}\n`)
    .join("");
}

/**
 * For bash: a first line with `nospace`, `files` or `folders` or nothing, then what is inserted, one a line. Of several
 * candidates that bash lists, each has its help beside it. `type`: bash's COMP_TYPE; `columns`: the terminal's width.
 */
export function bashLines(
  { candidates, paths }: Offer,
  line: BashLine,
  { type, columns }: { type: string; columns: number },
): string {
  if (paths !== undefined) return `${paths}\n`;
  const all = candidates.filter(isPrintable).slice(0, MAX_CANDIDATES);
  const words = all.map(({ word }) => insertion(word, line));
  const head = all.length > 0 && all.every(({ word }) => OPEN.test(word)) ? "nospace" : "";
  // With these types bash inserts the candidates one after the other: they must be words and nothing else.
  const listed = all.length > 1 && type !== "37" && type !== "42" && line.quote === "";
  const width = Math.min(Math.max(0, ...words.map((word) => word.length)), 40);
  const shown = words.map((word, at) => {
    const help = clean(all[at]?.help ?? "");
    const left = columns - Math.max(width, word.length) - 6;
    return listed && help !== "" && left > 10 ? `${word.padEnd(width)}  (${cut(help, left)})` : word;
  });
  return [head, ...shown].map((text) => `${text}\n`).join("");
}

function isPrintable({ word }: Candidate): boolean {
  // Names that would control the terminal are not offered.
  return word !== "" && printable(word) === word;
}

function clean(help: string): string {
  return printable(help).trim();
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
