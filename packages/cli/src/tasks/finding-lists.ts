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
  const [findings, notRead] = await Promise.all([all(), unread(rest, repo, digest)]);
  return { findings, notRead };
}

/** An image compared with itself says for each platform whether its packages and vulnerabilities are known. */
async function unread(rest: Session["rest"], repo: string, digest: string): Promise<string[]> {
  const diff = await rest.call("GET", `/registry/v2/repos/${repo}/diff`, {
    query: { from: digest, to: digest, page_size: 1 },
  });
  return objectsIn(diff, "platforms").flatMap((platform) => {
    const image = objectIn(platform, "to");
    const state = wordIn(image, "packagesState", "PACKAGES_STATE_");
    // What is no image with file systems has no packages to find anything in.
    if (state === "missing" || state === "unspecified") return [];
    const why = textIn(image, "vulnerabilitiesReason") || textIn(image, "packagesReason");
    if (why === "" && state === "known") return [];
    return [`${textIn(platform, "platform") || "the image"}: ${why || `its packages are ${state}`}`];
  });
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
