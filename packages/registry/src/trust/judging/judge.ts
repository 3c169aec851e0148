import { SignatureAction, SignatureOutcome, SignatureState } from "@moorage/api/messages";
import { isOfKind, type Lack, lackOf, turnsOf } from "./claims.ts";
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

/** What blocks an image. */
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

/** Whether the policy blocks the image, or would if it was enforced. */
export function isHeld({ outcome }: Pick<PolicyJudgment, "outcome">): boolean {
  return HELD.has(outcome);
}

/** The policies that block the image, and those that would if they were enforced. */
export function holdingPolicies({ policies }: Pick<Judgment, "policies">): HoldingPolicy[] {
  return policies
    .filter(isHeld)
    .map(({ policy: { uid, name, group, enforces, holdsTag, problem }, outcome, reason }) => ({
      uid,
      name,
      group,
      enforces,
      holdsTag,
      outcome,
      reason,
      isDamaged: problem !== undefined,
    }));
}

/** Those of them that are enforced. */
export function enforced(holding: readonly HoldingPolicy[]): HoldingPolicy[] {
  return holding.filter(({ enforces }) => enforces);
}

/** Whether that is only until something is verified: nothing else blocks it. */
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

/** A rule, and what an image is judged by it with. */
interface RuleAbout {
  rule: CompiledRule;
  /** The name of the image. */
  path: string;
  nowMs: number;
}

function judgeRule(rule: CompiledRule, policy: CompiledPolicy, evidence: Evidence, nowMs: number): RuleJudgment {
  const { own, indexes, images, kind } = evidence;
  const candidates = policy.eachPlatform ? [own] : [own, ...indexes];
  const about: RuleAbout = { rule, path: evidence.path, nowMs };
  const by = (signed: SignedManifest): number => keysIn(signed, about).size;
  const signed = candidates.find((each) => by(each) >= rule.threshold);
  if (signed !== undefined) return met(rule, by(signed), signed.digest);
  const asImages = kind === "index" && !policy.eachPlatform && evidence.hasAllImages && images.length > 0;
  const missing = asImages ? images.filter((each) => by(each) < rule.threshold) : [];
  if (asImages && missing.length === 0) return met(rule, Math.min(...images.map(by)), own.digest);
  const waits = (each: SignedManifest): boolean =>
    each.waits || rule.signers.some((signer) => each.waitsFor.has(signer)) || isInDoubt(each, about, "waiting");
  const looked = asImages ? [...candidates, ...missing] : candidates;
  const outcome =
    candidates.some(waits) || (asImages && missing.every(waits))
      ? SignatureOutcome.WAITING
      : looked.some((each) => each.unread.length > 0 || isInDoubt(each, about, "unknown"))
        ? SignatureOutcome.UNKNOWN
        : SignatureOutcome.UNSIGNED;
  const found = Math.max(...candidates.map(by));
  return {
    rule,
    outcome,
    found,
    subject: own.digest,
    reason: reasonOf(about, evidence, { found, looked, outcome }),
  };
}

function met(rule: CompiledRule, found: number, subject: string): RuleJudgment {
  return { rule, outcome: SignatureOutcome.SIGNED, found, subject, reason: "" };
}

/** The different keys and identities that have signed what the rule asks for. */
function keysIn({ facts }: SignedManifest, about: RuleAbout): Set<string> {
  return new Set(facts.filter((fact) => counts(fact, about)).map(({ key }) => key));
}

function counts(fact: SignatureFact, about: RuleAbout): boolean {
  return isTrusted(fact, about) && lackOf(fact, about.rule, about.path, about.nowMs) === undefined;
}

function isTrusted(fact: SignatureFact, { rule, nowMs }: RuleAbout): boolean {
  return isAsked(fact, rule) && fact.state === SignatureState.TRUSTED && isYoung(fact, rule, nowMs);
}

/** Whether something would count if it was known what it says. */
function isInDoubt({ facts }: SignedManifest, about: RuleAbout, doubt: Lack["doubt"]): boolean {
  const { rule, path, nowMs } = about;
  return facts.some((fact) => isTrusted(fact, about) && lackOf(fact, rule, path, nowMs)?.doubt === doubt);
}

/** Whether it is of the kind that the rule asks for, by one of its signers. */
function isAsked(fact: SignatureFact, rule: CompiledRule): boolean {
  return rule.signers.includes(fact.signer) && isOfKind(fact, rule);
}

function isYoung({ signedMs }: SignatureFact, { maxAgeMs }: CompiledRule, nowMs: number): boolean {
  return maxAgeMs === undefined || (signedMs !== undefined && nowMs - signedMs < maxAgeMs);
}

/** Says to people what is missing, and what of what is there does not count. */
function reasonOf(
  about: RuleAbout,
  { signerNames }: Evidence,
  { found, looked, outcome }: { found: number; looked: readonly SignedManifest[]; outcome: SignatureOutcome },
): string {
  const { rule } = about;
  const names = rule.signers.map((uid) => signerNames.get(uid) ?? "a signer that is gone").join(" or ");
  const asked = `${found} of ${rule.threshold} by ${names}`;
  const facts = looked.flatMap((each) => each.facts).filter((fact) => rule.signers.includes(fact.signer));
  const others = facts.flatMap((fact) =>
    counts(fact, about) ? [] : [`${short(fact.manifest)}: ${whyNot(fact, about)}`],
  );
  const unread = outcome === SignatureOutcome.UNKNOWN ? looked.flatMap((each) => each.unread) : [];
  const waiting = outcome === SignatureOutcome.WAITING ? ["signatures are not verified yet"] : [];
  const all = [...new Set([...waiting, ...unread, ...others])];
  const more = all.length > MAX_NAMED ? [`${all.length - MAX_NAMED} more do not count either`] : [];
  return [asked, ...all.slice(0, MAX_NAMED), ...more].join("; ");
}

function whyNot(fact: SignatureFact, { rule, path, nowMs }: RuleAbout): string {
  if (fact.state !== SignatureState.TRUSTED) return fact.reason;
  if (!isAsked(fact, rule))
    return fact.predicateType === ""
      ? "a signature of the image, no attestation"
      : `an attestation: ${fact.predicateType}`;
  if (isYoung(fact, rule, nowMs)) return lackOf(fact, rule, path, nowMs)?.reason ?? "";
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
    for (const rule of rules) {
      const { maxAgeMs } = rule;
      if (maxAgeMs !== undefined)
        ends.push(...all.flatMap(({ signedMs }) => (signedMs === undefined ? [] : signedMs + maxAgeMs)));
      if (rule.conditions.length > 0) ends.push(...all.flatMap((fact) => turnsOf(fact, rule)));
    }
  }
  return ends.filter((ms) => ms > nowMs).reduce((least, ms) => Math.min(least, ms), Infinity);
}
