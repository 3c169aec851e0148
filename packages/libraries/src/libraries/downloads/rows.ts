import { sql } from "kysely";
import { within } from "@moorage/kernel/aip/scope";
import type { Database } from "@moorage/kernel/store";
import { allEcosystems, ecosystemOf } from "../ecosystem/lookup.ts";

/** A library or version with its downloads. */
export interface DownloadRow {
  item: string;
  artifact: string;
  name: string;
  /** Empty for a library. */
  version: string;
  ecosystem: number;
  count: number | string;
  /** When the last one was, in milliseconds since 1970. */
  time: number | string;
}

/** Of which libraries or versions, and from which day on, in days since 1970. */
export interface DownloadsAsked {
  /** The uids of groups or libraries, at and below which they are. */
  roots: readonly string[];
  /** The library whose versions they are; empty for libraries. */
  artifact: string;
  /** Only these; undefined for all. */
  uids: readonly string[] | undefined;
  fromDay: number;
}

// So many files are read to see whether one of them counts.
const MAX_FILES = 10_000;

/** The first of them after the uid that were ever downloaded, as far as that is known, in the order of their uids. */
export async function downloadRows(
  db: Database,
  { roots, artifact, uids, fromDay }: DownloadsAsked,
  after: string,
  limit: number,
): Promise<DownloadRow[]> {
  if (uids?.length === 0) return [];
  const isVersion = artifact !== "";
  const { rows } = await sql<DownloadRow>`
    select t.item, a.uid as artifact, a.name, a.ecosystem, t.time, ${isVersion ? sql`v.version` : sql`''`} as version,
      (select coalesce(sum(d.count), 0) from download_days as d where d.item = t.item and d.day >= ${fromDay}) as count
    from last_downloads as t
    ${isVersion ? sql`join artifact_versions as v on v.uid = t.item join artifacts as a on a.uid = v.parent` : sql`join artifacts as a on a.uid = t.item`}
    where t.artifact = ${artifact} and t.item > ${after} and ${within([...roots], sql`t.item`)}
      and ${uids === undefined ? sql`1 = 1` : sql`t.item in (${sql.join([...uids])})`}
    order by t.item limit ${limit}`.execute(db);
  return rows;
}

/** Those of the uids that are there: libraries, or versions of the library. */
export async function existingOf(db: Database, artifact: string, uids: readonly string[]): Promise<Set<string>> {
  if (uids.length === 0) return new Set();
  const rows =
    artifact === ""
      ? await db
          .selectFrom("artifacts")
          .select("uid")
          .where("uid", "in", [...uids])
          .execute()
      : await db
          .selectFrom("artifact_versions")
          .select("uid")
          .where("uid", "in", [...uids])
          .where("parent", "=", artifact)
          .execute();
  return new Set(rows.map(({ uid }) => uid));
}

/**
 * Those of the libraries, or versions of the library, that were never downloaded as far as is known, but of which it is
 * not known whether their files count: what an ecosystem notes about a file when it comes was not noted yet.
 */
export async function uncountedOf(db: Database, artifact: string, uids: readonly string[]): Promise<string[]> {
  const unsureEcosystems = allEcosystems().filter(({ downloads }) => downloads?.isUnsure !== undefined);
  if (uids.length === 0 || unsureEcosystems.length === 0) return [];
  const item = artifact === "" ? sql.ref("f.artifact") : sql.ref("f.version");
  const { rows } = await sql<{ item: string; name: string; metadata: string; ecosystem: number }>`
    select ${item} as item, f.name, f.metadata, a.ecosystem from artifact_files as f join artifacts as a on a.uid = f.artifact
    where ${item} in (${sql.join([...uids])}) and ${artifact === "" ? sql`1 = 1` : sql`f.artifact = ${artifact}`}
      and not exists (select 1 from last_downloads as t where t.item = ${item})
      and a.ecosystem in (${sql.join(unsureEcosystems.map(({ number }) => number))})
    order by 1, 2 limit ${MAX_FILES + 1}`.execute(db);
  const isCutOff = rows.length > MAX_FILES;
  const unsure = new Set<string>();
  const counted = new Set<string>();
  for (const { item: uid, ecosystem, ...file } of rows) {
    const { downloads } = ecosystemOf(ecosystem);
    if (downloads?.isUnsure?.(file) === true) unsure.add(uid);
    else if (downloads?.counts(file) !== false) counted.add(uid);
  }
  // Of the last one not all files are read, and of those that follow none.
  const last = rows.at(-1)?.item;
  if (isCutOff && last !== undefined) for (const uid of uids) if (uid >= last) unsure.add(uid);
  return uids.filter((uid) => unsure.has(uid) && !counted.has(uid));
}
