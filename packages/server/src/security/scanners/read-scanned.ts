import { PART_ROWS } from "../catalog/queue.ts";
import type { Component } from "../catalog/types.ts";
import { type Counts, countsOf, readReport, type VulnerabilityReport } from "./report.ts";
import { readSbomReport } from "./sbom-report.ts";

/** What the report of an adapter says. */
export interface ReadScanned {
  software: VulnerabilityReport["software"];
  /** Null for a bill of materials. */
  counts: Counts | null;
  /** How many packages it names. */
  packages: number;
  /** These packages, so many at a time as are written in one step, as JSON; see componentsIn. */
  parts: Uint8Array[];
}

/** Reads a report in the process that calls it; which one that is, is for the caller to choose. Throws a ReportError. */
export async function readScanned(content: Uint8Array, isSbom: boolean): Promise<ReadScanned> {
  if (!isSbom) {
    const { software, vulnerabilities } = readReport(content);
    return { software, counts: countsOf(vulnerabilities), packages: 0, parts: [] };
  }
  const { software, components } = readSbomReport(content);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < components.length; at += PART_ROWS)
    parts.push(Buffer.from(JSON.stringify(components.slice(at, at + PART_ROWS))));
  return { software, counts: null, packages: components.length, parts };
}

/** The packages of a part. */
export function componentsIn(part: Uint8Array): Component[] {
  return JSON.parse(Buffer.from(part).toString()) as Component[];
}
