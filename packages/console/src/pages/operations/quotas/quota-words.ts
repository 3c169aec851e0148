import type { Quota } from "../../../api/gen/registry.ts";
import { bytes, count } from "../../../lib/bytes.ts";

/** What a quota limits. */
export type Limit = "bytes" | "repos" | "tags" | "libraries";

/** What is limited, as the console calls it. */
export const LIMITS: readonly (readonly [limit: Limit, label: string])[] = [
  ["bytes", "Storage"],
  ["repos", "Images"],
  ["tags", "Tags"],
  ["libraries", "Packages"],
];

/** Of what part of a limit a quota warns that does not say so, in percent. */
export const SOFT_PERCENT = 80;

/** How much of one limit is used. */
export interface LimitUse {
  /** Undefined while it is being counted. */
  used: number | undefined;
  /** Undefined when it is not limited. */
  limit: number | undefined;
  /** The part of the limit that is used; undefined when there is no limit, or it is not known. */
  part: number | undefined;
  look: "plain" | "warning" | "danger";
}

/** How much of a limit of the quota is used, and how bad that is. */
export function useOf(quota: Quota, name: Limit): LimitUse {
  const limit = numberOf(quota[name]);
  const used = numberOf(quota.used?.[name]);
  if (limit === undefined || used === undefined) return { used, limit, part: undefined, look: "plain" };
  // A limit of 0 allows none: it is full from the beginning.
  const part = limit === 0 ? 1 : used / limit;
  const soft = softOf(quota) / 100;
  return { used, limit, part, look: part >= 1 ? "danger" : part >= soft ? "warning" : "plain" };
}

/** From what part of a limit on the quota warns, in percent. */
export function softOf({ softPercent }: Quota): number {
  return softPercent === 0 ? SOFT_PERCENT : softPercent;
}

/** `9.8 GiB of 10 GiB`, `4 of 100`, `12, no limit`. */
export function useWords(name: Limit, { used, limit }: LimitUse): string {
  const words = name === "bytes" ? bytes : count;
  if (used === undefined) return limit === undefined ? "being counted" : `being counted, of ${words(limit)}`;
  return limit === undefined ? `${words(used)}, no limit` : `${words(used)} of ${words(limit)}`;
}

/** What of the storage is history, cached or still being uploaded; nothing where that is 0 or was not measured yet. */
export function partsWords({ used }: Quota): string {
  if (used?.measureTime === undefined) return "";
  const parts = [
    ["history", used.historyBytes],
    ["cached", used.cachedBytes],
    ["being uploaded", used.pendingBytes],
  ] as const;
  return parts
    .flatMap(([name, value]) => {
      const size = numberOf(value);
      return size === undefined ? [`${name} not known`] : size > 0 ? [`${bytes(size)} ${name}`] : [];
    })
    .join(", ");
}

/** Why the quota is in its state, in a sentence; empty when there is nothing to say. */
export function whyWords(quota: Quota): string {
  const uses = LIMITS.map(([name, label]) => ({ label, ...useOf(quota, name) }));
  const full = uses.filter(({ look }) => look === "danger").map(({ label }) => label);
  const near = uses.filter(({ look }) => look === "warning").map(({ label }) => label);
  switch (quota.state) {
    case "QUOTA_STATE_COUNTING":
      return "The group's content is being counted. Storage is not limited until that is done.";
    case "QUOTA_STATE_EXCEEDED":
      return full.length > 0
        ? `${listWords(full)}: nothing more is accepted until usage goes down.`
        : "Something was denied because it did not fit. Smaller content may still fit.";
    case "QUOTA_STATE_WARNED":
      return full.length > 0
        ? `${listWords(full)}: the limit is reached. Anything more is denied.`
        : `${listWords(near)}: ${softOf(quota)} % or more is used. Pushes still work, with a warning.`;
    default:
      return "";
  }
}

function listWords(names: readonly string[]): string {
  return names.length < 2
    ? (names[0] ?? "A limit")
    : `${names.slice(0, -1).join(", ")} and ${names.at(-1)?.toLowerCase()}`;
}

function numberOf(value: string | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}
