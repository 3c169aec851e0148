import type { FaultyRow, RowCheck } from "@moorage/kernel/core/row-check";
import { removeDescent, repairCount, repairDescent } from "@moorage/kernel/store";
import { AREAS } from "../../areas.ts";

// The ancestors of every resource, from the parents of the groups; a group counts as its own ancestor.
const DESCENT = `with recursive below (kind, uid, name, ancestor) as (
  select 'groups', uid, name, uid from groups
  union all select 'groups', uid, name, parent from groups where parent <> ''
  union all select 'identities', uid, name, parent from identities where parent <> ''
  union all select 'repos', uid, name, parent from repos where parent <> ''
  union all select 'artifacts-' || ecosystem, uid, name, parent from artifacts where parent <> ''
  union all select below.kind, below.uid, below.name, g.parent from below join groups as g on g.uid = below.ancestor where g.parent <> '' and below.uid <> below.ancestor
)`;

const REAL_COUNTS = `with real (kind, ancestor, n) as (
  select kind, ancestor, count(*) from ancestry group by kind, ancestor
  union all select 'tags', parent, count(*) from tags group by parent
  union all select 'tags', a.ancestor, count(*) from ancestry as a join tags as t on t.parent = a.uid where a.kind = 'repos' group by a.ancestor
)`;

const below = (table: string): string =>
  `exists (select 1 from ${table} as x where x.uid = a.uid and x.name = a.name and substr(x.uid, 1, length(a.ancestor) + 1) = a.ancestor || '/')`;

const descentOf = ({ kind, ancestor, name, uid }: FaultyRow) => ({
  kind: String(kind),
  ancestor: String(ancestor),
  name: String(name),
  uid: String(uid),
});

/** The checks of all areas, and then whether the lists and their totals show what is there. */
export const ROW_CHECKS: readonly RowCheck[] = [
  ...AREAS.flatMap(({ checks = [] }) => checks),
  {
    kind: "ancestry-stale",
    meaning: "lists by group would show what is not there, or under another name",
    find: `select a.kind, a.ancestor, a.name, a.uid from ancestry as a where not (
      (a.kind = 'groups' and (exists (select 1 from groups as x where x.uid = a.uid and x.name = a.name and x.uid = a.ancestor) or ${below("groups")}))
      or (a.kind = 'identities' and ${below("identities")}) or (a.kind = 'repos' and ${below("repos")})
      or exists (select 1 from artifacts as x where a.kind = 'artifacts-' || x.ecosystem and x.uid = a.uid and x.name = a.name and substr(x.uid, 1, length(a.ancestor) + 1) = a.ancestor || '/'))`,
    show: ["kind", "ancestor", "name", "uid"],
    repair: (tx, row) => removeDescent(tx, descentOf(row)),
  },
  {
    kind: "ancestry-missing",
    meaning: "lists by group would not show what is there",
    find: `${DESCENT} select distinct e.kind, e.ancestor, e.name, e.uid from below as e
      where not exists (select 1 from ancestry as a where a.kind = e.kind and a.ancestor = e.ancestor and a.name = e.name and a.uid = e.uid)`,
    show: ["kind", "ancestor", "name", "uid"],
    repair: (tx, row) => repairDescent(tx, descentOf(row)),
  },
  {
    kind: "counter-wrong",
    meaning: "the total of a list differs from what is there",
    find: `${REAL_COUNTS} select r.kind as kind, r.ancestor as ancestor, coalesce(c.n, 0) as n, r.n as really from real as r left join counters as c on c.kind = r.kind and c.ancestor = r.ancestor
      where c.n is null or c.n <> r.n
      union all select c.kind, c.ancestor, c.n, 0 from counters as c left join real as r on r.kind = c.kind and r.ancestor = c.ancestor where r.n is null and c.n <> 0`,
    show: ["kind", "ancestor", "n", "really"],
    repair: (tx, { kind, ancestor, really }) =>
      repairCount(tx, { kind: String(kind), ancestor: String(ancestor), n: Number(really) }),
  },
];
