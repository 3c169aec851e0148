import type { GroupUsage } from "../../../api/gen/registry.ts";
import { bytes, count } from "../../../lib/bytes.ts";

const NOT_KNOWN = "not known";
const month = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });
const monthOfYear = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

/** What a group takes up at the end of the period; a lower bound says so. */
export function sizeWords({ bytes: size, bytesAtLeast }: GroupUsage): string {
  if (size === undefined) return NOT_KNOWN;
  return `${bytesAtLeast ? "at least " : ""}${bytes(size)}`;
}

/** By how much it grew: `+1.20 GiB`, `−4.00 MiB`, `unchanged`. */
export function growthWords({ growth }: GroupUsage): string {
  if (growth === undefined) return NOT_KNOWN;
  const value = Number(growth);
  if (value === 0) return "unchanged";
  return `${value < 0 ? "−" : "+"}${bytes(Math.abs(value))}`;
}

/** How often something was pulled. */
export function pullWords({ pulls, incomplete }: GroupUsage): string {
  return pulls === undefined ? NOT_KNOWN : `${incomplete ? "at least " : ""}${count(pulls)}`;
}

/** How much was pulled. */
export function trafficWords({ trafficBytes, incomplete }: GroupUsage): string {
  return trafficBytes === undefined ? NOT_KNOWN : `${incomplete ? "at least " : ""}${bytes(trafficBytes)}`;
}

/** A period of the API, `2026-11` or `2026-11-27`, in words: `November 2026`, `Nov 27`. */
export function periodName(period: string): string {
  const isMonth = period.length === "2026-11".length;
  const ms = Date.parse(isMonth ? `${period}-01` : period);
  return Number.isNaN(ms) ? period : (isMonth ? monthOfYear : day).format(ms);
}

/** What stands below its bar: the month, and of days every fifth. */
export function periodLabel(period: string, at: number, all: number): string {
  const isMonth = period.length === "2026-11".length;
  const ms = Date.parse(isMonth ? `${period}-01` : period);
  if (Number.isNaN(ms)) return period;
  if (isMonth) return month.format(ms);
  return (all - 1 - at) % 5 === 0 ? String(new Date(ms).getUTCDate()) : "";
}

/** The rows of each group, in the order of the answer. */
export function byGroup(rows: readonly GroupUsage[]): (readonly [GroupUsage, ...GroupUsage[]])[] {
  const groups = new Map<string, [GroupUsage, ...GroupUsage[]]>();
  for (const row of rows) {
    const known = groups.get(row.groupUid);
    if (known === undefined) groups.set(row.groupUid, [row]);
    else known.push(row);
  }
  return [...groups.values()];
}
