// Values of the API as people read them.
import { isUid } from "../api/name-kinds.ts";
import { printable } from "../printable.ts";
import { bytesText } from "./sizes.ts";

/**
 * What a value is. On a terminal a time is shown as an age, and a digest by its beginning; in a pipe, in `wide` and in
 * `csv` both are as the API has them. `bytes`: a number of bytes, which is as the API has it in `csv` alone.
 * `path`: a path of names, or a uid whose name the caller may not see, of which a terminal gets both ends.
 */
export type CellKind = "text" | "time" | "bytes" | "digest" | "path";

/** How much is shown: `short` on a terminal, `whole` elsewhere, `raw` for programs. */
export type CellForm = "short" | "whole" | "raw";

const SHORT_DIGEST = "sha256:".length + 12;
const UID_ENDS = 8;
const AGES: readonly (readonly [string, number])[] = [
  ["y", 365 * 86_400],
  ["mo", 30 * 86_400],
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
];

/** A value in the form that the output takes; control characters are left to whoever prints `raw`. */
export function cellText(value: string, kind: CellKind, form: CellForm, nowMs: number): string {
  if (form === "raw" || value === "") return value;
  if (kind === "bytes") return sizeText(value);
  if (form === "short" && kind === "time") return ageText(value, nowMs);
  if (form === "short" && kind === "digest") return printable(value).slice(0, SHORT_DIGEST);
  if (form === "short" && kind === "path" && isUid(value))
    return `${value.slice(0, UID_ENDS)}…${value.slice(-UID_ENDS)}`;
  return printable(value);
}

/** A number of bytes such as `1.5MiB`, without a blank so that it is one word; other text as it is. */
export function sizeText(value: string): string {
  const bytes = Number(value);
  if (!Number.isFinite(bytes) || bytes < 0) return printable(value);
  return bytesText(bytes).replace(" ", "");
}

/** A time of the API as an age: `3h ago`, `in 5d`; other text as it is. */
export function ageText(value: string, nowMs: number): string {
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return printable(value);
  const seconds = Math.trunc((nowMs - ms) / 1000);
  const [unit, size] = AGES.find(([, least]) => Math.abs(seconds) >= least) ?? ["s", 1];
  const count = Math.floor(Math.abs(seconds) / size);
  if (count === 0) return "now";
  return seconds > 0 ? `${count}${unit} ago` : `in ${count}${unit}`;
}
