import { removeFaulty, type RowCheck } from "@moorage/kernel/core/row-check";
import { putCacheLimit } from "./cache-limit.ts";
import { countAnew, countStep } from "./count-step.ts";
import { isCounted, usedOf, wholeLevel } from "./levels.ts";
import { COUNTED } from "./positions.ts";

const CONTENT = `select l.repo as place, l.digest, b.size from repo_blobs as l join blobs as b on b.digest = l.digest
  union all select repo, digest, size from manifests union all select artifact, digest, size from artifact_files`;
// What there really is of each content below the group of each quota that is counted.
const REAL = `with real as (select q.uid as quota, x.digest, max(x.size) as size, count(*) as n from quotas as q
  join (${CONTENT}) as x on x.place >= q.uid || '/' and x.place < q.uid || '0'
  where q.counted_to = '${COUNTED}' group by q.uid, x.digest)`;

/** The checks of what quotas count: after those of all areas that have the content. */
export const QUOTA_CHECKS: readonly RowCheck[] = [
  {
    kind: "quota-without-group",
    meaning: "a quota belongs to a group that is gone",
    find: "select q.uid from quotas as q where not exists (select 1 from groups as g where g.uid = q.uid)",
    show: ["uid"],
    repair: removeFaulty("quotas", ["uid"]),
  },
  {
    kind: "quota-content-without-quota",
    meaning: "content is counted for a quota that is gone",
    find: "select distinct r.quota from quota_refs as r where not exists (select 1 from quotas as q where q.uid = r.quota)",
    show: ["quota"],
    repair: removeFaulty("quota_refs", ["quota"]),
  },
  {
    kind: "quota-shares-without-quota",
    meaning: "parts of what a quota counts were measured, and the quota is gone",
    find: "select s.quota from quota_shares as s where not exists (select 1 from quotas as q where q.uid = s.quota)",
    show: ["quota"],
    repair: removeFaulty("quota_shares", ["quota"]),
  },
  {
    kind: "quota-cache-limit",
    meaning: "how much a group keeps of another registry is not what its upstream says",
    find: `select q.uid from quotas as q left join registry_upstreams as u on u.parent = q.uid
        where coalesce(q.cache_bytes, 0) <> coalesce(u.max_bytes, 0) or (q.is_set = 0 and q.cache_bytes is null)
      union select u.parent from registry_upstreams as u
        where u.max_bytes > 0 and not exists (select 1 from quotas as q where q.uid = u.parent)`,
    show: ["uid"],
    async repair(tx, { uid }) {
      const upstream = await tx
        .selectFrom("registry_upstreams")
        .select(["max_bytes", "update_time"])
        .where("parent", "=", String(uid))
        .executeTakeFirst();
      await putCacheLimit({ tx, nowMs: upstream?.update_time ?? 0 }, String(uid), Number(upstream?.max_bytes ?? 0));
    },
  },
  {
    kind: "quota-miscounted",
    meaning: "a quota counts other content than its group has: `differences` is how much of it",
    find: `${REAL} select d.quota, sum(d.n) as differences from (
      select r.quota, count(*) as n from real as r left join quota_refs as c on c.quota = r.quota and c.digest = r.digest
        where c.n is null or c.n <> r.n or c.size <> r.size group by r.quota
      union all select c.quota, count(*) from quota_refs as c join quotas as q on q.uid = c.quota and q.counted_to = '${COUNTED}'
        left join real as r on r.quota = c.quota and r.digest = c.digest where r.n is null group by c.quota
      union all select q.uid, 1 from quotas as q
        where q.used_bytes <> (select coalesce(sum(c.size), 0) from quota_refs as c where c.quota = q.uid)
    ) as d group by d.quota`,
    show: ["quota", "differences"],
    async repair(tx, { quota: uid }) {
      await countAnew(tx, String(uid));
      const find = tx.selectFrom("quotas").selectAll().where("uid", "=", String(uid));
      let row = await find.executeTakeFirstOrThrow();
      while (!isCounted(row)) row = await countStep(tx, row);
      const state = wholeLevel(row, await usedOf(tx, row));
      await tx.updateTable("quotas").set({ state }).where("uid", "=", row.uid).execute();
    },
  },
];
