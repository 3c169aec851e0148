import { FindingSeverity, type ListFindingsRequest } from "@moorage/api/messages";
import { vulnerabilityKey } from "../records/record.ts";
import { isNamed } from "../packages/candidates.ts";
import type { ImageFinding } from "./read.ts";

/** Whether the letters are a part of one of the texts; none are of every one. */
function isPart(letters: string, texts: readonly string[]): boolean {
  const wanted = letters.trim().toLowerCase();
  return wanted === "" || texts.some((text) => text.toLowerCase().includes(wanted));
}

/** Whether the filters of a list leave the finding: all of them, of one with several values any. */
export function matches(finding: ImageFinding, request: ListFindingsRequest): boolean {
  const { vulnerability, package: held, fixed } = finding;
  const ids = new Set(
    [vulnerability.id, ...vulnerability.aliases, ...finding.records.map(({ id }) => id)].map(vulnerabilityKey),
  );
  return (
    (request.vulnerabilities.length === 0 || request.vulnerabilities.some((id) => ids.has(vulnerabilityKey(id)))) &&
    isPart(request.query, [...ids, held.name, held.source_name]) &&
    (request.packages.length === 0 || request.packages.some((name) => isNamed(held, name))) &&
    FindingSeverity[vulnerability.severity] >= request.minSeverity &&
    (request.kev === undefined || request.kev === vulnerability.isExploited) &&
    (request.fixable === undefined || request.fixable === fixed.length > 0)
  );
}
