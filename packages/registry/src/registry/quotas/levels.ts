import { EcosystemSchema, QuotaState } from "@moorage/api/messages";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { COUNTED } from "./positions.ts";

type QuotaRow = Row<"quotas">;

/** From which share of a limit on a quota warns, where nobody says it. */
export const DEFAULT_SOFT_PERCENT = 80;

/** What a quota limits. */
export type Limited = "bytes" | "repos" | "tags" | "libraries";
/** What is used of a quota. `bytes` undefined while they are being counted. */
export type Used = Readonly<Record<Exclude<Limited, "bytes">, number>> & { readonly bytes: number | undefined };

/** Whether the bytes of a quota are known. */
export function isCounted({ counted_to }: Pick<QuotaRow, "counted_to">): boolean {
  return counted_to === COUNTED;
}

/** How much of one limit is used; OK where there is none. */
export function levelOf(used: number, limit: number | null, softPercent: number): QuotaState {
  if (limit === null) return QuotaState.OK;
  if (used > limit) return QuotaState.EXCEEDED;
  // A limit of 0 is reached by nothing.
  return limit > 0 && used * 100 >= limit * softPercent ? QuotaState.WARNED : QuotaState.OK;
}

/** How much of all limits is used, by the numbers alone. */
export function wholeLevel(quota: QuotaRow, used: Used): QuotaState {
  if (used.bytes === undefined) return QuotaState.COUNTING;
  return Math.max(
    ...(["bytes", "repos", "tags", "libraries"] as const).map((each) =>
      levelOf(used[each] ?? 0, quota[each], quota.soft_percent),
    ),
  ) as QuotaState;
}

// Libraries are counted by ecosystem.
const KINDS = ["repos", "tags", ...EcosystemSchema.values.map(({ number }) => `artifacts-${number}`)];

type Counted = Pick<QuotaRow, "uid" | "used_bytes" | "counted_to">;

/** What is used of quotas now, in their order. */
export async function usedOfEach(db: Database, quotas: readonly Counted[]): Promise<Used[]> {
  if (quotas.length === 0) return [];
  const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");
  const rows = await select<{ ancestor: string; kind: string; n: number }>(
    db,
    `select ancestor, kind, n from counters where kind in (${marks(KINDS)}) and ancestor in (${marks(quotas)})`,
    [...KINDS, ...quotas.map(({ uid }) => uid)],
  );
  return quotas.map((quota) => {
    const used = { bytes: isCounted(quota) ? Number(quota.used_bytes) : undefined, repos: 0, tags: 0, libraries: 0 };
    for (const { ancestor, kind, n } of rows)
      if (ancestor === quota.uid) used[kind === "repos" || kind === "tags" ? kind : "libraries"] += Number(n);
    return used;
  });
}

/** What is used of a quota now. */
export async function usedOf(db: Database, quota: Counted): Promise<Used> {
  const [used] = await usedOfEach(db, [quota]);
  return used ?? { bytes: undefined, repos: 0, tags: 0, libraries: 0 };
}
