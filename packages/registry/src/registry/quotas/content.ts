import type { Call } from "@moorage/kernel/core/call";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { type RawBuilder, sql } from "kysely";
import { noteFall, noteRise } from "./crossings.ts";
import { isCacheNearlyFull } from "./cache-limit.ts";
import { cacheFull, quotaExceeded } from "./errors.ts";
import { isCounted, levelOf } from "./levels.ts";
import { COUNTED, type ContentKind, positionOf } from "./positions.ts";
import { softWarning } from "./warning.ts";

type QuotaRow = Row<"quotas">;

/** Content that a repo or an artifact has from now on, which it did not have before. `place`: its uid. */
export interface NewContent {
  kind: ContentKind;
  place: string;
  digest: string;
  /** In bytes. */
  size: number;
}

const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");
const CHUNK = 500;

/**
 * How many quotas there are above a repo or an artifact, as an expression for the `returning` of a statement that
 * writes: without one, a push asks nothing more than that. Its parameters are `ancestorsOf(place)`.
 */
export function quotasAbove(place: string): { text: string; parameters: string[] } {
  const parameters = ancestorsOf(place);
  return { text: `(select count(*) from quotas where uid in (${marks(parameters)}))`, parameters };
}

/** The same for the query builder. */
export function countOfQuotasAbove(place: string): RawBuilder<number> {
  return sql`(select count(*) from quotas where uid in (${sql.join(ancestorsOf(place))}))`;
}

/**
 * Counts new content in all quotas above it: each content once a quota. Answers a warning where one of them is nearly
 * used up, empty otherwise. Throws FAILED_PRECONDITION (QUOTA_EXCEEDED) when it does not fit; the transaction must be
 * rolled back then.
 */
export async function addContent(call: Call, { kind, place, digest, size }: NewContent): Promise<string> {
  const { tx } = call;
  const above = ancestorsOf(place);
  const counted = await select<{ quota: string; n: number }>(
    tx,
    `insert into quota_refs (quota, digest, size, n)
      select q.uid, ?, cast(? as bigint), 1 from quotas as q where q.uid in (${marks(above)}) and q.counted_to >= ?
      on conflict (quota, digest) do update set n = quota_refs.n + 1 returning quota, n`,
    [digest, size, ...above, positionOf(kind, place, digest)],
  );
  const grown = counted.filter(({ n }) => Number(n) === 1).map(({ quota }) => quota);
  if (grown.length === 0) return "";
  const rows = await select<QuotaRow>(
    tx,
    `update quotas set used_bytes = used_bytes + ? where uid in (${marks(grown)})
      and (counted_to < '${COUNTED}' or ((bytes is null or used_bytes + ? <= bytes) and ${FITS_CACHE})) returning *`,
    [size, ...grown, size, size, place],
  );
  if (rows.length < grown.length) throw await excessOf(tx, grown, rows, size);
  let warning = "";
  for (const row of rows.filter(isCounted)) {
    if (isCacheNearlyFull(row)) call.wake("evictions");
    const level = levelOf(row.used_bytes, row.bytes, row.soft_percent);
    await noteRise(call, row, level);
    warning ||= await softWarning(tx, row, level);
  }
  return warning;
}

// What a group has of its own is not limited by how much is kept of another registry.
const FITS_CACHE = `(cache_bytes is null or used_bytes + ? <= cache_bytes
  or not exists (select 1 from upstream_repos as o where o.repo = ?))`;

/** The error for the innermost quota that was not among those that the content fits into. */
async function excessOf(
  tx: Database,
  asked: readonly string[],
  fits: readonly QuotaRow[],
  needed: number,
): Promise<Error> {
  const quota =
    asked
      .filter((uid) => !fits.some((row) => row.uid === uid))
      .toSorted()
      .at(-1) ?? "";
  const row = await tx.selectFrom("quotas").selectAll().where("uid", "=", quota).executeTakeFirstOrThrow();
  const { bytes, cache_bytes: cache, used_bytes: used } = row;
  if (cache !== null && (bytes === null || used + needed <= bytes))
    return await cacheFull(tx, { quota, limit: cache, used, needed });
  return await quotaExceeded(tx, { quota, what: "bytes", limit: bytes ?? 0, used, needed });
}

/**
 * Counts content no longer that a repo or an artifact had until now. A digest that it had several times, as several
 * files, is there as often.
 */
export async function removeContent(
  tx: Database,
  kind: ContentKind,
  place: string,
  digests: readonly string[],
): Promise<void> {
  if (digests.length === 0) return;
  for (const quota of await quotasOf(tx, place)) {
    const counted = digests.filter((digest) => positionOf(kind, place, digest) <= quota.counted_to);
    for (const [times, some] of byTimes(counted))
      for (let at = 0; at < some.length; at += CHUNK) {
        const chunk = some.slice(at, at + CHUNK);
        const which = `quota = ? and digest in (${marks(chunk)})`;
        await select(tx, `update quota_refs set n = n - ? where ${which}`, [times, quota.uid, ...chunk]);
        await shrink(tx, quota.uid, which, [quota.uid, ...chunk]);
      }
  }
}

/** Counts all blobs and manifests of a repo no longer, before their rows are deleted. */
export async function removeRepoContent(tx: Database, repo: string): Promise<void> {
  for (const quota of await quotasOf(tx, repo))
    for (const [kind, table] of [
      ["blob", "repo_blobs"],
      ["manifest", "manifests"],
    ] as const) {
      const { isAny, until } = countedPart(kind, repo, quota.counted_to);
      if (!isAny) continue;
      const which = `quota = ? and digest in (select digest from ${table} where repo = ? and digest <= ?)`;
      await select(tx, `update quota_refs set n = n - 1 where ${which}`, [quota.uid, repo, until]);
      await shrink(tx, quota.uid, which, [quota.uid, repo, until]);
    }
}

/** Whether any content of the repo is counted, and up to which digest. */
function countedPart(kind: ContentKind, repo: string, countedTo: string): { isAny: boolean; until: string } {
  const start = positionOf(kind, repo, "");
  if (countedTo < start) return { isAny: false, until: "" };
  return { isAny: true, until: countedTo.startsWith(start) ? countedTo.slice(start.length) : "~" };
}

/** Removes what is counted no longer of some references. */
async function shrink(tx: Database, quota: string, which: string, parameters: readonly string[]): Promise<void> {
  const [gone] = await select<{ bytes: number }>(
    tx,
    `select coalesce(sum(size), 0) as bytes from quota_refs where n <= 0 and ${which}`,
    parameters,
  );
  await select(tx, `delete from quota_refs where n <= 0 and ${which}`, parameters);
  const bytes = Number(gone?.bytes ?? 0);
  if (bytes === 0) return;
  const [row] = await select<QuotaRow>(tx, "update quotas set used_bytes = used_bytes - ? where uid = ? returning *", [
    bytes,
    quota,
  ]);
  if (row !== undefined) await noteFall(tx, row);
}

async function quotasOf(tx: Database, place: string): Promise<QuotaRow[]> {
  const above = ancestorsOf(place);
  return await select<QuotaRow>(tx, `select * from quotas where uid in (${marks(above)})`, above);
}

function byTimes(digests: readonly string[]): Map<number, string[]> {
  const times = new Map<string, number>();
  for (const digest of digests) times.set(digest, (times.get(digest) ?? 0) + 1);
  return Map.groupBy(times.keys(), (digest) => times.get(digest) ?? 1);
}
