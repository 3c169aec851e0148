import type { Color } from "../output/color.ts";

/** How bad a finding is, from the worst to the least. Source: FindingSeverity. */
export const SEVERITIES = ["critical", "high", "medium", "low", "negligible", "none", "unknown"] as const;

/** One of `SEVERITIES`. */
export type Severity = (typeof SEVERITIES)[number];

/** The colors that severities are shown in; none for the least. */
export const SEVERITY_COLORS: Readonly<Record<string, Color>> = {
  critical: "magenta",
  high: "red",
  medium: "yellow",
};
