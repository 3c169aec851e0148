import { sql } from "kysely";
import { within } from "@moorage/kernel/aip/scope";
import type { Database } from "@moorage/kernel/store";
import { dayOf } from "@moorage/kernel/lib/days";

/** A manifest of a repo that was pulled, and how often. */
interface PulledImage {
  repo: string;
  digest: string;
  count: number;
}

/** So many sums of a day, tag and identity are read. */
const MAX_ROWS = 20_000;

/**
 * The manifests that were pulled in the groups since the time, in milliseconds since 1970, the most pulled first. The
 * counts are those of the days of UTC in which it was. `isCutOff`: there may be more.
 */
export async function pulledImages(
  db: Database,
  groups: readonly string[],
  sinceMs: number,
): Promise<{ images: PulledImage[]; isCutOff: boolean }> {
  const { rows } = await sql<{ repo: string; digest: string; count: number }>`
    select t.repo, t.digest, t.count from pull_days as t
    where t.day >= ${dayOf(sinceMs)} and t.digest <> '' and t.count > 0 and t.last_time >= ${sinceMs}
      and ${within([...groups], sql`t.repo`)}
    limit ${MAX_ROWS + 1}`.execute(db);
  const images = new Map<string, PulledImage>();
  for (const { repo, digest, count } of rows.slice(0, MAX_ROWS)) {
    const key = `${repo} ${digest}`;
    images.set(key, { repo, digest, count: (images.get(key)?.count ?? 0) + Number(count) });
  }
  const mostFirst = [...images.values()].sort((a, b) => b.count - a.count || (a.digest < b.digest ? -1 : 1));
  return { images: mostFirst, isCutOff: rows.length > MAX_ROWS };
}
