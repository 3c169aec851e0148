import { removeFaulty, type RowCheck, withoutParent } from "@moorage/kernel/core/row-check";

/** What is noted of repos that came from registries, by table. */
const NOTES = {
  upstream_tags: ["repo", "tag"],
  upstream_sightings: ["repo", "tag", "digest"],
  upstream_digests: ["repo", "digest", "parent"],
};

/** The checks of upstreams. */
export const UPSTREAM_CHECKS: readonly RowCheck[] = [
  withoutParent("registry_upstreams"),
  {
    kind: "upstream-repo-without-repo",
    meaning: "a repo that is gone is noted as one of another registry, or a repo as one of an upstream that is gone",
    find: `select o.repo from upstream_repos as o where not exists (select 1 from repos as r where r.uid = o.repo)
      or not exists (select 1 from registry_upstreams as u where u.uid = o.upstream)`,
    show: ["repo"],
    repair: removeFaulty("upstream_repos", ["repo"]),
  },
  {
    kind: "upstream-follow-without-follow",
    meaning: "an upstream is to be copied that is gone, or that follows nothing",
    find: `select f.upstream from upstream_follows as f where not exists (
      select 1 from registry_upstreams as u where u.uid = f.upstream and u.follow is not null)`,
    show: ["upstream"],
    repair: removeFaulty("upstream_follows", ["upstream"]),
  },
  {
    kind: "center-pull-without-follow",
    meaning: "what a pull token may pull is noted for an upstream that is gone",
    find: `select c.upstream, c.secret, c.name from center_pulls as c where not exists (
      select 1 from registry_upstreams as u where u.uid = c.upstream)`,
    show: ["upstream", "name"],
    repair: removeFaulty("center_pulls", ["upstream", "secret", "name"]),
  },
  ...Object.entries(NOTES).map(([table, key]): RowCheck => {
    return {
      kind: `${table.replace("_", "-")}-without-repo`,
      meaning: "it is noted when something of another registry was seen, in a repo that did not come from there",
      find: `select ${key.map((each) => `n.${each}`).join(", ")} from ${table} as n
        where not exists (select 1 from upstream_repos as o where o.repo = n.repo)`,
      show: key,
      repair: removeFaulty(table, key),
    };
  }),
];
