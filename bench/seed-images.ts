// Images with what they hold, records of a feed and findings, in SQL for both SQLite and PostgreSQL: what pushes, the
// reading of images, an import and matching would have written.
import { READERS_VERSION } from "../packages/security/src/security/catalog/readers-version.ts";
import type { SeedDialect } from "./seed-sql.ts";

/** Every so many images is one of MANY_PACKAGES packages; the others have FEW_PACKAGES. */
export const EACH_MANY = 50;
export const MANY_PACKAGES = 200;
const FEW_PACKAGES = 6;
/** Packages that many images have: two of each image are versions of these. */
export const COMMON = 20;
const VERSIONS = 10;
/** The records say that this version fixes the package; the versions before it, from 0 on, are affected. */
export const FIXED = 5;
/** The feed, and the format of its records. */
export const FEED = "bench";

const IMAGES_PER_REPO = 100;
const IMAGES_PER_NAME = 5;
const EPOCH_MS = 1_760_000_000_000;
const MODIFIED = "2026-01-01T00:00:00Z";
const DETAILS = 1_024;
// Large primes: the packages of an image differ, and so do those of two images.
const [STEP, OFFSET] = [7_919, 104_729];

export function imageRepos(images: number): number {
  return Math.ceil(images / IMAGES_PER_REPO);
}

/** How many packages have a name of their own, and a record of the feed. */
export function recordsOf(images: number): number {
  return Math.ceil(images / IMAGES_PER_NAME);
}

/** How many places there are in which an image has a package. */
export function componentsOf(images: number): number {
  const many = Math.ceil(images / EACH_MANY);
  return many * MANY_PACKAGES + (images - many) * FEW_PACKAGES;
}

/** The id of a record, which is about the package of that number. */
export function recordId(n: number): string {
  return recordIdOf(String(n).padStart(7, "0"));
}

const recordIdOf = (padded: string): string => `BENCH-${padded}`;

export function cveOf(n: number | string): string {
  return `CVE-2026-${n}`;
}

/** A record of OSV as JSON. */
export function recordText({
  n,
  padded,
  details,
  fixed,
}: {
  n: number | string;
  padded: string;
  details: string;
  fixed: number;
}): string {
  return JSON.stringify({
    schema_version: "1.7.0",
    id: recordIdOf(padded),
    modified: MODIFIED,
    aliases: [cveOf(n)],
    details,
    severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
    affected: [
      {
        package: { ecosystem: "npm", name: `package-${n}` },
        ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: `${fixed}.0.0` }] }],
      },
    ],
  });
}

/**
 * Images in the repos of the organization, each with a tag of its own. `contentOf`: the expression of a manifest's
 * text, of the expression of a text that makes it unique.
 */
export function imageStatements(
  organization: string,
  images: number,
  contentOf: (expression: string) => string,
  { series, hex, pad, bytes }: SeedDialect,
): string[] {
  const names = recordsOf(images);
  const common = COMMON * VERSIONS;
  const others = names * VERSIONS - common;
  const repos = imageRepos(images);
  const image = "cast(m.i as bigint)";
  const packageAt = `case s.i when 0 then m.i % ${common} when 1 then (${image} * 3 + ${common / 2}) % ${common}
    else ${common} + (${image} * ${OFFSET} + s.i * ${STEP}) % ${others} end`;
  const record = (n: string): string => `'${recordIdOf("' || ")}${pad(n)}`;
  const body = recordText({
    n: "' || s.i || '",
    padded: `' || ${pad("s.i")} || '`,
    details: `' || ${hex(DETAILS)} || '`,
    fixed: FIXED,
  });
  const held = (
    count: number,
    which: string,
  ): string => `insert into image_packages (digest, source, n, package, layer, path, reader)
      select m.digest, 'layers', s.i, p.id, m.digest, 'app/node_modules/' || p.name || '/package.json', 'npm'
        from bench_images as m cross join ${series(count)} as s join bench_packages as p on p.i = ${packageAt} where ${which}`;
  const key = (kind: string, expression: string): string =>
    `insert into feed_keys (kind, key, feed, record) select '${kind}', ${expression}, '${FEED}', ${record("s.i")} from ${series(names)} as s`;
  return [
    // Digests are in the order of their numbers, so that rows go in in the order of keys.
    `create temporary table bench_digests as select 'sha256:' || ${hex(64)} as digest from ${series(images)} as s`,
    `create temporary table bench_images (i integer primary key, digest text, repo text)`,
    `create temporary table bench_repos (i integer primary key, uid text)`,
    `create temporary table bench_packages (i integer primary key, id text, name text, version text)`,
    `insert into bench_repos select row_number() over (order by uid) - 1, uid from repos where uid like '${organization}/%'`,
    `insert into bench_images select d.i, d.digest, r.uid
       from (select row_number() over (order by digest) - 1 as i, digest from bench_digests) as d
       join bench_repos as r on r.i = d.i % ${repos}`,
    `insert into bench_packages select s.i, ${hex(32)}, 'package-' || (s.i / ${VERSIONS}), (s.i % ${VERSIONS}) || '.0.0' from ${series(names * VERSIONS)} as s`,
    `insert into manifests (repo, digest, media_type, content, size, subject, artifact_type, annotations, create_time)
      select m.repo, m.digest, 'application/vnd.oci.image.manifest.v1+json', ${bytes(contentOf("m.digest"))}, length(${contentOf("m.digest")}), '',
        'application/vnd.oci.image.config.v1+json', '{}', ${EPOCH_MS} from bench_images as m`,
    `insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
      select m.repo || '/' || ${hex(16)}, m.repo, 'v-' || ${pad(`m.i / ${repos}`)}, m.digest, 0, '[]', ${EPOCH_MS}, ${EPOCH_MS} from bench_images as m`,
    // As the readers of this program leave them: those of earlier ones would be read again beside what is measured.
    `insert into image_catalogs (digest, state, backlog, attempts, reason, holder, hold_until, os_id, os_version, os_name, unread, create_time, finish_time, readers)
      select m.digest, 2, 0, 1, '', '', 0, '', '', '', '[]', ${EPOCH_MS}, ${EPOCH_MS}, ${READERS_VERSION} from bench_images as m`,
    `insert into packages (id, ecosystem, source_name, source_version, purl, name, version, licence, matched)
      select p.id, 'npm', p.name, p.version, 'pkg:npm/' || p.name || '@' || p.version, p.name, p.version, 'MIT', ${EPOCH_MS} from bench_packages as p`,
    `insert into package_keys (key, package, version) select 'npm/' || p.name, p.id, p.version from bench_packages as p`,
    held(FEW_PACKAGES, `m.i % ${EACH_MANY} <> 0`),
    held(MANY_PACKAGES, `m.i % ${EACH_MANY} = 0`),
    `insert into feeds (name, format, address, licence, interval_ms, products, origin, run, etag, last_modified, newest, records, withdrawn, problems, error, create_time, success_time)
      values ('${FEED}', 'osv', '', 'CC0-1.0', 0, '[]', 'command', '', '', '', ${EPOCH_MS}, ${names}, 0, 0, '', ${EPOCH_MS}, ${EPOCH_MS})`,
    `insert into feed_records (feed, id, modified, withdrawn, removed, hash, severity, score_tenths, body, change)
      select '${FEED}', ${record("s.i")}, ${EPOCH_MS}, null, 0, ${hex(64)}, 'CRITICAL', 98, '${body}', s.i + 1 from ${series(names)} as s`,
    key("id", `'${recordIdOf("' || ").toLowerCase()}${pad("s.i")}`),
    key("alias", `'${cveOf("' || s.i").toLowerCase()}`),
    key("package", `'npm/package-' || s.i`),
    `insert into feed_changes (name, value) values ('records', ${names})`,
    `insert into matching (name, value, position) values ('changes', ${names}, '')`,
    `insert into package_findings (package, feed, record, change, modified, opened, since, closed, reason_opened, reason_closed, state, fixed, last_affected)
      select p.id, '${FEED}', ${record(`(p.i / ${VERSIONS})`)}, p.i / ${VERSIONS} + 1, ${EPOCH_MS}, ${EPOCH_MS}, ${EPOCH_MS}, null, 'PACKAGE', '', 'FIXED', '["${FIXED}.0.0"]', '[]'
        from bench_packages as p where p.i % ${VERSIONS} < ${FIXED}`,
    `drop table bench_digests`,
    `drop table bench_images`,
    `drop table bench_repos`,
    `drop table bench_packages`,
  ];
}
