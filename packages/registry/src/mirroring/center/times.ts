/** A time of the API, in whole milliseconds since 1970; undefined for anything else. */
export function timeIn(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Math.floor(Date.parse(value.slice(0, 40))) : NaN;
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}
