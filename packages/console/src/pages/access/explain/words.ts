import type { AccessRemedy, AccessStep, AccessStepKind, ExplainAccessResponse } from "../../../api/gen/iam.ts";
import type { Question } from "./request.ts";

/** Where something is looked at or changed. */
export interface Place {
  label: string;
  href: string;
}

/** One step as it is shown. */
export interface Shown {
  about: string;
  outcome: "Passed" | "Failed" | "Does not apply" | "Not stated";
  message: string;
  place?: Place | undefined;
}

const ABOUT: Readonly<Record<AccessStepKind, string>> = {
  KIND_UNSPECIFIED: "Step",
  KIND_IDENTITY: "Identity",
  KIND_CLAIM_MATCH: "Claims",
  KIND_METHOD: "Rule of the method",
  KIND_BINDING: "Role binding",
  KIND_MAPPING: "Mapping of an external group",
  KIND_CAPABILITY: "Right",
  KIND_NARROWING: "Permissions of the token",
  KIND_SCOPE: "Groups of the token",
  KIND_FREE_TIER: "Public images",
  KIND_EXISTENCE: "Does it exist",
  KIND_TERMS: "Terms",
  KIND_TAG_POLICY: "Policy of tags",
  KIND_GATE: "Vulnerability gate",
  KIND_SIGNATURE: "Which signatures the image needs",
};
const OUTCOMES: Readonly<Record<string, Shown["outcome"]>> = {
  OUTCOME_PASSED: "Passed",
  OUTCOME_FAILED: "Failed",
  OUTCOME_NOT_APPLICABLE: "Does not apply",
};

/** A sentence of the API with a capital letter and a full stop. */
function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) || whole === "" ? whole : `${whole}.`;
}

/** Yes or no, and why, in one sentence. `name`: that of the identity, in place of its uid. */
export function answerOf({ allowed, message, identity }: ExplainAccessResponse, name = ""): string {
  const named = name === "" || identity === "" ? message : message.replaceAll(identity, name);
  return `${allowed ? "Yes" : "No"}: ${sentence(named).replace(/^./, (first) => first.toLowerCase())}`;
}

/** The step in words, with the page where what it is about is managed. */
export function shownStep(step: AccessStep, question: Question, identity: string): Shown {
  return {
    about: ABOUT[step.kind],
    outcome: OUTCOMES[step.outcome] ?? "Not stated",
    message: sentence(step.message),
    place: placeOf(step, question, identity),
  };
}

function placeOf({ kind, uid, group }: AccessStep, question: Question, identity: string): Place | undefined {
  const repo = repoOf(question);
  if (kind === "KIND_BINDING" && group !== "")
    return { label: "Roles there", href: at("/access/bindings", { group, identity }) };
  if (kind === "KIND_IDENTITY" || kind === "KIND_CLAIM_MATCH") {
    const known = uid || identity;
    return known === "" ? undefined : { label: "The identity", href: at("/access/identity", { uid: known }) };
  }
  if (kind === "KIND_MAPPING") return { label: "Mappings", href: at("/access/mappings", { group }) };
  if (kind === "KIND_TERMS" && group !== "") return { label: "Accepted terms", href: at("/access/terms", { group }) };
  if ((kind === "KIND_TAG_POLICY" || kind === "KIND_GATE") && repo !== "")
    return { label: "Image settings", href: at("/repo/settings", { name: repo }) };
  return undefined;
}

/** What would have to change, with the pages where that is done. */
export function shownRemedy(
  { message, capabilities, group, documentIds }: AccessRemedy,
  question: Question,
  { reason, identity }: Pick<ExplainAccessResponse, "reason" | "identity">,
): { message: string; places: Place[] } {
  const places: Place[] = [];
  const repo = repoOf(question);
  if (capabilities.length > 0 && group !== "")
    places.push({ label: "Give a role there", href: at("/access/bindings", { group, identity }) });
  if (documentIds.length > 0 && group !== "")
    places.push({
      label: "Accept it there",
      href: at("/access/terms", { group, document: documentIds.join(",") }),
    });
  if ((reason === "ACCESS_REASON_TAG_POLICY" || reason === "ACCESS_REASON_GATE_REJECTS") && repo !== "")
    places.push({ label: "Image settings", href: at("/repo/settings", { name: repo }) });
  return { message: sentence(message), places };
}

/** `acme/app` of an image that the question names; empty for a uid, whose name is not known here. */
export function repoOf({ action = "pull", resource = "" }: Question): string {
  if (action === "method" || /^[0-9a-f]{40}(?:\/[0-9a-f]+)*$/.test(resource)) return "";
  return resource.replace(/@.*$/, "").replace(/:[^/]*$/, "");
}

function at(path: string, search: Readonly<Record<string, string>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== "");
  return `${path}?${new URLSearchParams(given).toString()}`;
}
