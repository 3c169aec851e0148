import { parentOf } from "@moorage/kernel/lib/uid";
import type { GatedImage } from "@moorage/registry/registry";
import { type Database, type Statement, statement } from "@moorage/kernel/store";

interface StateRow {
  waiting: number;
  [column: string]: number | string | null;
}

const MAX_INDEXES = 20;

// Everything by which findings of an image change, and what is known of it: records of feeds, how far they are compared
// with packages, what feeds state, the reading of the image and whether the repo holds it, what is attached to it or to
// an index that names it, and advisories of the groups above it. Each part is found by an index.
const textOf = (groups: number): string => `select
  (select count(*) from (select 1 from packages where matched is null limit 1) as w) as waiting,
  (select max(value) from feed_changes) as changes,
  (select count(*) || ' ' || count(success_time) from feeds) as feeds,
  (select max(value) from matching where name = 'changes') as compared,
  (select max(position) from matching where name = 'changes') as position,
  (select max(value) from matching where name = 'statements') as statements,
  (select max(finish_time) from image_catalogs where digest = ?) as reading,
  (select count(*) from manifests where repo = ? and digest = ?) as held,
  (select count(*) || ' ' || count(a.until_time) || ' ' || coalesce(max(a.from_time), 0) || ' ' || coalesce(max(a.until_time), 0)
     || ' ' || count(r.finish_time) || ' ' || coalesce(max(r.finish_time), 0)
   from attachments as a left join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest
   where a.repo = ? and a.subject in (select ? union select x.digest from (
     select m.digest from manifest_references as m where m.repo = ? and m.target = ? order by m.digest limit ${MAX_INDEXES}) as x)) as attached
  ${Array.from({ length: groups }, (_, n) => `, (select max(update_time) from advisories where parent = ?) as advisories${n}`).join("")}`;

const statements: Statement<StateRow>[] = [];

/**
 * A text that differs when the findings of an image in a repo may have changed since. One statement. Undefined while
 * packages wait to be compared, since that alone may change them.
 */
export async function findingsState(tx: Database, { repo, digest }: GatedImage): Promise<string | undefined> {
  const groups: string[] = [];
  for (let group = parentOf(repo); group !== ""; group = parentOf(group)) groups.push(group);
  const select = (statements[groups.length] ??= statement<StateRow>(textOf(groups.length)));
  const [row] = await select(tx, digest, repo, digest, repo, digest, repo, digest, ...groups);
  if (row === undefined || Number(row.waiting) > 0) return undefined;
  return Object.values(row).join("\n");
}
