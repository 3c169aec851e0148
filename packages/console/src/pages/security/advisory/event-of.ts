import type {
  AdvisoryEventFalsePositiveDeterminationType,
  AdvisoryEventInput,
} from "../../../api/gen/vulnerabilities.ts";

/** What a form has of an event. */
export interface EventFields {
  /** The type, as `EVENT_WORDS` names it. */
  type: string;
  /** Versions, apart by commas or spaces. */
  versions: string;
  /** Why it is not affected, as `REASON_WORDS` names it. */
  reason: string;
  note: string;
}

/** The event that the fields describe. */
export function eventOf({ type, versions, reason, note }: EventFields): AdvisoryEventInput {
  if (type === "FIXED") return { fixed: { fixedVersion: versions, note } };
  if (type === "PATCHED") return { patched: { patchedVersions: versions.split(/[\s,]+/).filter(Boolean), note } };
  if (type === "TRUE_POSITIVE_DETERMINATION") return { truePositiveDetermination: { note } };
  if (type === "ANALYSIS_NOT_PLANNED") return { analysisNotPlanned: { note } };
  if (type === "FIX_NOT_PLANNED") return { fixNotPlanned: { note } };
  if (type === "PENDING_UPSTREAM_FIX") return { pendingUpstreamFix: { note } };
  if (type === "FALSE_POSITIVE_DETERMINATION") {
    const why = `TYPE_${reason}` as AdvisoryEventFalsePositiveDeterminationType;
    return { falsePositiveDetermination: { type: why, note } };
  }
  return { detection: { manual: {} } };
}
