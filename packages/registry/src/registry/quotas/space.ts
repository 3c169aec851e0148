import type { Call } from "@moorage/kernel/core/call";
import type { MoorageError } from "@moorage/kernel/errors";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Row, select } from "@moorage/kernel/store";
import { quotaExceeded } from "./errors.ts";
import { COUNTED } from "./positions.ts";

/** The quota above a repo of which the fewest bytes are left. */
export interface SpaceLeft {
  quota: string;
  limit: number;
  used: number;
}

/**
 * What is left of the quotas above a repo, by the path of its uid: for those who begin to send content, so that they
 * hear of it before they have sent it. What comes in is decided when the content is linked. Undefined where bytes are
 * not limited, and for content that all quotas count already.
 */
export async function spaceLeft(
  { tx }: Pick<Call, "tx">,
  place: string,
  digest: string | null,
): Promise<SpaceLeft | undefined> {
  const above = ancestorsOf(place);
  const [row] = await select<Pick<Row<"quotas">, "uid" | "used_bytes"> & { bytes: number }>(
    tx,
    `select q.uid, q.bytes, q.used_bytes from quotas as q where q.uid in (${above.map(() => "?").join(", ")})
      and q.bytes is not null and q.counted_to = '${COUNTED}'
      and not exists (select 1 from quota_refs as r where r.quota = q.uid and r.digest = ?)
      order by q.bytes - q.used_bytes limit 1`,
    [...above, digest ?? ""],
  );
  return row && { quota: row.uid, limit: row.bytes, used: row.used_bytes };
}

/** FAILED_PRECONDITION (QUOTA_EXCEEDED) when so many bytes are more than is left; undefined when they are not. */
export async function lackOfSpace(
  { tx }: Pick<Call, "tx">,
  left: SpaceLeft | undefined,
  bytes: number,
): Promise<MoorageError | undefined> {
  if (left === undefined || left.used + bytes <= left.limit) return undefined;
  return await quotaExceeded(tx, { ...left, what: "bytes", needed: bytes });
}
