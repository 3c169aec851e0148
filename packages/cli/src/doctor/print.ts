import { wrapped } from "../output/wrap.ts";
import type { Check } from "./check.ts";

const STATES: Readonly<Record<Check["state"], string>> = {
  ok: "ok",
  warning: "WARNING",
  failed: "FAILED",
  not_checked: "NOT CHECKED",
};
const STATE_WIDTH = 13;
const NARROWEST = 40;
const DEFAULT_WIDTH = 100;

/** A paragraph for each check, broken between words for a terminal of so many columns, and a line with the counts. */
export function linesOf(checks: readonly Check[], columns = DEFAULT_WIDTH): string[] {
  const width = Math.max(NARROWEST, columns) - STATE_WIDTH;
  const indent = " ".repeat(STATE_WIDTH);
  const paragraphs = checks.flatMap(({ name, state, message, fix }) => [
    ...wrapped(`${name}: ${message}`, width).map(
      (line, at) => (at === 0 ? STATES[state].padEnd(STATE_WIDTH) : indent) + line,
    ),
    ...(fix === undefined ? [] : wrapped(`-> ${fix}`, width).map((line) => indent + line)),
  ]);
  const counts = (Object.keys(STATES) as Check["state"][]).map(
    (state) => `${checks.filter((check) => check.state === state).length} ${STATES[state].toLowerCase()}`,
  );
  return [...paragraphs, counts.join(", ")];
}
