import { notFound } from "@moorage/kernel/errors";
import { type Database, select, statement } from "@moorage/kernel/store";

export const DAY_MS = 86_400_000;

/** The beginning of the day in UTC, in milliseconds since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** Days in UTC, the last one included, each by its beginning in milliseconds since 1970. */
export interface Days {
  firstMs: number;
  lastMs: number;
}

/** A tag of a repo. */
export interface TagName {
  repo: string;
  tag: string;
}

/** What a tag pointed to, by its history. */
export interface TagDays extends TagName {
  /** The digest that it had at the end of each day, by the day. Days on which it had none are left out. */
  digests: Map<number, string>;
  /** The digests that it had before the first day, the last one first; without times at which it had none. */
  before: string[];
}

/** So many digests from before the first day are looked at for one of which it is known what it holds. */
const MAX_BEFORE = 20;

const selectBefore = statement<{ digest: string }>(
  `select digest from tag_history where repo = ? and tag = ? and time < ? order by time desc limit ${MAX_BEFORE}`,
  ["text", "text", "bigint"],
);
const selectAny = statement("select time from tag_history where repo = ? and tag = ? limit 1", ["text", "text"]);

/** The digests of the tag on these days. Throws NOT_FOUND for a tag that never was. */
export async function tagDays(db: Database, { repo, tag }: TagName, { firstMs, lastMs }: Days): Promise<TagDays> {
  const rows = await select<{ time: number; digest: string }>(
    db,
    // A tag may have moved any number of times in a day.
    `select h.time, h.digest from tag_history as h join
       (select max(time) as time from tag_history where repo = ? and tag = ? and time >= ? and time < ? group by time / ${DAY_MS}) as l
       on l.time = h.time where h.repo = ? and h.tag = ? order by h.time`,
    [repo, tag, firstMs, lastMs + DAY_MS, repo, tag],
  );
  const earlier = await selectBefore(db, repo, tag, firstMs);
  if (rows.length === 0 && earlier.length === 0 && (await selectAny(db, repo, tag)).length === 0)
    throw notFound("moorage.registry.v2.Tag", tag);
  const moves = new Map(rows.map(({ time, digest }) => [dayOf(Number(time)), digest]));
  const digests = new Map<number, string>();
  let current = earlier[0]?.digest ?? "";
  for (let day = firstMs; day <= lastMs; day += DAY_MS) {
    // A record without a digest says that the tag was deleted.
    current = moves.get(day) ?? current;
    if (current !== "") digests.set(day, current);
  }
  return { repo, tag, digests, before: earlier.map(({ digest }) => digest).filter((digest) => digest !== "") };
}
