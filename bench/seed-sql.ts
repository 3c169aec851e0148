// The rows that a million pushes would have created, in SQL for both SQLite and PostgreSQL.
import { artifactStatements } from "./seed-artifacts.ts";
import { imageStatements } from "./seed-images.ts";

export interface SeedPlan {
  /** Uids of the organization with the repos, and of the small one next to it. */
  organization: string;
  small: string;
  repos: number;
  groups: number;
  /** Repos with so many tags each; the first tag of each has a history of as many records. */
  tagged: number[];
  /** Images in the repos, with packages and findings. */
  images?: number;
  /** Libraries, and versions of one of them. */
  artifacts?: number;
}

/** SQL expressions that differ between the engines. */
export interface SeedDialect {
  /** A table with one column `i`, from 0 to `count` - 1. */
  series(count: number): string;
  /** Random lower-case hexadecimal digits, a multiple of 16. */
  hex(digits: number): string;
  /** Seven digits with leading zeros. */
  pad(expression: string): string;
  /** Text as the value of a binary column. */
  bytes(expression: string): string;
}

export const SQLITE: SeedDialect = {
  series: (count) =>
    `(with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count}) select i from n)`,
  hex: (digits) => `lower(hex(randomblob(${digits / 2})))`,
  pad: (expression) => `printf('%07d', ${expression})`,
  bytes: (expression) => `cast(${expression} as blob)`,
};

export const POSTGRES: SeedDialect = {
  series: (count) => `(select i from generate_series(0, ${count - 1}) as g(i))`,
  hex: (digits) => Array.from({ length: digits / 16 }, () => "substr(md5(random()::text), 1, 16)").join(" || "),
  pad: (expression) => `lpad((${expression})::text, 7, '0')`,
  bytes: (expression) => `convert_to(${expression}, 'UTF8')`,
};

export const SMALL_REPOS = 100;
/** So many tags of a repo point to an existing manifest; more of them than any cache holds. */
export const MANIFESTS = 40_000;
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const EPOCH_MS = 1_760_000_000_000;
const SECOND_MS = 1_000;

export function repoName(index: number): string {
  return `image-${String(index).padStart(7, "0")}`;
}

export function taggedName(tags: number): string {
  return `tagged-${tags}`;
}

/** The name of a tag; index 0 is the tag with the long history. */
export function tagName(index: number): string {
  return `v-${String(index).padStart(7, "0")}`;
}

/** The time of a record of the history, in milliseconds since 1970. */
export function recordTimeMs(index: number): number {
  return EPOCH_MS + index * SECOND_MS;
}

/** The time at which the tag was set to its digest. */
export function tagUpdateTimeMs(index: number): number {
  return EPOCH_MS + index;
}

// Like the manifest of a small image; its blobs are not checked when it is pulled.
function manifestText(expression: string): string {
  const blob = (kind: string): string =>
    `{"mediaType":"application/vnd.oci.image.${kind}","digest":"sha256:${"0".repeat(64)}","size":4096}`;
  const content = `"config":${blob("config.v1+json")},"layers":[${blob("layer.v1.tar+gzip")}]`;
  return `'{"schemaVersion":2,"mediaType":"${MANIFEST_TYPE}",${content},"annotations":{"tag":"' || ${expression} || '"}}'`;
}

const REPO_COLUMNS =
  "(uid, parent, name, description, catalog_tier, bundles, readme, aliases, active_tags, sync_config, create_time, update_time)";

export function seedStatements(
  { organization, small, repos, groups, tagged, images, artifacts }: SeedPlan,
  dialect: SeedDialect,
): string[] {
  const { series, hex, pad, bytes } = dialect;
  const image = `'image-' || ${pad("s.i")}`;
  const each = Math.ceil(repos / groups);
  const times = `${EPOCH_MS} + s.i, ${EPOCH_MS} + s.i`;
  const repoValues = (name: string): string =>
    `${name}, 'An image of the benchmark', 0, '[]', '', '[]', '[]', null, ${times}`;
  const upsert = "on conflict (kind, ancestor) do update set n = counters.n + excluded.n";
  const inOrganization = `(parent = '${organization}' or parent in (select uid from bench_groups))`;
  return [
    `insert into groups (uid, parent, name, description, verified, kind, status, resource_limits, create_time, update_time)
      select '${organization}/' || ${hex(16)}, '${organization}', 'team-' || ${pad("s.i")}, '', 0, 0, 0, '{}', ${times} from ${series(groups)} as s`,
    `create temporary table bench_groups as select cast(substr(name, 6) as integer) as i, uid, name from groups where parent = '${organization}'`,
    `insert into ancestry (kind, ancestor, name, uid)
      select 'groups', '${organization}', name, uid from bench_groups union all select 'groups', uid, name, uid from bench_groups`,
    `insert into counters (kind, ancestor, n)
      select 'groups', uid, 1 from bench_groups union all select 'groups', '${organization}', ${groups} from bench_groups where i = 0 ${upsert}`,
    `insert into repos ${REPO_COLUMNS}
      select g.uid || '/' || ${hex(16)}, g.uid, ${repoValues(image)} from ${series(repos)} as s join bench_groups g on g.i = s.i / ${each}`,
    `insert into repos ${REPO_COLUMNS} select '${small}/' || ${hex(16)}, '${small}', ${repoValues(image)} from ${series(SMALL_REPOS)} as s`,
    ...tagged.map(
      (tags) => `insert into repos ${REPO_COLUMNS}
      select '${organization}/' || ${hex(16)}, '${organization}', ${repoValues(`'${taggedName(tags)}'`)} from ${series(1)} as s`,
    ),
    `insert into ancestry (kind, ancestor, name, uid) select 'repos', '${organization}', name, uid from repos where ${inOrganization} order by name, uid`,
    `insert into ancestry (kind, ancestor, name, uid)
      select 'repos', parent, name, uid from repos where parent <> '${organization}' order by parent, name, uid`,
    `insert into counters (kind, ancestor, n) select 'repos', '${organization}', count(*) from repos where ${inOrganization} ${upsert}`,
    `insert into counters (kind, ancestor, n) select 'repos', parent, count(*) from repos where parent <> '${organization}' group by parent ${upsert}`,
    ...tagged.flatMap((tags) => {
      const named = `from ${series(tags)} as s cross join (select uid from repos where parent = '${organization}' and name = '${taggedName(tags)}') as r`;
      return [
        `insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
          select r.uid || '/' || ${hex(16)}, r.uid, 'v-' || ${pad("s.i")}, 'sha256:' || ${hex(64)}, 0, '[]', ${times} ${named}`,
        // Each record has the digest of another tag, so that as many of them point to an existing manifest.
        `insert into tag_history (repo, tag, time, digest, actor, reason)
          select t.parent, '${tagName(0)}', ${EPOCH_MS} + cast(substr(t.name, 3) as bigint) * ${SECOND_MS}, t.digest, '{}', 'push'
            from tags as t where t.parent = (select uid from repos where parent = '${organization}' and name = '${taggedName(tags)}')`,
      ];
    }),
    `insert into manifests (repo, digest, media_type, content, size, subject, artifact_type, annotations, create_time)
      select m.parent, m.digest, '${MANIFEST_TYPE}', ${bytes("m.text")}, length(m.text), '', '', '{}', ${EPOCH_MS}
        from (select parent, digest, ${manifestText("uid")} as text from tags where name < '${tagName(MANIFESTS)}') as m`,
    ...(images === undefined ? [] : imageStatements(organization, images, manifestText, dialect)),
    ...(artifacts === undefined ? [] : artifactStatements({ organization, small }, artifacts, dialect)),
    `insert into counters (kind, ancestor, n) select 'tags', parent, count(*) from tags where true group by parent ${upsert}`,
    `insert into counters (kind, ancestor, n) select 'tags', '${organization}', count(*) from tags where true ${upsert}`,
    `drop table bench_groups`,
  ];
}
