import { AdvisoryEvent_FalsePositiveDetermination_Type as FalsePositive } from "@moorage/api/messages";
import type { Decision } from "./decisions.ts";

/** What a decision says in the words of VEX. */
export interface Statement {
  status: "not_affected" | "affected" | "fixed" | "under_investigation";
  /** Why it is not affected. */
  justification?: string;
  /** The same in words, where there is no justification for it. */
  impact?: string;
  /** What to do. */
  action?: string;
  /** Whether somebody is expected to fix it; of what is affected. */
  remediation?: "none_available" | "no_fix_planned";
  notes?: string;
  /** The versions that end it, of the component or, without one, of the artifact. */
  versions: string[];
}

/** Source: docs/advisories.md, "Exports". */
const JUSTIFICATIONS: Readonly<Record<FalsePositive, string | undefined>> = {
  [FalsePositive.UNSPECIFIED]: undefined,
  [FalsePositive.VULNERABILITY_RECORD_ANALYSIS_CONTESTED]: "vulnerable_code_not_present",
  [FalsePositive.COMPONENT_VULNERABILITY_MISMATCH]: "component_not_present",
  [FalsePositive.VULNERABLE_CODE_VERSION_NOT_USED]: "vulnerable_code_not_present",
  [FalsePositive.VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE]: "vulnerable_code_not_present",
  [FalsePositive.VULNERABLE_CODE_NOT_IN_EXECUTION_PATH]: "vulnerable_code_not_in_execute_path",
  [FalsePositive.VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY]:
    "vulnerable_code_cannot_be_controlled_by_adversary",
  [FalsePositive.INLINE_MITIGATIONS_EXIST]: "inline_mitigations_already_exist",
};

/** The statement of a decision. What nobody will look at or fix counts as affected. */
export function statementOf({ event: { type } }: Pick<Decision, "event">): Statement {
  const affected = (action: string, remediation: Statement["remediation"] = "none_available"): Statement => {
    const note = type.value !== undefined && "note" in type.value ? type.value.note : "";
    return { status: "affected", action: note === "" ? action : `${action} ${note}`, remediation, versions: [] };
  };
  switch (type.case) {
    case "fixed":
      return { status: "fixed", versions: [type.value.fixedVersion], ...noted(type.value.note) };
    case "patched":
      return { status: "fixed", versions: type.value.patchedVersions, ...noted(type.value.note) };
    case "falsePositiveDetermination": {
      const justification = JUSTIFICATIONS[type.value.type];
      return {
        status: "not_affected",
        ...(justification === undefined ? { impact: type.value.note || "Not affected." } : { justification }),
        versions: [],
        ...noted(type.value.note),
      };
    }
    case "truePositiveDetermination":
      return affected("No fix is known yet.");
    case "analysisNotPlanned":
      return affected("No analysis is planned.");
    case "fixNotPlanned":
      return affected("No fix is planned.", "no_fix_planned");
    case "pendingUpstreamFix":
      return affected("A fix has to come from those who make the component.");
    case "detection":
    case undefined:
      return { status: "under_investigation", versions: [] };
  }
}

const noted = (notes: string): { notes?: string } => (notes === "" ? {} : { notes });
