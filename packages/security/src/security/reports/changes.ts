import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";
import { imagesBehind } from "../images/images.ts";
import { marks } from "../marks.ts";

/** When what feeds decide about images and packages changed, in milliseconds since 1970. */
export async function feedChanges(tx: Database): Promise<number[]> {
  const rows = await select<{ a: number | null }>(
    tx,
    `select s.from_time as a from feed_statements as s group by s.from_time
     union select s.until_time as a from feed_statements as s group by s.until_time`,
    [],
  );
  return rows.flatMap(({ a }) => (a === null ? [] : [Number(a)]));
}

/**
 * When what is known of the vulnerabilities of an image of a repo, or of the images of an index, may have changed, in
 * milliseconds since 1970: its packages were compared with records, documents were attached or taken away, an advisory
 * decided. Some of these times may be those of changes that say nothing about it. For what feeds decide see
 * feedChanges.
 */
export async function changesOf(tx: Database, repo: string, digest: string): Promise<number[]> {
  const digests = await imagesBehind(tx, repo, digest);
  const found = new Set<number>();
  const add = async (times: string, values: readonly (string | number)[]): Promise<void> => {
    for (const { a, b } of await select<{ a: number | null; b: number | null }>(tx, times, values)) {
      if (a !== null) found.add(Number(a));
      if (b !== null) found.add(Number(b));
    }
  };
  for (const one of digests)
    await add(
      `select distinct f.opened as a, f.closed as b from package_findings as f
       where f.package in (select i.package from image_packages as i where i.digest = ?)`,
      [one],
    );
  const groups = ancestorsOf(repo);
  await add(
    `select distinct d.from_time as a, d.until_time as b from advisory_decisions as d where d.advisory in (
       select i.advisory from advisory_decision_ids as i where i.parent in (${marks(groups)}))`,
    groups,
  );
  // What is attached to an index is about its images.
  const subjects = `select m.digest from manifest_references as m where m.repo = ? and m.target in (${marks(digests)})`;
  const about = [repo, ...digests];
  await add(
    `select a.from_time as a, a.until_time as b from attachments as a
     where a.repo = ? and (a.subject in (${marks(digests)}) or a.subject in (${subjects}))`,
    [repo, ...digests, ...about],
  );
  await add(
    `select r.finish_time as a, r.finish_time as b from attached_readings as r
     where r.subject in (${marks(digests)}) or r.subject in (${subjects})`,
    [...digests, ...about],
  );
  return [...found].sort((a, b) => a - b);
}
