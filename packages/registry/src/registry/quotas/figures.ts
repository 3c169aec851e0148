import { type Database, type Row, select } from "@moorage/kernel/store";
import { type Limited, usedOfEach } from "./levels.ts";
import { COUNTED } from "./positions.ts";

/** What is used of one limit of a quota. */
export interface QuotaFigure {
  /** The group's uid. */
  group: string;
  what: Limited;
  used: number;
  limit: number;
}

/** At most so many quotas have time series of their own: those of whose bytes the least share is left. */
const MAX_FIGURED = 50;

type Figured = Pick<Row<"quotas">, "uid" | "bytes" | "repos" | "tags" | "libraries" | "used_bytes" | "counted_to">;

/** What is used of the limits of the fullest quotas. Bytes that are still being counted are left out. */
export async function quotaFigures(db: Database): Promise<QuotaFigure[]> {
  const quotas = await select<Figured>(
    db,
    `select q.uid, q.bytes, q.repos, q.tags, q.libraries, q.used_bytes, q.counted_to from quotas as q
      order by case when q.counted_to <> '${COUNTED}' or q.bytes is null then -1 when q.bytes = 0 then 1 else q.used_bytes * 1.0 / q.bytes end desc, q.uid
      limit ?`,
    [MAX_FIGURED],
  );
  const used = await usedOfEach(db, quotas);
  return quotas.flatMap((quota, at) =>
    (["bytes", "repos", "tags", "libraries"] as const).flatMap((what): QuotaFigure[] => {
      const [value, most] = [used[at]?.[what], quota[what]];
      return value === undefined || most === null ? [] : [{ group: quota.uid, what, used: value, limit: Number(most) }];
    }),
  );
}
