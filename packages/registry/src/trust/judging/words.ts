import { type SignatureOutcome, SignatureOutcomeSchema } from "@moorage/api/messages";
import type { HoldingPolicy } from "./types.ts";

/** The most policies that an error or an event names. */
export const MAX_POLICIES = 5;

/** Says to people why the image is blocked, and what they can do. `held`: the policies that block it. */
export function describeHeld(digest: string, held: readonly HoldingPolicy[]): string {
  const named = held.slice(0, MAX_POLICIES).map((each) => describePolicy(digest, each));
  const left = held.length - named.length;
  const more = left > 0 ? [`${left} more ${left === 1 ? "policy blocks" : "policies block"} it`] : [];
  return [...named, ...more].join(". ");
}

/** Says to people that a tag is answered with an earlier image than it points to. `why`: that is blocked. */
export function describeInstead(tag: string, digest: string, why: string): string {
  return `tag ${tag} is answered as ${digest}, to which it pointed before: ${why}`;
}

function describePolicy(digest: string, { name, group, reason, outcome, isDamaged }: HoldingPolicy): string {
  const asked = `policy ${name}${group === "" ? "" : ` (${group})`}`;
  if (isDamaged) return `${asked} lets nothing pass: ${reason}`;
  const known = {
    WAITING: `It is not known yet whether ${digest} is signed as ${asked} asks: ${reason}. Ask again in some seconds`,
    UNKNOWN: `It is not known whether ${digest} is signed as ${asked} asks: ${reason}. Have it signed anew`,
  };
  const word = outcomeWord(outcome);
  return word === "WAITING" || word === "UNKNOWN"
    ? known[word]
    : `${digest} is not signed as ${asked} asks: ${reason}. Have it signed, or exempt it from the policy`;
}

/** The outcome as events and settings have it, such as `UNSIGNED`. */
export function outcomeWord(outcome: SignatureOutcome): string {
  const name = SignatureOutcomeSchema.value[outcome]?.name ?? "";
  return name.replace("SIGNATURE_OUTCOME_", "");
}
