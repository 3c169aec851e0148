// `moorage images findings`: the vulnerabilities in an image.
import { setTimeout as sleep } from "node:timers/promises";
import { pin } from "../api/image-digest.ts";
import { objectIn, objectsIn, textIn, textsIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { durationOfFlag } from "../command/duration.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { interruption } from "../command/interrupt.ts";
import type { Listing } from "../output/listing.ts";
import { printList, printMessage } from "../output/output.ts";
import { staleText } from "../resources/knowledge.ts";
import { contradictionText, noteDisagreements } from "./disagreements.ts";
import { findingsOf, type ImageFindings, merged, severityOf } from "./finding-lists.ts";
import { printsTables } from "./report.ts";
import { openSession, type TaskFlags } from "./session.ts";
import { SEVERITIES, SEVERITY_COLORS, type Severity } from "./severities.ts";

const ASK_EVERY_MS = 1000;

export interface FindingsFlags extends TaskFlags {
  minSeverity?: Severity;
  failOn?: Severity;
  state: "open" | "closed";
  fixable?: boolean;
  kev?: boolean;
  wait?: string;
}

/** Findings as a table. */
const FINDINGS: Listing = {
  field: "findings",
  columns: [
    { header: "SEVERITY", value: severityOf, color: (each) => SEVERITY_COLORS[severityOf(each)] },
    { header: "ID", value: (each) => textIn(each, "vulnerability") },
    { header: "PACKAGE", flexible: true, value: (each) => textIn(objectIn(each, "package"), "name") },
    { header: "VERSION", value: (each) => textIn(objectIn(each, "package"), "version") },
    { header: "FIXED IN", value: fixOf },
    {
      header: "EXPLOITED",
      value: (each) => (each["kev"] === true ? "yes" : ""),
      color: () => "red",
    },
    // What is said by somebody whose word does not close it.
    { header: "CLAIMED", wide: true, value: claimsOf },
    // Another source names another version of the package; the finding stands.
    { header: "CONTRADICTED BY", wide: true, value: contradictionsOf },
    { header: "REMEDIATION", wide: true, value: remediationOf },
    { header: "SCORE", wide: true, right: true, value: (each) => textIn(each, "score") },
    { header: "EPSS", wide: true, right: true, value: (each) => textIn(each, "epss") },
    { header: "SINCE", wide: true, kind: "time", value: (each) => textIn(each, "openTime") },
    { header: "CLOSED", wide: true, value: (each) => wordIn(each, "closeReason", "") },
    { header: "PURL", wide: true, value: (each) => textIn(objectIn(each, "package"), "purl") },
  ],
  nameOf: (each) => textIn(each, "vulnerability"),
  idOf: (each) => textIn(each, "vulnerability"),
};

function claimsOf(finding: JsonObject): string {
  return [...new Set(objectsIn(finding, "claims").map((claim) => textIn(claim, "status").replaceAll("_", " ")))].join(
    ", ",
  );
}

/** The same where some findings are not those of all platforms of an index. */
const BY_PLATFORM: Listing = {
  ...FINDINGS,
  columns: FINDINGS.columns.toSpliced(5, 0, { header: "PLATFORMS", value: (each) => textIn(each, "onPlatforms") }),
};

/** Says of a finding on which platforms it is, where these are not all of the index. */
function platformsOf(all: readonly string[]): (finding: JsonObject) => JsonObject {
  return (finding) => {
    const own = textsIn(finding, "platforms");
    return own.length === 0 || own.length === all.length ? finding : { ...finding, onPlatforms: own.join(", ") };
  };
}

/** Such as `layers: 1.2.0`. */
function contradictionsOf(finding: JsonObject): string {
  return objectsIn(finding, "contradictions").map(contradictionText).join("; ");
}

function fixOf(finding: JsonObject): string {
  const versions = textsIn(finding, "fixVersions");
  if (versions.length > 0) return versions.join(", ");
  if (wordIn(finding, "fixState", "FIX_STATE_") === "wont fix") return "(won't be)";
  const categories = objectsIn(finding, "remediations").map((each) => textIn(each, "category"));
  return categories.includes("no_fix_planned") ? "(won't be)" : categories.includes("workaround") ? "(workaround)" : "";
}

/** What a VEX document says can be done. */
function remediationOf(finding: JsonObject): string {
  return objectsIn(finding, "remediations")
    .map((each) => [textIn(each, "category").replaceAll("_", " "), textIn(each, "details")].filter(Boolean).join(": "))
    .join("; ");
}

/**
 * Prints the findings of an image, as they are now or at the time of the reference. With `failOn` it throws a Failure
 * with exit code 6 when one is as bad, and with 8 when they are not known.
 */
export async function printFindings(reference: string, flags: FindingsFlags): Promise<void> {
  const session = await openSession(flags);
  const image = await session.names.imageOf(reference);
  const { repo, digest, name, tag, timeMs } = await pin(session, image);
  const label = tag === undefined ? `${name}@${digest}` : `${name}:${tag}`;
  const filter = {
    repo,
    digest,
    state: flags.state.toUpperCase(),
    ...(flags.minSeverity !== undefined && { min_severity: flags.minSeverity.toUpperCase() }),
    ...(flags.fixable === true && { fixable: true }),
    ...(flags.kev === true && { kev: true }),
    ...(timeMs !== undefined && { as_of: new Date(Math.min(timeMs, Date.now())).toISOString() }),
  };
  const found = await readWithin(flags.wait, () => findingsOf(session, filter));
  const shown = printsTables(flags) ? merged(found.findings).map(platformsOf(found.platforms)) : found.findings;
  const listing = shown.some((each) => textIn(each, "onPlatforms") !== "") ? BY_PLATFORM : FINDINGS;
  const items = async function* () {
    yield* shown;
  };
  const { unknown } = found;
  if (shown.length > 0 || !printsTables(flags)) await printList(items(), listing, flags, { behind: () => found.known });
  else if (unknown.length === 0)
    printMessage(
      found.state === "UNSPECIFIED"
        ? `${label} is not an image: no findings are looked for`
        : `${label} has no ${flags.state} findings`,
    );
  noteContradictions(found.findings);
  const { notCompared } = found;
  if (notCompared > 0)
    printMessage(
      `moorage: ${notCompared} ${notCompared === 1 ? "package has a version" : "packages have versions"} that cannot be compared: see moorage images coverage ${label}`,
    );
  const stale = staleText(found.staleFeeds);
  if (stale !== "") printMessage(`moorage: ${stale}`);
  const why = `not known: ${label}: ${unknown.map(({ text }) => text).join("; ")}`;
  const bad = flags.state === "open" ? countBad(found.findings, flags.failOn) : 0;
  if (unknown.length > 0 && (flags.failOn === undefined || bad > 0)) printMessage(`moorage: ${why}`);
  if (bad > 0)
    throw new Failure(
      `${label} has ${bad} ${bad === 1 ? "finding" : "findings"} of severity ${flags.failOn} or worse`,
      { exit: EXIT.conflict },
    );
  if (unknown.length > 0 && flags.failOn !== undefined)
    throw new Failure(why, {
      exit: EXIT.unknown,
      hint: unknown.some(({ waits }) => waits) ? "wait for it with --wait 60s" : `see moorage images coverage ${label}`,
    });
}

/** Says once for each package that those who say what the image holds do not agree. */
function noteContradictions(findings: readonly JsonObject[]): void {
  const contradicted = findings.filter((each) => objectsIn(each, "contradictions").length > 0);
  noteDisagreements(
    contradicted.map((each) => ({
      purl: textIn(objectIn(each, "package"), "purl"),
      sources: textsIn(each, "sources"),
      by: objectsIn(each, "contradictions"),
    })),
  );
}

/** How many findings are at least as bad as the limit. */
function countBad(findings: readonly JsonObject[], limit: Severity | undefined): number {
  if (limit === undefined) return 0;
  return merged(findings).filter((each) => SEVERITIES.indexOf(severityOf(each)) <= SEVERITIES.indexOf(limit)).length;
}

/** Asks again for so long, until nothing is left that will be known by itself. */
async function readWithin(wait: string | undefined, ask: () => Promise<ImageFindings>): Promise<ImageFindings> {
  const endMs = Date.now() + (wait === undefined ? 0 : durationOfFlag("--wait", wait));
  for (;;) {
    const found = await ask();
    if (!found.unknown.some(({ waits }) => waits) || Date.now() >= endMs) return found;
    await sleep(ASK_EVERY_MS, undefined, { signal: interruption() });
  }
}
