import { EcosystemSchema, QuotaState } from "@moorage/api/messages";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { COUNTED } from "./positions.ts";

type QuotaRow = Row<"quotas">;

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

/** What is used of a quota now. */
export async function usedOf(db: Database, quota: Pick<QuotaRow, "uid" | "used_bytes" | "counted_to">): Promise<Used> {
  const used = { bytes: isCounted(quota) ? quota.used_bytes : undefined, repos: 0, tags: 0, libraries: 0 };
  const rows = await select<{ kind: string; n: number }>(
    db,
    `select kind, n from counters where kind in (${KINDS.map(() => "?").join(", ")}) and ancestor = ?`,
    [...KINDS, quota.uid],
  );
  for (const { kind, n } of rows) used[kind === "repos" || kind === "tags" ? kind : "libraries"] += Number(n);
  return used;
}
