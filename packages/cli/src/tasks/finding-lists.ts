// Findings of one image, and whether they are all known.
import { numberIn, objectIn, objectsIn, textIn, textsIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject, Query } from "../api/rest.ts";
import type { Session } from "./session.ts";
import { knowledgeIn, stateIn } from "../resources/knowledge.ts";
import { SEVERITIES, type Severity } from "./severities.ts";

const MAX_FINDINGS = 50_000;

/** Findings, and whether they are known. */
export interface ImageFindings {
  findings: JsonObject[];
  /** `READ` when they are all known; otherwise as stateIn has it. */
  state: string;
  /** What says so, as the API has it. */
  known: JsonObject;
  /** For which platforms of the image they are not known, and why. */
  unknown: UnknownFindings[];
  /** All platforms of an index; none of an image. */
  platforms: string[];
  /** How many packages have versions that cannot be compared with those of records. */
  notCompared: number;
  /** The feeds that they rest on and that are older than their own interval. */
  staleFeeds: JsonObject[];
}

/** An image of an index, or the image itself, whose findings are not known. */
interface UnknownFindings {
  /** Such as `linux/amd64: NOT_READ: it waits to be read`. */
  text: string;
  /** Whether they will be known without anybody doing something. */
  waits: boolean;
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
  // What is known is asked first: what is read meanwhile is not known yet.
  const known = await knownOf(rest, query);
  return { findings: await all(), ...known };
}

/** What is known of the images that a list is about. */
async function knownOf(rest: Session["rest"], query: Query): Promise<Omit<ImageFindings, "findings">> {
  const page = await rest.call("GET", "/vulnerabilities/v2/findings", { query: { ...query, page_size: 1 } });
  return {
    state: stateIn(page),
    known: knowledgeIn(page),
    unknown: objectsIn(page, "unknownImages").map((image) => ({
      text: [textIn(image, "platform") || "the image", stateIn(image), textIn(image, "reason")]
        .filter((part) => part !== "")
        .join(": "),
      waits: image["waits"] === true,
    })),
    platforms: textsIn(page, "platforms"),
    notCompared: numberIn(page, "notCompared"),
    staleFeeds: objectsIn(page, "staleFeeds"),
  };
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

/** How many findings there are of each severity, and whether they are known. */
export function summaryOf({ findings, state, unknown, notCompared, staleFeeds }: ImageFindings): JsonObject {
  const counts: JsonObject = Object.fromEntries(SEVERITIES.map((severity) => [severity, 0]));
  for (const each of merged(findings)) counts[severityOf(each)] = numberIn(counts, severityOf(each)) + 1;
  return { ...counts, state, notRead: unknown.map(({ text }) => text), notCompared, staleFeeds };
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
