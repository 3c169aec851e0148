// Libraries and their versions, in SQL for both SQLite and PostgreSQL: what as many publishes would have written.
import type { SeedDialect } from "./seed-sql.ts";

export const FEW_ARTIFACTS = 100;
const EPOCH_MS = 1_760_000_000_000;
/** The ecosystem of npm. Source: proto/moorage/libraries, Ecosystem. */
const JAVASCRIPT = 3;

export function artifactName(index: number): string {
  return `lib-${String(index).padStart(7, "0")}`;
}

/** The library with so many versions, in either organization. */
export function versionedName(versions: number): string {
  return `versioned-${versions}`;
}

/** A version by its number. */
export function artifactVersion(index: number): string {
  return `1.0.${index}`;
}

/**
 * `artifacts` libraries of npm in the organization with a version each, a hundred in the small one, and in each one
 * that has as many versions as there are libraries.
 */
export function artifactStatements(
  { organization, small }: { organization: string; small: string },
  artifacts: number,
  { series, hex, pad }: SeedDialect,
): string[] {
  return [
    ...[
      { group: organization, count: artifacts },
      { group: small, count: FEW_ARTIFACTS },
    ].flatMap(({ group, count }) => placed(group, count, { series, hex, pad })),
    `insert into counters (kind, ancestor, n)
      select 'artifacts-${JAVASCRIPT}', parent, count(*) from artifacts where true group by parent
      on conflict (kind, ancestor) do update set n = counters.n + excluded.n`,
  ];
}

function placed(
  group: string,
  count: number,
  { series, hex, pad }: Pick<SeedDialect, "series" | "hex" | "pad">,
): string[] {
  const named = (name: string, versions: string, from: string): string =>
    `insert into artifacts (uid, parent, ecosystem, name, normalized, description, latest_version, version_count, size_bytes, revision, state, create_time, update_time)
      select '${group}/' || ${hex(16)}, '${group}', ${JAVASCRIPT}, ${name}, ${name}, 'A library of the benchmark', '1.0.0', ${versions}, 0, 1,
        '{"tags":{"latest":"1.0.0"}}', ${EPOCH_MS} + s.i, ${EPOCH_MS} + s.i from ${from} as s`;
  const version = (number: string, sortKey: string): string =>
    `a.uid || '/' || ${hex(16)}, a.uid, ${number}, ${sortKey}, '', 0, 1, '', null, null, '{"name":"' || a.name || '","version":"' || ${number} || '","license":"MIT"}', '', ${EPOCH_MS}, ${EPOCH_MS}, ${EPOCH_MS}`;
  const columns =
    "(uid, parent, version, sort_key, description, size_bytes, origin, cuda, yanked, deprecated, metadata, publisher, publish_time, create_time, update_time)";
  const number = `'1.0.' || s.i`;
  return [
    named(`'lib-' || ${pad("s.i")}`, "1", series(count)),
    named(`'${versionedName(count)}'`, String(count), series(1)),
    `insert into ancestry (kind, ancestor, name, uid)
      select 'artifacts-${JAVASCRIPT}', '${group}', name, uid from artifacts where parent = '${group}' order by name, uid`,
    // The name, and its end from the second word on.
    `insert into artifact_words (organization, ecosystem, word, artifact)
      select '${group}', ${JAVASCRIPT}, name, uid from artifacts where parent = '${group}' order by name`,
    `insert into artifact_words (organization, ecosystem, word, artifact)
      select '${group}', ${JAVASCRIPT}, substr(name, 5), uid from artifacts where parent = '${group}' and name like 'lib-%' order by name`,
    `insert into artifact_versions ${columns} select ${version("'1.0.0'", "'vbab~'")}
      from artifacts as a where a.parent = '${group}' and a.name like 'lib-%'`,
    // Keys in the order of the numbers.
    `insert into artifact_versions ${columns} select ${version(number, `'v' || ${pad("s.i")}`)}
      from ${series(count)} as s cross join artifacts as a
      where a.parent = '${group}' and a.ecosystem = ${JAVASCRIPT} and a.normalized = '${versionedName(count)}'`,
  ];
}
