import type { TagFindings, TagSignature } from "../../api/gen/registry.ts";

/** What of a repo's tags is listed: what the address of the page has, each absent or one of the values below. */
export interface TagFilters {
  /** Those that came to point elsewhere within so many days. */
  updated?: string | undefined;
  status?: string | undefined;
  /** Which kind of tags is left out. */
  hide?: string | undefined;
  /** Those for an architecture. */
  platform?: string | undefined;
  /** Those that are signed so. */
  signature?: string | undefined;
  /** Those with such open findings. */
  findings?: string | undefined;
}

type Options = readonly (readonly [value: string, label: string])[];

/** Within how many days. */
export const UPDATED: Options = [
  ["1", "24 hours"],
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
];
const DEPRECATED = "deprecated";
/** Whether a tag is deprecated. */
export const STATUS: Options = [
  [DEPRECATED, "Deprecated"],
  ["current", "Not deprecated"],
];
/** Kinds of tags that can be left out. */
export const HIDE: Options = [
  ["attached", "Signatures and attestations"],
  ["dates", "Tags with a date"],
  ["epochs", "Tags with a package epoch"],
];
/** Architectures of images. */
export const PLATFORMS: Options = ["amd64", "arm64", "arm", "386", "ppc64le", "riscv64", "s390x"].map(
  (name) => [name, name] as const,
);
const UNKNOWN = "unknown";
/** What signatures are worth. */
export const SIGNATURES: Options = [
  ["trusted", "Trusted"],
  ["untrusted", "Not trusted"],
  ["none", "None"],
  [UNKNOWN, "Not known"],
];
/** Which findings are open. */
export const FINDINGS: Options = [
  ["critical", "Critical"],
  ["high", "High or worse"],
  ["medium", "Medium or worse"],
  ["any", "Any"],
  ["none", "None"],
  [UNKNOWN, "Not known"],
];
const DAY_MS = 86_400_000;

/** The filters as far as they are known values, and nothing else of the address. */
export function filtersOf({ updated, status, hide, platform, signature, findings }: TagFilters): TagFilters {
  return {
    ...(has(UPDATED, updated) && { updated }),
    ...(has(STATUS, status) && { status }),
    ...(has(HIDE, hide) && { hide }),
    ...(has(PLATFORMS, platform) && { platform }),
    ...(has(SIGNATURES, signature) && { signature }),
    ...(has(FINDINGS, findings) && { findings }),
  };
}

function has(options: Options, value: string | undefined): boolean {
  return options.some(([each]) => each === value);
}

/** Whether the filters leave tags out. */
export function isFiltered(filters: TagFilters): boolean {
  return Object.keys(filtersOf(filters)).length > 0;
}

/** Whether the server looks at what tags point to, for each page at a bounded number of them. */
export function isOfImages({ platform, signature, findings }: TagFilters): boolean {
  return platform !== undefined || signature !== undefined || findings !== undefined;
}

/** A filter for the tags of which the answer is not known; undefined for filters that cannot ask for that. */
export function ofUnknown(filters: TagFilters): TagFilters | undefined {
  const { signature, findings } = filters;
  if (findings !== undefined && findings !== UNKNOWN) return { findings: UNKNOWN };
  return signature !== undefined && signature !== UNKNOWN ? { signature: UNKNOWN } : undefined;
}

/** When the time begins from which on tags are listed; undefined for all. */
export function sinceOf({ updated }: TagFilters, nowMs: number): string | undefined {
  return updated === undefined ? undefined : new Date(nowMs - Number(updated) * DAY_MS).toISOString();
}

/** The fields of a list's request that leave tags out. Whether a tag is deprecated is not among them: see `orderOf`. */
export function requestOf({ hide, platform, signature, findings }: TagFilters, since: string | undefined) {
  return {
    ...(since !== undefined && { updatedSince: since }),
    ...(hide === "attached" && { includeReferrers: false }),
    ...(hide === "dates" && { includeDates: false }),
    ...(hide === "epochs" && { includeEpochs: false }),
    ...(platform !== undefined && { architecture: platform }),
    ...(signature !== undefined && { signature: `TAG_SIGNATURE_${signature.toUpperCase()}` as TagSignature }),
    ...(findings !== undefined && { findings: `TAG_FINDINGS_${findings.toUpperCase()}` as TagFindings }),
  };
}

/** Whether the tag has the status that is asked for. */
export function fits({ status }: TagFilters, { deprecated = false }: { deprecated?: boolean | undefined }): boolean {
  return status === undefined || deprecated === (status === DEPRECATED);
}

/** The order in which all tags of the status come first: where the first other one follows, there are no more. */
export function orderOf({ status }: TagFilters, order: string): string {
  if (status === undefined) return order;
  const rest = order.startsWith("deprecated") ? "name" : order;
  return `${status === DEPRECATED ? "deprecated desc" : "deprecated"},${rest}`;
}
