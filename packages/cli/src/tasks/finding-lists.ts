// Findings of one image, and whether they are all known.
import { numberIn, objectIn, objectsIn, textIn, textsIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject, Query } from "../api/rest.ts";
import type { Session } from "./session.ts";
import { SEVERITIES, type Severity } from "./severities.ts";

const MAX_FINDINGS = 50_000;

/** Findings, and for which platforms of the image they are not known, with the reason. */
export interface ImageFindings {
  findings: JsonObject[];
  /** Such as `linux/amd64: waits to be read`. */
  notRead: string[];
  /** All platforms of an index; none of an image. */
  platforms: string[];
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
  const [findings, about] = await Promise.all([all(), aboutImages(rest, query)]);
  return { findings, ...about };
}

/** The images of which it is not known what they hold, and the platforms of all. */
async function aboutImages(rest: Session["rest"], query: Query): Promise<Omit<ImageFindings, "findings">> {
  const page = await rest.call("GET", "/vulnerabilities/v2/findings", { query: { ...query, page_size: 1 } });
  const notRead = objectsIn(page, "unknownImages").map(
    (image) => `${textIn(image, "platform") || "the image"}: ${textIn(image, "reason")}`,
  );
  return { notRead, platforms: textsIn(page, "platforms") };
}

/** A finding for each vulnerability in each package, whichever images of an index hold it; the worst first. */
export function merged(findings: readonly JsonObject[]): JsonObject[] {
  const groups = Map.groupBy(
    findings,
    (each) => `${textIn(each, "vulnerability")} ${purlOf(each)} ${textIn(each, "state")}`,
  );
  const first = [...groups.values()].flatMap((group) =>
    group[0] === undefined ? [] : [withPlatforms(group[0], group)],
  );
  return first.toSorted(
    (one, other) =>
      SEVERITIES.indexOf(severityOf(one)) - SEVERITIES.indexOf(severityOf(other)) ||
      numberIn(other, "score") - numberIn(one, "score") ||
      textIn(one, "vulnerability").localeCompare(textIn(other, "vulnerability"), "en"),
  );
}

/** The finding with the platforms of all images that have it. */
function withPlatforms(finding: JsonObject, group: readonly JsonObject[]): JsonObject {
  const platforms = [...new Set(group.map((each) => textIn(each, "platform")))].filter((each) => each !== "").sort();
  return platforms.length === 0 ? finding : { ...finding, platforms };
}

/** How many findings there are of each severity. */
export function summaryOf({ findings, notRead }: Pick<ImageFindings, "findings" | "notRead">): JsonObject {
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
