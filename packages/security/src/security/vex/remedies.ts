import { storable } from "./storable.ts";

/** What can be done about a vulnerability, as a VEX document says. */
export interface VexRemedy {
  /**
   * As CSAF names it: `vendor_fix`, `no_fix_planned`, `workaround`, `mitigation` or `none_available`; `action` where a
   * format does not say of which kind it is.
   */
  category: string;
  /** For people. */
  details: string;
  /** Where there is more; empty without one. */
  url: string;
}

/** The most of one statement, and the longest text of one. */
export const MAX_REMEDIES = 4;
const MAX_DETAILS = 500;
const MAX_URL = 500;

const CATEGORIES: ReadonlySet<string> = new Set([
  "vendor_fix",
  "no_fix_planned",
  "workaround",
  "mitigation",
  "none_available",
  "action",
]);

/** The remedy; undefined for one of no known category, or that says nothing. */
export function remedyOf(category: unknown, details: unknown, url?: unknown): VexRemedy | undefined {
  if (typeof category !== "string" || !CATEGORIES.has(category)) return undefined;
  const text = typeof details === "string" ? storable(details.slice(0, MAX_DETAILS)) : "";
  const link = typeof url === "string" && url.length <= MAX_URL && /^https?:\/\//.test(url) ? storable(url) : "";
  if (text === "" && (category === "action" || category === "workaround")) return undefined;
  return { category, details: text, url: link };
}

/** The first of them, each once. */
export function remediesOf(all: readonly (VexRemedy | undefined)[]): VexRemedy[] {
  const found = new Map(all.flatMap((each) => (each === undefined ? [] : [[JSON.stringify(each), each] as const])));
  return [...found.values()].slice(0, MAX_REMEDIES);
}

/** Those that are stored as JSON. */
export function remediesIn(json: string): VexRemedy[] {
  return json === "[]" ? [] : (JSON.parse(json) as VexRemedy[]);
}
