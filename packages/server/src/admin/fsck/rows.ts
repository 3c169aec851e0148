import { ask } from "../tables.ts";
import { remove, type RowCheck } from "./row-check.ts";
import { LIBRARY_ROW_CHECKS } from "./library-rows.ts";
import { SECURITY_ROW_CHECKS } from "./security-rows.ts";

const REPO_TABLES: readonly { table: string; column: string; key: readonly string[] }[] = [
  { table: "tags", column: "parent", key: ["uid"] },
  { table: "manifests", column: "repo", key: ["repo", "digest"] },
  { table: "manifest_references", column: "repo", key: ["repo", "digest", "target"] },
  { table: "repo_blobs", column: "repo", key: ["repo", "digest"] },
  { table: "uploads", column: "repo", key: ["uid"] },
  { table: "tag_history", column: "repo", key: ["repo", "tag", "time"] },
];

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

// What tags lead to: the manifests that they point to, and what those name, in any nesting.
const REACHED = `with recursive reached (repo, digest) as (
  select parent, digest from tags
  union select r.repo, r.target from reached join manifest_references as r on r.repo = reached.repo and r.digest = reached.digest where r.kind = 'manifest'
)`;
const ABSENT = `select m.repo, m.digest, m.target from manifest_references as m
  where m.kind = 'manifest' and not exists (select 1 from manifests as x where x.repo = m.repo and x.digest = m.target)`;
const IS_SPARSE = `exists (select 1 from repos as r where r.uid = m.repo and r.tag_policy like '%"allowSparse":true%')`;

const below = (table: string): string =>
  `exists (select 1 from ${table} as x where x.uid = a.uid and x.name = a.name and substr(x.uid, 1, length(a.ancestor) + 1) = a.ancestor || '/')`;

/** In the order in which they are repaired, so that later checks also find what the repairs of earlier ones cause. */
export const ROW_CHECKS: readonly RowCheck[] = [
  {
    kind: "repo-blob-without-blob",
    meaning: "a repo holds a blob that the installation does not have; without the row its next push brings it back",
    find: "select r.repo, r.digest from repo_blobs as r where not exists (select 1 from blobs as b where b.digest = r.digest)",
    show: ["repo", "digest"],
    repair: remove("repo_blobs", ["repo", "digest"]),
  },
  ...REPO_TABLES.map(({ table, column, key }): RowCheck => ({
    kind: `${table.replaceAll("_", "-")}-without-repo`,
    meaning: `a row of ${table} belongs to a repo that is gone`,
    find: `select ${key.map((name) => `t.${name}`).join(", ")} from ${table} as t where not exists (select 1 from repos as r where r.uid = t.${column})`,
    show: key,
    repair: remove(table, key),
  })),
  {
    kind: "reference-without-manifest",
    meaning: "what a manifest refers to is noted, and the manifest is gone",
    find: "select m.repo, m.digest, m.target from manifest_references as m where not exists (select 1 from manifests as x where x.repo = m.repo and x.digest = m.digest)",
    show: ["repo", "digest", "target"],
    repair: remove("manifest_references", ["repo", "digest", "target"]),
  },
  {
    kind: "manifest-without-blob",
    meaning: "a manifest refers to a blob that its repo does not hold: push the image again",
    find: "select m.repo, m.digest, m.target from manifest_references as m where m.kind = 'blob' and not exists (select 1 from repo_blobs as x where x.repo = m.repo and x.digest = m.target)",
    show: ["repo", "digest", "target"],
  },
  {
    kind: "index-without-manifest",
    meaning: "a tag leads to an index whose manifest its repo does not hold: push the image again",
    find: `${REACHED} ${ABSENT} and exists (select 1 from reached as t where t.repo = m.repo and t.digest = m.digest) and not ${IS_SPARSE}`,
    show: ["repo", "digest", "target"],
  },
  {
    kind: "sparse-index",
    notice: true,
    meaning:
      "an index refers to a manifest that its repo does not hold, which its repo's policy allows, or no tag leads to the index",
    find: `${REACHED} ${ABSENT} and (${IS_SPARSE} or not exists (select 1 from reached as t where t.repo = m.repo and t.digest = m.digest))`,
    show: ["repo", "digest", "target"],
  },
  {
    kind: "role-binding-dangling",
    meaning: "a role binding names an identity, a role or a group that is gone",
    find: `select b.uid, b.identity_uid, b.role_uid from role_bindings as b where not exists (select 1 from identities as i where i.uid = b.identity_uid)
      or not exists (select 1 from roles as r where r.uid = b.role_uid) or not exists (select 1 from groups as g where g.uid = b.parent)`,
    show: ["uid", "identity_uid", "role_uid"],
    repair: remove("role_bindings", ["uid"]),
  },
  {
    kind: "refresh-token-without-identity",
    meaning: "a refresh token stands for an identity that is gone",
    find: "select t.hash, t.identity from refresh_tokens as t where not exists (select 1 from identities as i where i.uid = t.identity)",
    show: ["identity"],
    repair: remove("refresh_tokens", ["hash"]),
  },
  {
    kind: "invite-dangling",
    meaning: "an invite gives a role or is for a group that is gone",
    find: `select i.uid, i.role_uid from group_invites as i where not exists (select 1 from roles as r where r.uid = i.role_uid)
      or not exists (select 1 from groups as g where g.uid = i.parent)`,
    show: ["uid", "role_uid"],
    repair: remove("group_invites", ["uid"]),
  },
  {
    kind: "external-group-role-mapping-dangling",
    meaning: "a mapping belongs to a provider, gives a role or is for a group that is gone",
    find: `select m.uid, m.role_uid, m.scope from external_group_role_mappings as m where not exists (select 1 from identity_providers as p where p.uid = m.parent)
      or not exists (select 1 from roles as r where r.uid = m.role_uid) or not exists (select 1 from groups as g where g.uid = m.scope)`,
    show: ["uid", "role_uid", "scope"],
    repair: remove("external_group_role_mappings", ["uid"]),
  },
  {
    kind: "default-role-dangling",
    meaning: "a provider's default role is gone",
    find: "select p.uid, p.default_role from identity_providers as p where p.default_role <> '' and not exists (select 1 from roles as r where r.uid = p.default_role)",
    show: ["uid", "default_role"],
    async repair(tx, { uid }) {
      await ask(tx, "update identity_providers set default_role = '' where uid = ?", [uid]);
    },
  },
  {
    kind: "invite-acceptance-without-invite",
    meaning: "somebody accepted an invite that is gone",
    find: "select a.invite, a.identity from invite_acceptances as a where not exists (select 1 from group_invites as i where i.uid = a.invite)",
    show: ["invite", "identity"],
    repair: remove("invite_acceptances", ["invite", "identity"]),
  },
  {
    kind: "terms-acceptance-without-group",
    meaning: "a document is accepted for a group that is gone",
    find: "select t.uid, t.doc_id from terms_acceptances as t where not exists (select 1 from groups as g where g.uid = t.parent)",
    show: ["uid", "doc_id"],
    repair: remove("terms_acceptances", ["uid"]),
  },
  {
    kind: "account-association-without-group",
    meaning: "accounts belong to a group that is gone",
    find: "select a.uid from account_associations as a where not exists (select 1 from groups as g where g.uid = a.uid)",
    show: ["uid"],
    repair: remove("account_associations", ["uid"]),
  },
  {
    kind: "resource-without-parent",
    meaning:
      "a group, a repo, an identity, a role, an identity provider, an advisory or a library is below a group that is gone: delete it, or restore the group from a backup",
    find: ["groups", "repos", "identities", "roles", "identity_providers", "advisories", "artifacts"]
      .map(
        (table) =>
          `select '${table}' as kind, x.uid as uid from ${table} as x where x.parent <> '' and not exists (select 1 from groups as g where g.uid = x.parent)`,
      )
      .join(" union all "),
    show: ["kind", "uid"],
  },
  ...SECURITY_ROW_CHECKS,
  ...LIBRARY_ROW_CHECKS,
  {
    kind: "ancestry-stale",
    meaning: "lists by group would show what is not there, or under another name",
    find: `select a.kind, a.ancestor, a.name, a.uid from ancestry as a where not (
      (a.kind = 'groups' and (exists (select 1 from groups as x where x.uid = a.uid and x.name = a.name and x.uid = a.ancestor) or ${below("groups")}))
      or (a.kind = 'identities' and ${below("identities")}) or (a.kind = 'repos' and ${below("repos")})
      or exists (select 1 from artifacts as x where a.kind = 'artifacts-' || x.ecosystem and x.uid = a.uid and x.name = a.name and substr(x.uid, 1, length(a.ancestor) + 1) = a.ancestor || '/'))`,
    show: ["kind", "ancestor", "name", "uid"],
    repair: remove("ancestry", ["kind", "ancestor", "name", "uid"]),
  },
  {
    kind: "ancestry-missing",
    meaning: "lists by group would not show what is there",
    find: `${DESCENT} select distinct e.kind, e.ancestor, e.name, e.uid from below as e
      where not exists (select 1 from ancestry as a where a.kind = e.kind and a.ancestor = e.ancestor and a.name = e.name and a.uid = e.uid)`,
    show: ["kind", "ancestor", "name", "uid"],
    async repair(tx, { kind, ancestor, name, uid }) {
      await ask(tx, "insert into ancestry (kind, ancestor, name, uid) values (?, ?, ?, ?) on conflict do nothing", [
        kind,
        ancestor,
        name,
        uid,
      ]);
    },
  },
  {
    kind: "counter-wrong",
    meaning: "the total of a list differs from what is there",
    find: `${REAL_COUNTS} select r.kind as kind, r.ancestor as ancestor, coalesce(c.n, 0) as n, r.n as really from real as r left join counters as c on c.kind = r.kind and c.ancestor = r.ancestor
      where c.n is null or c.n <> r.n
      union all select c.kind, c.ancestor, c.n, 0 from counters as c left join real as r on r.kind = c.kind and r.ancestor = c.ancestor where r.n is null and c.n <> 0`,
    show: ["kind", "ancestor", "n", "really"],
    async repair(tx, { kind, ancestor, really }) {
      await ask(
        tx,
        "insert into counters (kind, ancestor, n) values (?, ?, ?) on conflict (kind, ancestor) do update set n = excluded.n",
        [kind, ancestor, really],
      );
    },
  },
];
