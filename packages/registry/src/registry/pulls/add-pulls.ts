import { type Database, statement } from "@moorage/kernel/store";
import { NONE } from "./parts.ts";

// One statement for all sums of a part, and for all last pulls: one for each would be most of what a pull costs.

const MINUTE_MS = 60_000;
// Not of repos that are gone, nor by identities whose pulls are not counted.
const IS_COUNTED = `exists (select 1 from repos as r where r.uid = j.value ->> 'repo')
    and not exists (select 1 from identities as i where i.uid = j.value ->> 'identity' and i.uncounted = 1)`;

// Two processes that write the same rows do it in one order, so that they wait for each other and do not lock each
// other.
const insertSums = statement(
  `insert into pull_days (repo, day, digest, tag, identity, count, bytes, first_time, last_time)
  select j.value ->> 'repo', cast(j.value ->> 'day' as bigint), j.value ->> 'digest', j.value ->> 'tag', j.value ->> 'identity',
    cast(j.value ->> 'count' as bigint), cast(j.value ->> 'bytes' as bigint), cast(j.value ->> 'firstMs' as bigint), cast(j.value ->> 'lastMs' as bigint)
  from json_each(?) as j where ${IS_COUNTED} order by 1, 2, 3, 4, 5
  on conflict (repo, day, digest, tag, identity) do update set
    count = pull_days.count + excluded.count,
    bytes = pull_days.bytes + excluded.bytes,
    first_time = case when excluded.first_time < pull_days.first_time then excluded.first_time else pull_days.first_time end,
    last_time = case when excluded.last_time > pull_days.last_time then excluded.last_time else pull_days.last_time end`,
);
const PULLED = `select j.value ->> 'repo' as repo, j.value ->> 'tag' as tag, j.value ->> 'digest' as digest,
    j.value ->> 'identity' as identity, cast(j.value ->> 'timeMs' as bigint) as time
  from json_each(?) as j where ${IS_COUNTED}`;
const putLast = statement(
  `insert into last_pulls (repo, digest, time, identity)
  select repo, digest, time, identity from
    (select p.*, row_number() over (partition by repo, digest order by time desc, identity) as at from (${PULLED}) as p) as latest
  where at = 1 order by 1, 2
  on conflict (repo, digest) do update set
    identity = case when excluded.time > last_pulls.time then excluded.identity else last_pulls.identity end,
    time = case when excluded.time > last_pulls.time then excluded.time else last_pulls.time end`,
);
const DUE = `coalesce(t.last_pull_time, 0) < p.time - ${MINUTE_MS}`;
// The tags that were asked for, those of the digests, and those of the indexes that these are in. "cross join" has
// SQLite begin with what was pulled.
const selectTags = statement<{ uid: string; time: number }>(
  `with pulled as materialized (${PULLED})
  select uid, max(time) as time from (
    select t.uid, p.time from pulled as p cross join tags as t where p.tag <> '' and t.parent = p.repo and t.name = p.tag and ${DUE}
    union all
    select t.uid, p.time from pulled as p cross join tags as t where t.parent = p.repo and t.digest = p.digest and ${DUE}
    union all
    select t.uid, p.time from pulled as p cross join manifest_references as r cross join tags as t
      where r.repo = p.repo and r.target = p.digest and r.kind = 'manifest' and t.parent = r.repo and t.digest = r.digest and ${DUE}
  ) as due group by uid order by uid`,
);
const setPullTimes = statement(
  "update tags set last_pull_time = cast(cast(j.value as text) as bigint) from json_each(?) as j where uid = j.key",
);

/** Adds sums of pulls, as `CountedPart` has them. */
export async function addPulls(tx: Database, pulls: string): Promise<void> {
  if (pulls !== NONE) await insertSums(tx, pulls);
}

/** Notes last pulls, as `CountedPart` has them. Tags have theirs exact to a minute. */
export async function setLastPulls(tx: Database, last: string): Promise<void> {
  if (last === NONE) return;
  await putLast(tx, last);
  const tags = await selectTags(tx, last);
  if (tags.length > 0)
    await setPullTimes(tx, JSON.stringify(Object.fromEntries(tags.map(({ uid, time }) => [uid, Number(time)]))));
}
