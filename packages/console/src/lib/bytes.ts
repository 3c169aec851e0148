/** Binary units of bytes, the smallest first. */
export const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Bytes in binary units with three digits: `512 B`, `1.50 MiB`. Takes the text of 64-bit integers too. */
export function bytes(value: number | string): string {
  let rest = Number(value);
  let unit = 0;
  while (rest >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || rest >= 100 ? 0 : rest >= 10 ? 1 : 2;
  return `${rest.toFixed(digits)} ${UNITS[unit]}`;
}

/** A count with separators. */
export function count(value: number | string): string {
  return Number(value).toLocaleString("en");
}

/** `1 tag`, `2 tags`. */
export function counted(value: number | string, one: string, many = `${one}s`): string {
  return `${count(value)} ${Number(value) === 1 ? one : many}`;
}
