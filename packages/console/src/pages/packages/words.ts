import type { BlockReason, Ecosystem, PolicyMode, SourceType } from "../../api/gen/libraries.ts";

/** The ecosystems by what people call their registries, in the order in which they are offered. */
export const ECOSYSTEMS: readonly (readonly [Ecosystem, string])[] = [
  ["ECOSYSTEM_JAVASCRIPT", "npm"],
  ["ECOSYSTEM_PYTHON", "PyPI"],
  ["ECOSYSTEM_JAVA", "Maven"],
];

/** All of them: the API lists the packages of the ecosystems that it is asked for. */
export const ALL_ECOSYSTEMS: Ecosystem[] = ECOSYSTEMS.map(([id]) => id);

/** Such as `npm`. */
export function ecosystemWord(ecosystem: Ecosystem): string {
  return ECOSYSTEMS.find(([id]) => id === ecosystem)?.[1] ?? "other";
}

const REASONS: Partial<Record<BlockReason, string>> = {
  BLOCK_REASON_COOLDOWN: "Too young",
  BLOCK_REASON_MALWARE: "Malware",
  BLOCK_REASON_PURL: "Named by the policy",
  BLOCK_REASON_LICENSE: "License",
};

/** Why a version was blocked. */
export const reasonWord = (reason: BlockReason): string => REASONS[reason] ?? "Blocked";

/** Whether a policy blocks, or only says what it would block. */
export const modeWord = (mode: PolicyMode): string => (mode === "POLICY_MODE_ENFORCE" ? "Enforced" : "Preview");

const SOURCES: Partial<Record<SourceType, string>> = {
  SOURCE_TYPE_INTERNAL: "Published here",
  SOURCE_TYPE_INTERNAL_REMEDIATED: "Fixed here",
  SOURCE_TYPE_UPSTREAM_REGISTRY: "From an upstream",
};

/** Where a version came from. */
export const sourceWord = (source: SourceType): string => SOURCES[source] ?? "not recorded";
