import { UNITS } from "./bytes.ts";

const LETTERS = UNITS.map((unit) => unit.toLowerCase());
const SIZE = /^(\d{1,12}(?:\.\d{1,6})?) ?([a-z]{0,3})$/;

/**
 * The bytes of a size that somebody typed, such as `10 GiB` or `512`, as the API has 64-bit integers. Units are binary,
 * `10 GB` and `10 g` are taken for `10 GiB`. Undefined when it is no size.
 */
export function bytesOf(text: string): string | undefined {
  const [, number = "", unit = ""] = SIZE.exec(text.trim().toLowerCase()) ?? [];
  if (number === "") return undefined;
  const at =
    unit === "" ? 0 : LETTERS.findIndex((each) => each === unit || each.replace("i", "") === unit || each[0] === unit);
  const value = at < 0 ? Number.NaN : Math.round(Number(number) * 1024 ** at);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Bytes as a field has them, such that `bytesOf` gives the same again: `10 GiB`, or all digits. */
export function sizeText(value: string | undefined): string {
  if (value === undefined) return "";
  let rest = Number(value);
  let at = 0;
  while (rest >= 1024 && rest % 1024 === 0 && at < UNITS.length - 1) {
    rest /= 1024;
    at += 1;
  }
  return at === 0 ? value : `${rest} ${UNITS[at]}`;
}
