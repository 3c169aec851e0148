import type { AdvisoryEvent, EventTypeFilter, Finding } from "../../api/gen/vulnerabilities.ts";

/** The types of an advisory's events in words, by what ends the name of each. */
export const EVENT_WORDS: Readonly<Record<string, string>> = {
  DETECTION: "Under investigation",
  TRUE_POSITIVE_DETERMINATION: "Affected",
  FIXED: "Fixed",
  FALSE_POSITIVE_DETERMINATION: "Not affected",
  ANALYSIS_NOT_PLANNED: "Won't analyze",
  FIX_NOT_PLANNED: "Will not be fixed",
  PENDING_UPSTREAM_FIX: "Pending upstream fix",
  PATCHED: "Patched",
};

const CLOSED: Readonly<Record<string, string>> = {
  CHANGED: "The record of its feed was changed",
  WITHDRAWN: "The record was withdrawn",
  REMOVED: "The record was removed from its feed",
  VEX_NOT_AFFECTED: "Not affected, by a VEX statement",
  VEX_FIXED: "Fixed, by a VEX statement",
  ADVISORY_FIXED: "Fixed, by an advisory",
  ADVISORY_PATCHED: "Patched, by an advisory",
  ADVISORY_FALSE_POSITIVE: "Not affected, by an advisory",
};

/** The type of an event in words. */
export function eventWords(type: EventTypeFilter | string): string {
  return EVENT_WORDS[type.replace("EVENT_TYPE_FILTER_", "")] ?? "";
}

/** What an advisory or a VEX statement says of a finding, and what is only claimed; empty when nothing is said. */
export function decisionWords(finding: Finding): string {
  const claimed = [...new Set(finding.claims.map(({ status }) => status.replaceAll("_", " ")))];
  const claims = claimed.length === 0 ? "" : `Claimed, without effect: ${claimed.join(", ")}`;
  return [decidedWords(finding), claims].filter((words) => words !== "").join(". ");
}

function decidedWords({ closeReason, decision, statement }: Finding): string {
  const what = closeReason === "" ? eventWords(decision?.type ?? "") : (CLOSED[closeReason] ?? closeReason);
  const why = decision?.justification || statement?.justification || "";
  return why === "" ? what : `${what}: ${why.replaceAll("_", " ")}`;
}

/** The states of a review in words, after "an event that". */
export const REVIEW_WORDS: Readonly<Record<string, string>> = {
  PENDING: "is waiting for review",
  APPROVED: "was approved",
  REQUEST_CHANGES: "needs changes",
  REJECTED: "was rejected",
};

/** Why an artifact is not affected, in words. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  VULNERABILITY_RECORD_ANALYSIS_CONTESTED: "The record of the vulnerability is wrong",
  COMPONENT_VULNERABILITY_MISMATCH: "It is a vulnerability of another component",
  VULNERABLE_CODE_VERSION_NOT_USED: "The vulnerable version is not used",
  VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE: "The package does not contain the vulnerable code",
  VULNERABLE_CODE_NOT_IN_EXECUTION_PATH: "The vulnerable code is never run",
  VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY: "An attacker cannot reach the vulnerable code",
  INLINE_MITIGATIONS_EXIST: "The artifact has other mitigations",
};

const EVENT_FIELDS = {
  detection: "DETECTION",
  truePositiveDetermination: "TRUE_POSITIVE_DETERMINATION",
  fixed: "FIXED",
  falsePositiveDetermination: "FALSE_POSITIVE_DETERMINATION",
  analysisNotPlanned: "ANALYSIS_NOT_PLANNED",
  fixNotPlanned: "FIX_NOT_PLANNED",
  pendingUpstreamFix: "PENDING_UPSTREAM_FIX",
  patched: "PATCHED",
} as const;

/** The type of an event, as `EVENT_WORDS` names it. */
export function eventTypeOf(event: AdvisoryEvent): string {
  const fields = Object.keys(EVENT_FIELDS) as (keyof typeof EVENT_FIELDS)[];
  const field = fields.find((each) => event[each] !== undefined);
  return field === undefined ? "" : EVENT_FIELDS[field];
}

/** What an event says beside its type: versions, why, the note. */
export function eventDetails(event: AdvisoryEvent): readonly string[] {
  const { fixed, patched, falsePositiveDetermination: wrong, detection } = event;
  const body = wrong ?? fixed ?? patched ?? event.truePositiveDetermination ?? event.pendingUpstreamFix;
  const note = (body ?? event.fixNotPlanned ?? event.analysisNotPlanned)?.note ?? "";
  return [
    fixed === undefined ? "" : `Version ${fixed.fixedVersion} fixes it.`,
    patched === undefined ? "" : `Patched in ${patched.patchedVersions.join(", ")}.`,
    wrong === undefined ? "" : `${REASON_WORDS[wrong.type.replace("TYPE_", "")] ?? ""}.`,
    detection?.scanv1 === undefined ? "" : `Found by ${detection.scanv1.scanner} in ${detection.scanv1.component}.`,
    note,
  ].filter((text) => text !== "");
}
