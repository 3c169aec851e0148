import { sql } from "kysely";
import { type Condition, type Scope, unindexed, within } from "@moorage/kernel/aip/scope";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { librariesWithRecords, libraryKey, type RegistryName } from "@moorage/security/security";
import { libraryOf } from "../artifacts/purls.ts";
import { allEcosystems } from "../ecosystem/lookup.ts";

// The order in which a list of findings goes through libraries and their versions. Each step continues by an index.

export type WalkedArtifact = Pick<Row<"artifacts">, "uid" | "parent" | "ecosystem" | "name" | "normalized">;
export type WalkedVersion = Pick<Row<"artifact_versions">, "uid" | "version" | "sort_key">;

/** Artifacts of which a record says something. `last`: the last that was looked at, which may be none of them. */
interface ArtifactBatch {
  artifacts: WalkedArtifact[];
  last: string;
  looked: number;
}

const BATCH = 100;
const NAMES = 50;
const VERSIONS = 200;

/**
 * The artifacts of the scope from this uid on that are of these names, or all when they are undefined, by their uids.
 * `only`: further conditions on the table `t`.
 */
export async function* artifactsFrom(
  db: Database,
  scope: Scope,
  { from, names, only }: { from: string; names: readonly RegistryName[] | undefined; only: readonly Condition[] },
): AsyncGenerator<ArtifactBatch> {
  for (let after = from, isAt = true; ; isAt = false) {
    const rows =
      names === undefined
        ? await allFrom(db, scope, { after, isAt, only })
        : await namedFrom(db, scope, { after, isAt, only, names });
    const last = rows.at(-1);
    if (last === undefined) return;
    const keys = rows.map((row) => libraryKey(libraryOf(row)));
    const known = await librariesWithRecords(db, keys);
    yield { artifacts: rows.filter((_, at) => known.has(keys[at] ?? "")), last: last.uid, looked: rows.length };
    after = last.uid;
  }
}

interface Step {
  after: string;
  /** The one with the uid `after` is among them. */
  isAt: boolean;
  only: readonly Condition[];
}

const COLUMNS = sql`t.uid, t.parent, t.ecosystem, t.name, t.normalized`;

async function allFrom(db: Database, { roots, conditions }: Scope, { after, isAt, only }: Step) {
  const all = [sql`t.uid ${isAt ? sql`>=` : sql`>`} ${after}`, within(roots), ...conditions, ...only];
  const { rows } = await sql<WalkedArtifact>`select ${COLUMNS} from artifacts as t
    where ${sql.join(all, sql` and `)} order by t.uid limit ${BATCH}`.execute(db);
  return rows;
}

/** Of each name the next ones, by the index of names. */
async function namedFrom(
  db: Database,
  { roots, conditions }: Scope,
  { after, isAt, only, names }: Step & { names: readonly RegistryName[] },
) {
  const found: WalkedArtifact[] = [];
  const uid = unindexed(sql.ref("t.uid"));
  const numbers = new Map(allEcosystems().map(({ key, number }) => [key, number]));
  for (let at = 0; at < names.length; at += NAMES) {
    const some = names
      .slice(at, at + NAMES)
      .map(({ type, name }) => sql`t.ecosystem = ${numbers.get(type) ?? 0} and t.normalized = ${name}`);
    const all = [
      sql`(${sql.join(some, sql` or `)})`,
      sql`${uid} ${isAt ? sql`>=` : sql`>`} ${after}`,
      within(roots, uid),
      ...conditions,
      ...only,
    ];
    const { rows } = await sql<WalkedArtifact>`select ${COLUMNS} from artifacts as t
      where ${sql.join(all, sql` and `)} order by ${uid} limit ${BATCH}`.execute(db);
    found.push(...rows);
  }
  return found.sort((a, b) => (a.uid < b.uid ? -1 : 1)).slice(0, BATCH);
}

/** The versions of an artifact from the position of one on, in their order; `version`: that one alone. */
export async function* versionsFrom(
  db: Database,
  artifact: string,
  { sortKey, uid, version }: { sortKey: string; uid: string; version: string },
): AsyncGenerator<WalkedVersion[]> {
  const columns = "select uid, version, sort_key from artifact_versions where parent = ?";
  if (version !== "") {
    yield await select<WalkedVersion>(db, `${columns} and version = ? and (sort_key, uid) >= (?, ?)`, [
      artifact,
      version,
      sortKey,
      uid,
    ]);
    return;
  }
  for (let after = [sortKey, uid], beyond = ">="; ; beyond = ">") {
    const rows = await select<WalkedVersion>(
      db,
      `${columns} and (sort_key, uid) ${beyond} (?, ?) order by sort_key, uid limit ${VERSIONS}`,
      [artifact, ...after],
    );
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < VERSIONS) return;
    after = [last.sort_key, last.uid];
  }
}
