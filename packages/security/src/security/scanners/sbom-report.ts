import { isObject } from "@moorage/kernel/lib/json";
import { componentOf } from "../attached/components.ts";
import { cycloneDxPackages } from "../attached/cyclonedx.ts";
import { spdxPackages } from "../attached/spdx.ts";
import { AttachedError } from "../attached/types.ts";
import type { Component } from "../catalog/types.ts";
import { normalized, SBOM_FORMATS } from "./mime-types.ts";
import { documentOf, ReportError, softwareIn, type VulnerabilityReport } from "./report.ts";
import { textOf } from "./metadata.ts";

/** What a report with a bill of materials says. */
export interface SbomReport {
  software: VulnerabilityReport["software"];
  components: Component[];
}

const MAX_PACKAGES = 50_000;

/**
 * Reads a report with a bill of materials, whose packages are those with a purl. Throws a ReportError. Source: scanner
 * adapter API 1.2, HarborSbomReport.
 */
export function readSbomReport(content: Uint8Array): SbomReport {
  const { scanner, media_type: format, sbom } = documentOf(content);
  if (!isObject(sbom)) throw new ReportError("sbom: must be an object");
  const components = new Map<string, Component>();
  try {
    const isSpdx = readsSpdx(textOf(format));
    const { packages, distribution } = isSpdx ? spdxPackages(sbom) : cycloneDxPackages(sbom);
    for (const each of packages) {
      const component = componentOf(each, isSpdx ? "spdx" : "cyclonedx", distribution);
      if (component !== undefined) components.set(`${component.purl} ${component.path}`, component);
      if (components.size > MAX_PACKAGES) throw new ReportError(`sbom: has more than ${MAX_PACKAGES} packages`);
    }
  } catch (error) {
    if (!(error instanceof AttachedError)) throw error;
    throw new ReportError(`sbom: ${error.message}`, { cause: error });
  }
  if (components.size === 0) throw new ReportError("sbom: it names no package with a purl");
  return { software: softwareIn(scanner), components: [...components.values()] };
}

function readsSpdx(format: string): boolean {
  const [cycloneDx, spdx] = SBOM_FORMATS;
  if (normalized(format) === spdx) return true;
  if (normalized(format) === cycloneDx) return false;
  throw new ReportError(`media_type: must be ${cycloneDx} or ${spdx}`);
}
