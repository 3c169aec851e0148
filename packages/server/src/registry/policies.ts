import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { type TagPolicy, TagPolicySchema } from "@moorage/api";
import { createLru } from "../lib/lru.ts";
import { compilePattern, type Pattern, PatternError } from "../lib/patterns.ts";
import type { FieldViolation, PreconditionViolation } from "../errors.ts";

/** A repo's tag policy, ready to be asked. */
export interface Policy {
  isImmutable(tag: string): boolean;
  isProtected(tag: string): boolean;
  /** Whether it protects any tag at all. */
  protects: boolean;
  /** In their order: the first that matches a tag decides about it. */
  rules: readonly RetentionRule[];
  /** For how long after a tag pointed to a digest that is kept; Infinity: for ever. */
  historyRetentionMs: number;
}

export interface RetentionRule {
  matches(tag: string): boolean;
  /** So many, those moved last, are kept; 0: none for their number. */
  keepLast: number;
  /** Those moved within this time are kept; 0: none for their age. */
  keepForMs: number;
}

const NOTHING: Policy = {
  isImmutable: () => false,
  isProtected: () => false,
  protects: false,
  rules: [],
  historyRetentionMs: Infinity,
};
const MAX_KNOWN = 1000;
const known = createLru<string, Policy>(MAX_KNOWN);

const MAX_DURATION_S = 100 * 366 * 24 * 3600;
// What one tag costs at most: as many steps a character as one pattern alone may take.
const MAX_STEPS = 10_000;

/** The policy that stands in `repos.tag_policy`; null: there is none. */
export function policyOf(text: string | null): Policy {
  if (text === null) return NOTHING;
  const found = known.get(text);
  if (found !== undefined) return found;
  const policy = compilePolicy(fromJson(TagPolicySchema, JSON.parse(text) as JsonValue));
  known.set(text, policy);
  return policy;
}

/** Makes a policy of a message in which policyViolations finds nothing. */
export function compilePolicy({ immutableTags, protectedTags, retention, historyRetention }: TagPolicy): Policy {
  return {
    isImmutable: anyOf(immutableTags),
    isProtected: anyOf(protectedTags),
    protects: protectedTags.length > 0,
    rules: retention.map(({ tagPattern, keepLast, keepFor }) => {
      return {
        matches: tagPattern === "" ? () => true : anyOf([tagPattern]),
        keepLast,
        keepForMs: durationMs(keepFor) ?? 0,
      };
    }),
    historyRetentionMs: durationMs(historyRetention) ?? Infinity,
  };
}

/** For how long what a repo's tags pointed to is kept, by the text of its policy; Infinity: for ever. */
export function historyRetentionMs(text: string | null): number {
  return policyOf(text).historyRetentionMs;
}

/** Everything that is wrong with a policy; `path` is where it stands, as `tagPolicy`. */
export function policyViolations(policy: TagPolicy, path: string): FieldViolation[] {
  const violations: FieldViolation[] = [];
  const add = (field: string, description: string): void =>
    void violations.push({ field: `${path}.${field}`, description });
  let steps = 0;
  const addPattern = (field: string, text: string): void => {
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
  for (const [at, { tagPattern, keepLast, keepFor }] of policy.retention.entries()) {
    if (tagPattern !== "") addPattern(`retention[${at}].tagPattern`, tagPattern);
    if (keepLast < 0) add(`retention[${at}].keepLast`, "must not be negative");
    if (keepLast === 0 && keepFor === undefined) add(`retention[${at}]`, "must say keepLast or keepFor, or both");
    addDuration(`retention[${at}].keepFor`, keepFor);
  }
  addDuration("historyRetention", policy.historyRetention);
  if (violations.length === 0 && steps > MAX_STEPS)
    violations.push({ field: path, description: "its patterns together are too complex" });
  return violations;
}

/** Why an immutable tag does not move. */
export function immutableTag(name: string, digest: string): PreconditionViolation {
  return {
    type: "TAG_IMMUTABLE",
    subject: name,
    description: `tag ${name} is immutable by the repo's tag policy and stays at ${digest}`,
  };
}

/** Why a protected tag is not deleted. */
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
  if (seconds < 0n || nanos < 0 || (seconds === 0n && nanos === 0)) return "must be longer than nothing";
  if (nanos > 999_999_999) return "must be a duration";
  return seconds > MAX_DURATION_S ? "must be at most 100 years" : undefined;
}

function durationMs(duration: Duration | undefined): number | undefined {
  return duration && Number(duration.seconds) * 1000 + duration.nanos / 1_000_000;
}
