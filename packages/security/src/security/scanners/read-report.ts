import { type Parts, partsOf } from "../catalog/parts.ts";
import { type Counts, countsOf, readReport, type VulnerabilityReport } from "./report.ts";
import { readSbomReport } from "./sbom-report.ts";

/** What the report of an adapter says. */
export interface ReadScanned {
  software: VulnerabilityReport["software"];
  /** Null for a bill of materials. */
  counts: Counts | null;
  /** How many packages it names. */
  packages: number;
  /** These packages, as Components. */
  parts: Parts;
}

/** Reads a report in the process that calls it, however large it is. Throws a ReportError. */
export async function readScanned(content: Uint8Array, isSbom: boolean): Promise<ReadScanned> {
  if (!isSbom) {
    const { software, vulnerabilities } = readReport(content);
    return { software, counts: countsOf(vulnerabilities), packages: 0, parts: [] };
  }
  const { software, components } = readSbomReport(content);
  return { software, counts: null, packages: components.length, parts: partsOf(components) };
}
