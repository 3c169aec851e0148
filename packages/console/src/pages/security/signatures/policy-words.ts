import type { SignatureAction, SignaturePolicy, SignatureRule } from "../../../api/gen/registry.ts";
import { durationWords } from "../../../lib/durations.ts";
import { purposeWords } from "./signature-words.ts";

const ACTIONS: Partial<Record<SignatureAction, string>> = {
  SIGNATURE_ACTION_PULL: "pulls",
  SIGNATURE_ACTION_PROMOTE: "promotions",
  SIGNATURE_ACTION_COPY: "copies by mirrors",
};

/** What a policy is for, in words: `pulls, promotions`. */
export function actionWords({ on }: SignaturePolicy): string {
  return on.map((action) => ACTIONS[action] ?? action).join(", ");
}

/** Which images a policy is about. */
export function scopeWords({ repoPattern, tagPattern }: SignaturePolicy): string {
  const repos = repoPattern === "" ? "all images" : `images matching ${repoPattern}`;
  return tagPattern === "" ? repos : `${repos}, tags matching ${tagPattern}`;
}

/** What a rule asks for. `nameOf`: a signer's name by its uid. */
export function ruleWords(rule: SignatureRule, nameOf: (uid: string) => string): string {
  const { signers, threshold, predicateType, maxAge } = rule;
  const number = Math.max(threshold, 1);
  const [article, what] =
    predicateType === "" ? ["a", "signature of the image"] : ["an", `attestation (${purposeWords(predicateType)})`];
  const by = `by ${signers.map(nameOf).join(" or ")}`;
  const age = maxAge === undefined ? "" : `, at most ${durationWords(maxAge)} old`;
  return number === 1 ? `${article} ${what}, ${by}${age}` : `${number} × ${what}, by different keys, ${by}${age}`;
}
