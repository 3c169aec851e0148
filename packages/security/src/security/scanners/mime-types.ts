import { ScanType, type ScannerAdapter, type ScannerCapability } from "@moorage/api/messages";

// Media types of Harbor's pluggable scanner API 1.2. Source: goharbor/pluggable-scanner-spec,
// scanner-adapter-openapi-v1.2.yaml.
export const METADATA = "application/vnd.scanner.adapter.metadata+json; version=1.1";
export const SCAN_REQUEST = "application/vnd.scanner.adapter.scan.request+json; version=1.1";
export const SCAN_RESPONSE = "application/vnd.scanner.adapter.scan.response+json; version=1.0";

/** The reports that are read, the preferred first. Those of vulnerabilities have the same form. */
const REPORTS: Readonly<Record<number, readonly string[]>> = {
  [ScanType.VULNERABILITY]: [
    "application/vnd.security.vulnerability.report; version=1.1",
    "application/vnd.scanner.adapter.vuln.report.harbor+json; version=1.0",
  ],
  [ScanType.SBOM]: ["application/vnd.security.sbom.report+json; version=1.0"],
};

/** A media type as it is compared: in lower case, without spaces and quotes. */
export function normalized(mimeType: string): string {
  return mimeType.toLowerCase().replaceAll(/[\s"]/g, "");
}

/**
 * The media type of the report for which the adapter is asked. Undefined when it does not take such manifests, or has
 * no report for them that is read here.
 */
export function reportFor(
  { capabilities }: Pick<ScannerAdapter, "capabilities">,
  type: ScanType,
  manifestType: string,
): string | undefined {
  if (type === ScanType.SBOM && sbomFormat({ capabilities }) === undefined) return undefined;
  const fit = capabilities.filter((each) => each.type === type && takes(each, manifestType));
  const made = new Set(fit.flatMap(({ producesMimeTypes }) => producesMimeTypes.map(normalized)));
  return REPORTS[type]?.find((report) => made.has(normalized(report)));
}

/** The formats of bills of materials that are read, the preferred first. */
export const SBOM_FORMATS = ["application/vnd.cyclonedx+json", "application/spdx+json"] as const;

/** The format in which an adapter is asked for a bill of materials; undefined when it has none that is read here. */
export function sbomFormat({ capabilities }: Pick<ScannerAdapter, "capabilities">): string | undefined {
  const stated = capabilities.filter(({ type }) => type === ScanType.SBOM).flatMap((each) => each.sbomMediaTypes);
  return SBOM_FORMATS.find((format) => stated.some((each) => normalized(each) === format));
}

/** What a scan may look for. */
export const SCAN_TYPES = [ScanType.VULNERABILITY, ScanType.SBOM] as const;

function takes({ consumesMimeTypes }: ScannerCapability, manifestType: string): boolean {
  return consumesMimeTypes.some((each) => normalized(each) === normalized(manifestType));
}
