import { QuotaState } from "@moorage/api/messages";
import type { Database, Row } from "@moorage/kernel/store";
import { sizesInWords } from "./errors.ts";
import { groupPath } from "./group-path.ts";

/** What those who push are warned of when a quota is nearly used up; empty when it is not. */
export async function softWarning(tx: Database, row: Row<"quotas">, level: QuotaState): Promise<string> {
  if (level < QuotaState.WARNED || row.bytes === null) return "";
  const [limit, used] = sizesInWords(row.bytes, row.used_bytes, 0);
  return `quota of ${await groupPath(tx, row.uid)}: ${limit}, used ${used}`;
}
