import { isObject } from "@moorage/kernel/lib/json";
import { listAt, objectAt, textAt, timeAt } from "../records/fields.ts";
import { collectComponents, cycloneDx } from "./records.ts";
import { purlOfRefs, refsIn } from "./bom-links.ts";
import { idsOf } from "./openvex.ts";
import { remediesOf, remedyOf, type VexRemedy } from "./remedies.ts";
import type { VexDocument, VexStatement, VexStatus } from "./types.ts";

const STATES: Readonly<Record<string, VexStatus>> = {
  resolved: "fixed",
  resolved_with_pedigree: "fixed",
  exploitable: "affected",
  in_triage: "under_investigation",
  false_positive: "not_affected",
  not_affected: "not_affected",
};

/** Those that OpenVEX has a word for. That something is required to be hit is said in the impact alone. */
const JUSTIFICATIONS: Readonly<Record<string, string>> = {
  code_not_present: "vulnerable_code_not_present",
  code_not_reachable: "vulnerable_code_not_in_execute_path",
  protected_by_compiler: "inline_mitigations_already_exist",
  protected_at_runtime: "inline_mitigations_already_exist",
  protected_at_perimeter: "inline_mitigations_already_exist",
  protected_by_mitigating_control: "inline_mitigations_already_exist",
};

/** Whether a CycloneDX document says what became of a vulnerability. */
export function hasAnalyses({ vulnerabilities }: Record<string, unknown>): boolean {
  return Array.isArray(vulnerabilities) && vulnerabilities.some((each) => isObject(each) && isObject(each["analysis"]));
}

/**
 * The statements of a CycloneDX document: the vulnerabilities with an analysis. Throws an UnreadableRecord that names
 * the field. Source: ECMA-424.
 */
export function cycloneDxDocument(value: unknown): VexDocument {
  cycloneDx(value, "document");
  const document = objectAt(value, "the document");
  const metadata = objectAt(document["metadata"] ?? {}, "metadata");
  const own = isObject(metadata["component"]) ? metadata["component"] : {};
  const purls = new Map<string, string>();
  collectComponents([own, document["components"]], purls);
  const made = metadata["timestamp"] === undefined ? 0 : timeAt(metadata["timestamp"], "metadata.timestamp");
  return {
    id: typeof document["serialNumber"] === "string" ? document["serialNumber"] : "",
    author: authorOf(metadata),
    subject: typeof own["purl"] === "string" ? own["purl"] : "",
    statements: listAt(document["vulnerabilities"], "vulnerabilities").flatMap((each, at) =>
      statementsOf(objectAt(each, `vulnerabilities[${at}]`), `vulnerabilities[${at}]`, {
        purls,
        made,
        // The image that the document is of, whose purl may be anything that its maker calls it.
        isOwn: (ref) => ref !== "" && (ref === own["bom-ref"] || ref === own["purl"]),
      }),
    ),
  };
}

interface Context {
  purls: ReadonlyMap<string, string>;
  made: number;
  isOwn(ref: string): boolean;
}

function statementsOf(
  vulnerability: Record<string, unknown>,
  field: string,
  { purls, made, isOwn }: Context,
): VexStatement[] {
  const { analysis } = vulnerability;
  if (!isObject(analysis)) return [];
  const status = STATES[String(analysis["state"])];
  if (status === undefined) return [];
  const { justification, detail } = analysis;
  const references = listAt(vulnerability["references"], `${field}.references`).filter(isObject);
  const said = {
    ids: idsOf([vulnerability["id"], ...references.map(({ id }) => id)]),
    status,
    justification: status === "not_affected" ? (JUSTIFICATIONS[String(justification)] ?? "") : "",
    impact: typeof detail === "string" ? detail : typeof justification === "string" ? justification : "",
    timeMs: vulnerability["updated"] === undefined ? made : timeAt(vulnerability["updated"], `${field}.updated`),
    remedies: remediesOf([
      remedyOf("action", vulnerability["recommendation"]),
      remedyOf("workaround", vulnerability["workaround"]),
      ...responsesOf(analysis),
    ]),
  };
  return listAt(vulnerability["affects"], `${field}.affects`).map((target, n) => {
    const whole = textAt(objectAt(target, `${field}.affects[${n}]`)["ref"], `${field}.affects[${n}].ref`);
    const refs = refsIn(whole);
    if (refs.some(isOwn)) return { ...said, product: "", component: "" };
    return { ...said, product: "", component: purlOfRefs(refs, purls) ?? whole };
  });
}

/** What whoever answers for the product means to do, as far as that is nothing. */
function responsesOf(analysis: Record<string, unknown>): (VexRemedy | undefined)[] {
  const { response } = analysis;
  const isNone = Array.isArray(response) && response.some((each) => each === "will_not_fix" || each === "can_not_fix");
  return isNone ? [remedyOf("no_fix_planned", "")] : [];
}

function authorOf(metadata: Record<string, unknown>): string {
  const authors = Array.isArray(metadata["authors"]) ? (metadata["authors"] as unknown[]) : [];
  for (const each of [...authors, metadata["supplier"], metadata["manufacturer"], metadata["manufacture"]])
    if (isObject(each) && typeof each["name"] === "string") return each["name"];
  return "";
}
