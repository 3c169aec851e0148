// Findings of one image, and whether they are all known.
import { numberIn, objectIn, objectsIn, textIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject, Query } from "../api/rest.ts";
import type { Session } from "./session.ts";
import { SEVERITIES, type Severity } from "./severities.ts";

const MAX_FINDINGS = 50_000;

/** Findings, and for which platforms of the image they are not known, with the reason. */
export interface ImageFindings {
  findings: JsonObject[];
  /** Such as `linux/amd64: waits to be read`. */
  notRead: string[];
}

/** All findings of an image or index by its digest. */
export async function findingsOf(
  { rest }: Session,
  { repo, digest, ...filter }: { repo: string; digest: string } & Query,
): Promise<ImageFindings> {
  const query = { ...filter, repo, digest };
  const all = async (): Promise<JsonObject[]> => {
    const found: JsonObject[] = [];
    for await (const each of rest.list("/vulnerabilities/v2/findings", "findings", { query, limit: MAX_FINDINGS }))
      found.push(each);
    return found;
  };
  const [findings, notRead] = await Promise.all([all(), unknownIn(rest, query)]);
  return { findings, notRead };
}

/** The images of which it is not known what they hold. */
async function unknownIn(rest: Session["rest"], query: Query): Promise<string[]> {
  const page = await rest.call("GET", "/vulnerabilities/v2/findings", { query: { ...query, page_size: 1 } });
  return objectsIn(page, "unknownImages").map(
    (image) => `${textIn(image, "platform") || "the image"}: ${textIn(image, "reason")}`,
  );
}

/** A finding for each vulnerability in each package, whichever images of an index hold it; the worst first. */
export function merged(findings: readonly JsonObject[]): JsonObject[] {
  const first = new Map<string, JsonObject>();
  for (const each of findings) {
    const key = `${textIn(each, "vulnerability")} ${purlOf(each)} ${textIn(each, "state")}`;
    if (!first.has(key)) first.set(key, each);
  }
  return [...first.values()].toSorted(
    (one, other) =>
      SEVERITIES.indexOf(severityOf(one)) - SEVERITIES.indexOf(severityOf(other)) ||
      numberIn(other, "score") - numberIn(one, "score") ||
      textIn(one, "vulnerability").localeCompare(textIn(other, "vulnerability"), "en"),
  );
}

/** How many findings there are of each severity. */
export function summaryOf({ findings, notRead }: ImageFindings): JsonObject {
  const counts: JsonObject = Object.fromEntries(SEVERITIES.map((severity) => [severity, 0]));
  for (const each of merged(findings)) counts[severityOf(each)] = numberIn(counts, severityOf(each)) + 1;
  return { ...counts, notRead };
}

/** How bad a finding is. */
export function severityOf(finding: JsonObject): Severity {
  const word = wordIn(finding, "severity", "FINDING_SEVERITY_");
  return SEVERITIES.find((severity) => severity === word) ?? "unknown";
}

function purlOf(finding: JsonObject): string {
  const purl = textIn(objectIn(finding, "package"), "purl");
  // Packages of several architectures differ in their qualifiers.
  return purl.split("?", 1)[0] ?? "";
}
