import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  GateMode,
  type SignatureAction,
  type SignatureCondition,
  type SignatureProvenance,
  type SignatureRule,
  SignatureRuleSchema,
} from "@moorage/api/messages";
import { compilePattern, type Pattern } from "@moorage/kernel/lib/patterns";
import type { Row } from "@moorage/kernel/store";
import { sourceOf } from "../claims/provenance.ts";
import type { CompiledCondition, CompiledPolicy, CompiledProvenance, CompiledRule, Exemption } from "./types.ts";

/** The columns of a policy by which images are judged. */
export type PolicyRow = Pick<
  Row<"signature_policies">,
  | "uid"
  | "name"
  | "mode"
  | "actions"
  | "repo_pattern"
  | "tag_pattern"
  | "each_platform"
  | "rules"
  | "since"
  | "hold_tags"
  | "document_signers"
>;

/** The signers of documents of a policy that names none, as they are stored. */
export const NO_SIGNERS = "[]";

/**
 * Compiles a policy. One that cannot be read is answered with its `problem`, and lets nothing pass: what it asks for is
 * not known.
 */
export function compilePolicy(row: PolicyRow, group: string, exemptions: readonly Exemption[]): CompiledPolicy {
  const { uid, name, mode, each_platform, since } = row;
  // A mode that this program does not know is one of a newer program.
  const enforces = mode !== GateMode.PREVIEW && mode !== GateMode.UNSPECIFIED;
  const known = {
    uid,
    name,
    group,
    enforces,
    eachPlatform: each_platform === 1,
    exemptions,
    holdsTag: row.hold_tags === 1,
    // Where they cannot be read, nobody's signature is enough.
    ...(row.document_signers !== NO_SIGNERS && { documentSigners: [] }),
  };
  try {
    const [repo, tag] = [row.repo_pattern, row.tag_pattern].map((text) =>
      text === "" ? undefined : compilePattern(text),
    );
    const rules = rulesOf(row).map(compileRule);
    const documentSigners = JSON.parse(row.document_signers) as string[];
    if (rules.length === 0 && documentSigners.length === 0) throw new Error("it has no rules");
    return {
      ...known,
      actions: new Set(JSON.parse(row.actions) as SignatureAction[]),
      coversRepo: (path) => repo === undefined || covers(repo, path),
      ...(tag !== undefined && { coversTag: (name) => covers(tag, name) }),
      rules,
      ...(documentSigners.length > 0 && { documentSigners }),
      ...(since !== null && { sinceMs: since }),
    };
  } catch (error) {
    const problem = `the policy cannot be read: ${(error as Error).message}`;
    return { ...known, actions: new Set(), coversRepo: () => true, rules: [], problem };
  }
}

/** What is not looked at, since it is too long, is covered. */
function covers(pattern: Pattern, text: string): boolean {
  return pattern.matches(text) || pattern.isTooLong(text);
}

/** The rules of a row of signature_policies. */
function rulesOf({ rules }: Pick<PolicyRow, "rules">): SignatureRule[] {
  return (JSON.parse(rules) as JsonValue[]).map((rule) => fromJson(SignatureRuleSchema, rule));
}

function compileRule(rule: SignatureRule): CompiledRule {
  const { name, signers, threshold, predicateType, maxAge, annotations, sameName, provenance, conditions } = rule;
  return {
    name,
    signers,
    threshold: Math.max(1, threshold),
    predicateType,
    ...(maxAge !== undefined && { maxAgeMs: durationMs(maxAge) }),
    annotations: Object.entries(annotations),
    sameName,
    ...(provenance !== undefined && { provenance: compileProvenance(provenance) }),
    conditions: conditions.map(compileCondition),
  };
}

function compileProvenance(asked: SignatureProvenance): CompiledProvenance {
  const { builderIds, buildTypes, sourceUris, sourceRefs } = asked;
  return { builderIds, buildTypes, sourceRefs, sourceUris: sourceUris.map((text) => sourceOf(text).uri) };
}

function compileCondition({ pointer, values, atLeast, atMost, newerThan }: SignatureCondition): CompiledCondition {
  return {
    pointer,
    values,
    ...(atLeast !== undefined && { atLeast }),
    ...(atMost !== undefined && { atMost }),
    ...(newerThan !== undefined && { newerThanMs: durationMs(newerThan) }),
  };
}

function durationMs({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1_000 + Math.floor(nanos / 1_000_000);
}
