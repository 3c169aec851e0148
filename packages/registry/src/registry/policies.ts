import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { type TagPolicy, TagPolicySchema } from "@moorage/api/messages";
import { createLru } from "@moorage/kernel/lib/lru";
import { compilePattern, type Pattern, PatternError } from "@moorage/kernel/lib/patterns";
import type { FieldViolation, PreconditionViolation } from "@moorage/kernel/errors";
import { compileGate, type Gate, gateViolations } from "./vulnerability-gate.ts";

/** A repo's tag policy, compiled. */
export interface Policy {
  isImmutable(tag: string): boolean;
  isProtected(tag: string): boolean;
  /** Whether there is any pattern of protected tags. */
  protects: boolean;
  /** In order: the first rule that matches a tag decides. */
  rules: readonly RetentionRule[];
  /** How long the history of tags is retained, in milliseconds; Infinity means for ever. */
  historyRetentionMs: number;
  /** Whether an index is accepted without all the manifests that it names. */
  allowsSparse: boolean;
  /** Which images are not pulled or promoted for their findings. */
  gate?: Gate;
}

interface RetentionRule {
  matches(tag: string): boolean;
  /** How many of the matching tags are kept, the most recently moved ones; 0 keeps none by number. */
  keepLast: number;
  /** Matching tags moved within this time, in milliseconds, are kept; 0 keeps none by age. */
  keepForMs: number;
  /** Matching tags used within this time, in milliseconds, are kept; 0 keeps none by their pulls. */
  keepPulledForMs: number;
  /** How many of the matching tags are kept, the most recently used ones; 0 keeps none by their pulls. */
  keepLastPulled: number;
}

const NOTHING: Policy = {
  isImmutable: () => false,
  isProtected: () => false,
  protects: false,
  rules: [],
  historyRetentionMs: Infinity,
  allowsSparse: false,
};
const MAX_KNOWN = 1000;
const known = createLru<string, Policy>(MAX_KNOWN);

const DAY_MS = 24 * 3_600_000;
const MAX_LAST_PULLED = 10_000;
const MAX_DURATION_S = 100 * 366 * 24 * 3600;
/**
 * The limit for the patterns that are matched with one tag, in steps per character: with the longest tag they take at
 * most 256,000 steps, some ten milliseconds. Policies that an earlier release accepted may have 10,000.
 */
export const MAX_TAG_STEPS = 2_000;

/** The policy in `repos.tag_policy`; null stands for an empty policy. */
export function policyOf(text: string | null): Policy {
  if (text === null) return NOTHING;
  const found = known.get(text);
  if (found !== undefined) return found;
  const policy = compilePolicy(fromJson(TagPolicySchema, JSON.parse(text) as JsonValue));
  known.set(text, policy);
  return policy;
}

/** Compiles a policy from a message in which policyViolations finds nothing. */
export function compilePolicy(policy: TagPolicy): Policy {
  const { immutableTags, protectedTags, retention, historyRetention, allowSparse, vulnerabilities } = policy;
  return {
    isImmutable: anyOf(immutableTags),
    isProtected: anyOf(protectedTags),
    protects: protectedTags.length > 0,
    rules: retention.map(({ tagPattern, keepLast, keepFor, keepPulledFor, keepLastPulled }) => {
      return {
        matches: tagPattern === "" ? () => true : anyOf([tagPattern]),
        keepLast,
        keepForMs: durationMs(keepFor) ?? 0,
        keepPulledForMs: durationMs(keepPulledFor) ?? 0,
        keepLastPulled,
      };
    }),
    historyRetentionMs: durationMs(historyRetention) ?? Infinity,
    allowsSparse: allowSparse,
    ...(vulnerabilities !== undefined && { gate: compileGate(vulnerabilities) }),
  };
}

/**
 * How long the history of a repo's tags is retained, in milliseconds, from the text of its policy; Infinity means for
 * ever.
 */
export function historyRetentionMs(text: string | null): number {
  return policyOf(text).historyRetentionMs;
}

/** All violations of a policy; `path` is its field, such as `tagPolicy`. */
export function policyViolations(policy: TagPolicy, path: string): FieldViolation[] {
  const violations: FieldViolation[] = [];
  const add = (field: string, description: string): void =>
    void violations.push({ field: `${path}.${field}`, description });
  let steps = 0;
  const addPattern = (field: string, text: string): void => {
    // Compiling takes time too.
    if (steps > MAX_TAG_STEPS) return;
    try {
      steps += compilePattern(text).steps;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      add(field, error.message);
    }
  };
  const addDuration = (field: string, duration: Duration | undefined): void => {
    const problem = duration && durationProblem(duration);
    if (problem !== undefined) add(field, problem);
  };
  policy.immutableTags.forEach((text, at) => addPattern(`immutableTags[${at}]`, text));
  policy.protectedTags.forEach((text, at) => addPattern(`protectedTags[${at}]`, text));
  for (const [at, rule] of policy.retention.entries()) {
    const { tagPattern, keepLast, keepFor, keepPulledFor, keepLastPulled } = rule;
    if (tagPattern !== "") addPattern(`retention[${at}].tagPattern`, tagPattern);
    if (keepLast < 0) add(`retention[${at}].keepLast`, "must not be negative");
    if (keepLastPulled < 0 || keepLastPulled > MAX_LAST_PULLED)
      add(`retention[${at}].keepLastPulled`, `must be between 0 and ${MAX_LAST_PULLED}`);
    if (keepLast === 0 && keepFor === undefined && keepPulledFor === undefined && keepLastPulled === 0)
      add(`retention[${at}]`, "must say keepLast, keepFor, keepPulledFor or keepLastPulled, or several of them");
    addDuration(`retention[${at}].keepFor`, keepFor);
    addDuration(`retention[${at}].keepPulledFor`, keepPulledFor);
    // A server that ends without a farewell may lose the pulls of some seconds.
    if ((durationMs(keepPulledFor) ?? DAY_MS) < DAY_MS)
      add(`retention[${at}].keepPulledFor`, "must be at least 86400s, a day");
  }
  addDuration("historyRetention", policy.historyRetention);
  if (policy.vulnerabilities !== undefined)
    violations.push(...gateViolations(policy.vulnerabilities, `${path}.vulnerabilities`));
  if (violations.length === 0 && steps > MAX_TAG_STEPS)
    violations.push({ field: path, description: "its patterns together are too complex" });
  return violations;
}

/** The violation for a move of an immutable tag. */
export function immutableTag(name: string, digest: string): PreconditionViolation {
  return {
    type: "TAG_IMMUTABLE",
    subject: name,
    description: `tag ${name} is immutable by the repo's tag policy and stays at ${digest}`,
  };
}

/** The violation for deleting a protected tag. */
export function protectedTag(name: string): PreconditionViolation {
  return {
    type: "TAG_PROTECTED",
    subject: name,
    description: `tag ${name} is protected from deletion by the repo's tag policy`,
  };
}

function anyOf(patterns: readonly string[]): (tag: string) => boolean {
  const compiled: Pattern[] = patterns.map(compilePattern);
  return (tag) => compiled.some((pattern) => pattern.matches(tag));
}

function durationProblem({ seconds, nanos }: Duration): string | undefined {
  if (seconds < 0n || nanos < 0 || (seconds === 0n && nanos === 0)) return "must be longer than 0s";
  if (nanos > 999_999_999) return "must be a duration";
  return seconds > MAX_DURATION_S ? "must be at most 100 years" : undefined;
}

function durationMs(duration: Duration | undefined): number | undefined {
  return duration && Number(duration.seconds) * 1000 + duration.nanos / 1_000_000;
}
