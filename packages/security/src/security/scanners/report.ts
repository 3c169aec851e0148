import { FindingSeverity } from "@moorage/api/messages";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { isWebUrl } from "@moorage/kernel/lib/web-url";
import { textOf } from "./metadata.ts";

/** A vulnerability as a scanner reports it; texts are empty where it says nothing. */
export interface ReportedVulnerability {
  id: string;
  package: string;
  version: string;
  fixVersion: string;
  severity: FindingSeverity;
  description: string;
  links: string[];
  score?: number;
}

/** What a report of vulnerabilities says. */
export interface VulnerabilityReport {
  software: { name: string; vendor: string; version: string };
  /** The worst first. */
  vulnerabilities: ReportedVulnerability[];
}

/** How many vulnerabilities a report has of each severity. */
export interface Counts {
  critical: number;
  high: number;
  medium: number;
  low: number;
  negligible: number;
  unknown: number;
  fixable: number;
}

/** A report cannot be read. The message names the field. */
export class ReportError extends Error {
  /** Another reading would fail as well. */
  readonly isFinal = true;
}

const MAX_DEPTH = 64;
const MAX_VALUES = 4_000_000;
const MAX_VULNERABILITIES = 50_000;
const MAX_LINKS = 50;
const MAX_DESCRIPTION = 4_096;
const MAX_LINK = 2_048;

// Source: scanner adapter API 1.2, Severity.
const SEVERITIES: Readonly<Record<string, FindingSeverity>> = {
  unknown: FindingSeverity.UNKNOWN,
  negligible: FindingSeverity.NEGLIGIBLE,
  low: FindingSeverity.LOW,
  medium: FindingSeverity.MEDIUM,
  high: FindingSeverity.HIGH,
  critical: FindingSeverity.CRITICAL,
};

/**
 * Reads a report of vulnerabilities. Severities that the API does not know are UNKNOWN. Throws a ReportError. Source:
 * scanner adapter API 1.2, HarborVulnerabilityReport.
 */
export function readReport(content: Uint8Array): VulnerabilityReport {
  const { scanner, vulnerabilities } = documentOf(content);
  // An empty list of Go is null.
  const items: unknown = vulnerabilities ?? [];
  if (!Array.isArray(items)) throw new ReportError("vulnerabilities: must be a list");
  if (items.length > MAX_VULNERABILITIES)
    throw new ReportError(`vulnerabilities: are more than ${MAX_VULNERABILITIES}`);
  return {
    software: softwareIn(scanner),
    vulnerabilities: items.map(vulnerabilityOf).sort(byWorst),
  };
}

/** Which software made a report, by its own words. */
export function softwareIn(scanner: unknown): VulnerabilityReport["software"] {
  const by = isObject(scanner) ? scanner : {};
  return { name: textOf(by["name"]), vendor: textOf(by["vendor"]), version: textOf(by["version"]) };
}

/** The report as an object. Throws a ReportError. */
export function documentOf(content: Uint8Array): Record<string, unknown> {
  try {
    const document = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(content), MAX_DEPTH, MAX_VALUES);
    if (isObject(document)) return document;
  } catch (error) {
    throw new ReportError(`it cannot be read as JSON: ${textOf((error as Error).message)}`, { cause: error });
  }
  throw new ReportError("it is no JSON object");
}

function vulnerabilityOf(item: unknown, at: number): ReportedVulnerability {
  if (!isObject(item)) throw new ReportError(`vulnerabilities[${at}]: must be an object`);
  const id = textOf(item["id"]);
  if (id === "") throw new ReportError(`vulnerabilities[${at}].id: is required`);
  const { preferred_cvss: cvss, links } = item;
  const score = isObject(cvss) ? cvss["score_v3"] : undefined;
  return {
    id,
    package: textOf(item["package"]),
    version: textOf(item["version"]),
    fixVersion: textOf(item["fix_version"]),
    severity: SEVERITIES[textOf(item["severity"]).toLowerCase()] ?? FindingSeverity.UNKNOWN,
    description: textOf(item["description"], MAX_DESCRIPTION),
    links: (Array.isArray(links) ? links : [])
      .slice(0, MAX_LINKS)
      .map((link) => textOf(link, MAX_LINK))
      .filter(isWebUrl),
    ...(typeof score === "number" && score > 0 && score <= 10 && { score }),
  };
}

function byWorst(a: ReportedVulnerability, b: ReportedVulnerability): number {
  const [left, right] = [keyOf(a), keyOf(b)];
  return b.severity - a.severity || (left < right ? -1 : left > right ? 1 : 0);
}

const keyOf = (each: ReportedVulnerability): string => `${each.id}\n${each.package}\n${each.version}`;

export function countsOf(vulnerabilities: readonly ReportedVulnerability[]): Counts {
  const of = (severity: FindingSeverity): number => vulnerabilities.filter((each) => each.severity === severity).length;
  return {
    critical: of(FindingSeverity.CRITICAL),
    high: of(FindingSeverity.HIGH),
    medium: of(FindingSeverity.MEDIUM),
    low: of(FindingSeverity.LOW),
    negligible: of(FindingSeverity.NEGLIGIBLE),
    unknown: of(FindingSeverity.UNKNOWN),
    fixable: vulnerabilities.filter(({ fixVersion }) => fixVersion !== "").length,
  };
}
