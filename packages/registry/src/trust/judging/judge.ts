import { SignatureAction, SignatureOutcome, SignatureState } from "@moorage/api/messages";
import type {
  Attempted,
  CompiledPolicy,
  CompiledRule,
  Evidence,
  Exemption,
  HoldingPolicy,
  Judgment,
  PolicyJudgment,
  RuleJudgment,
  SignatureFact,
  SignedManifest,
} from "./types.ts";

/** What keeps an image back. */
const HELD: ReadonlySet<SignatureOutcome> = new Set([
  SignatureOutcome.UNSIGNED,
  SignatureOutcome.WAITING,
  SignatureOutcome.UNKNOWN,
]);

/** How many reasons of signatures that do not count are named. */
const MAX_NAMED = 3;

/**
 * What policies say of an image: the one judgment of gates, previews, explanations and answers. It reads nothing, and
 * whatever it is not shown counts against the image.
 */
export function judge(policies: readonly CompiledPolicy[], evidence: Evidence, attempted: Attempted): Judgment {
  const judged = policies.map((policy) => judgePolicy(policy, evidence, attempted));
  return { policies: judged, untilMs: endOf(policies, evidence, attempted.nowMs) };
}

/** Whether the policy keeps the image back, or would if it was enforced. */
export function isHeld({ outcome }: Pick<PolicyJudgment, "outcome">): boolean {
  return HELD.has(outcome);
}

/** The policies that keep the image back, and those that would if they were enforced. */
export function holdingPolicies({ policies }: Pick<Judgment, "policies">): HoldingPolicy[] {
  return policies.filter(isHeld).map(({ policy: { uid, name, group, enforces, problem }, outcome, reason }) => ({
    uid,
    name,
    group,
    enforces,
    outcome,
    reason,
    isDamaged: problem !== undefined,
  }));
}

/** Those of them that are enforced. */
export function enforced(holding: readonly HoldingPolicy[]): HoldingPolicy[] {
  return holding.filter(({ enforces }) => enforces);
}

/** Whether that is only until something is verified: nothing else keeps it back. */
export function isForNow(held: readonly Pick<HoldingPolicy, "outcome">[]): boolean {
  return held.length > 0 && held.every(({ outcome }) => outcome === SignatureOutcome.WAITING);
}

function judgePolicy(policy: CompiledPolicy, evidence: Evidence, attempted: Attempted): PolicyJudgment {
  const is = (outcome: SignatureOutcome, reason = "", rules: readonly RuleJudgment[] = []): PolicyJudgment => ({
    policy,
    outcome,
    reason,
    rules,
  });
  if (evidence.kind === "document") return is(SignatureOutcome.DOCUMENT, "it is a signature or another document");
  if (policy.problem !== undefined) return is(SignatureOutcome.UNKNOWN, policy.problem);
  const other = notCovered(policy, evidence, attempted);
  if (other !== undefined) return is(SignatureOutcome.NOT_COVERED, other);
  const exemption = exemptionOf(policy, evidence, attempted);
  if (exemption !== undefined) return is(SignatureOutcome.EXEMPT, exemptWords(exemption));
  if (isHeldBefore(policy, evidence))
    return is(SignatureOutcome.HELD_BEFORE, "the repo has held it since before the policy counts");
  const rules = policy.rules.map((rule) => judgeRule(rule, policy, evidence, attempted.nowMs));
  const unmet = rules.filter(({ outcome }) => outcome !== SignatureOutcome.SIGNED);
  const reason = unmet.map((each) => `rule ${each.rule.name}: ${each.reason}`).join("; ");
  return is(worstOf(unmet), reason, rules);
}

/** What is certain comes first: what waits for one rule does not help where another one is not met. */
function worstOf(unmet: readonly RuleJudgment[]): SignatureOutcome {
  const order = [SignatureOutcome.UNSIGNED, SignatureOutcome.UNKNOWN, SignatureOutcome.WAITING];
  return order.find((outcome) => unmet.some((each) => each.outcome === outcome)) ?? SignatureOutcome.SIGNED;
}

/** Why the policy is not about this; undefined when it is. */
function notCovered(policy: CompiledPolicy, evidence: Evidence, { action, tag }: Attempted): string | undefined {
  if (!policy.actions.has(action)) return `it is not for ${WORDS[action]}`;
  if (!policy.coversRepo(evidence.path)) return `it is not for ${evidence.path}`;
  const { coversTag } = policy;
  // Where not all tags are known, one of the others may be meant.
  if (coversTag === undefined || !evidence.hasAllTags) return undefined;
  const tags = tag === undefined ? evidence.tags : [...evidence.tags, tag];
  return tags.some(coversTag) ? undefined : "no tag that it is for points to it, or has";
}

const WORDS: Readonly<Record<SignatureAction, string>> = {
  [SignatureAction.UNSPECIFIED]: "this",
  [SignatureAction.PULL]: "pulls",
  [SignatureAction.PROMOTE]: "promotions",
  [SignatureAction.COPY]: "copies",
};

/** The exemption that lets it pass: of itself, of an index that names it, or of a tag that points to one of these. */
function exemptionOf(policy: CompiledPolicy, evidence: Evidence, { tag, nowMs }: Attempted): Exemption | undefined {
  const digests = new Set([evidence.digest, ...evidence.indexes.map(({ digest }) => digest)]);
  const tags = new Set(tag === undefined ? evidence.currentTags : [...evidence.currentTags, tag]);
  return policy.exemptions.find(
    (each) =>
      each.repo === evidence.repo &&
      nowMs < each.expireMs &&
      (each.digest === "" ? tags.has(each.tag) : digests.has(each.digest)),
  );
}

function exemptWords({ tag, expireMs }: Exemption): string {
  return `${tag === "" ? "it" : `what tag ${tag} points to`} is exempt until ${new Date(expireMs).toISOString()}`;
}

function isHeldBefore({ sinceMs }: CompiledPolicy, { heldMs }: Evidence): boolean {
  return sinceMs !== undefined && heldMs !== undefined && heldMs < sinceMs;
}

function judgeRule(rule: CompiledRule, policy: CompiledPolicy, evidence: Evidence, nowMs: number): RuleJudgment {
  const { own, indexes, images, kind } = evidence;
  const candidates = policy.eachPlatform ? [own] : [own, ...indexes];
  const by = (signed: SignedManifest): number => keysIn(signed, rule, nowMs).size;
  const signed = candidates.find((each) => by(each) >= rule.threshold);
  if (signed !== undefined) return met(rule, by(signed), signed.digest);
  const asImages = kind === "index" && !policy.eachPlatform && evidence.hasAllImages && images.length > 0;
  const missing = asImages ? images.filter((each) => by(each) < rule.threshold) : [];
  if (asImages && missing.length === 0) return met(rule, Math.min(...images.map(by)), own.digest);
  const waits = (each: SignedManifest): boolean =>
    each.waits || rule.signers.some((signer) => each.waitsFor.has(signer));
  const looked = asImages ? [...candidates, ...missing] : candidates;
  const outcome =
    candidates.some(waits) || (asImages && missing.every(waits))
      ? SignatureOutcome.WAITING
      : looked.some(({ unread }) => unread.length > 0)
        ? SignatureOutcome.UNKNOWN
        : SignatureOutcome.UNSIGNED;
  const found = Math.max(...candidates.map(by));
  return {
    rule,
    outcome,
    found,
    subject: own.digest,
    reason: reasonOf(rule, evidence, { found, looked, outcome, nowMs }),
  };
}

function met(rule: CompiledRule, found: number, subject: string): RuleJudgment {
  return { rule, outcome: SignatureOutcome.SIGNED, found, subject, reason: "" };
}

/** The different keys and identities that have signed what the rule asks for. */
function keysIn({ facts }: SignedManifest, rule: CompiledRule, nowMs: number): Set<string> {
  return new Set(facts.filter((fact) => counts(fact, rule, nowMs)).map(({ key }) => key));
}

function counts(fact: SignatureFact, rule: CompiledRule, nowMs: number): boolean {
  return isAsked(fact, rule) && fact.state === SignatureState.TRUSTED && isYoung(fact, rule, nowMs);
}

/** Whether it is of the kind that the rule asks for, by one of its signers. */
function isAsked({ signer, predicateType }: SignatureFact, rule: CompiledRule): boolean {
  return rule.signers.includes(signer) && predicateType === rule.predicateType;
}

function isYoung({ signedMs }: SignatureFact, { maxAgeMs }: CompiledRule, nowMs: number): boolean {
  return maxAgeMs === undefined || (signedMs !== undefined && nowMs - signedMs < maxAgeMs);
}

/** Says to people what is missing, and what of what is there does not count. */
function reasonOf(
  rule: CompiledRule,
  { signerNames }: Evidence,
  about: { found: number; looked: readonly SignedManifest[]; outcome: SignatureOutcome; nowMs: number },
): string {
  const { found, looked, outcome, nowMs } = about;
  const names = rule.signers.map((uid) => signerNames.get(uid) ?? "a signer that is gone").join(" or ");
  const asked = `${found} of ${rule.threshold} by ${names}`;
  const facts = looked.flatMap((each) => each.facts).filter((fact) => rule.signers.includes(fact.signer));
  const others = facts.flatMap((fact) =>
    counts(fact, rule, nowMs) ? [] : [`${short(fact.manifest)}: ${whyNot(fact, rule, nowMs)}`],
  );
  const unread = outcome === SignatureOutcome.UNKNOWN ? looked.flatMap((each) => each.unread) : [];
  const waiting = outcome === SignatureOutcome.WAITING ? ["signatures are not verified yet"] : [];
  const all = [...new Set([...waiting, ...unread, ...others])];
  const more = all.length > MAX_NAMED ? [`${all.length - MAX_NAMED} more do not count either`] : [];
  return [asked, ...all.slice(0, MAX_NAMED), ...more].join("; ");
}

function whyNot(fact: SignatureFact, rule: CompiledRule, nowMs: number): string {
  if (fact.state !== SignatureState.TRUSTED) return fact.reason;
  if (!isAsked(fact, rule))
    return fact.predicateType === ""
      ? "a signature of the image, no attestation"
      : `an attestation: ${fact.predicateType}`;
  if (isYoung(fact, rule, nowMs)) return "";
  return fact.signedMs === undefined ? "nobody whose word counts says when it was made" : "it is too old";
}

const SHORT = "sha256:".length + 12;

function short(digest: string): string {
  return digest.slice(0, SHORT);
}

/** When something of it ends that depends on the time alone. */
function endOf(policies: readonly CompiledPolicy[], { own, indexes, images }: Evidence, nowMs: number): number {
  const all = [own, ...indexes, ...images].flatMap(({ facts }) => facts);
  const ends = all.flatMap(({ untilMs }) => untilMs ?? []);
  for (const { exemptions, rules } of policies) {
    ends.push(...exemptions.map(({ expireMs }) => expireMs));
    for (const { maxAgeMs } of rules)
      if (maxAgeMs !== undefined)
        ends.push(...all.flatMap(({ signedMs }) => (signedMs === undefined ? [] : signedMs + maxAgeMs)));
  }
  return ends.filter((ms) => ms > nowMs).reduce((least, ms) => Math.min(least, ms), Infinity);
}
