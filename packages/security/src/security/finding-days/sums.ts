import { setImmediate } from "node:timers/promises";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";
import { unknownImagesIn } from "../coverage/scope-summary.ts";
import { marks } from "../marks.ts";
import { SEVERITIES, type SeverityCounts } from "../records/severities.ts";

/** The names of the columns with the counts. */
export const SEVERITY_COLUMNS = SEVERITIES.map((severity) => severity.toLowerCase()) as (keyof SeverityCounts)[];

/** What is open in a group with all below it. */
export interface GroupCounts extends SeverityCounts {
  /** Images that tags point to, and whose findings are not known, or not all of them. */
  unknown_images: number;
}

/** What is open everywhere: groups without an entry have nothing. */
export interface Counts {
  groups: Map<string, GroupCounts>;
  /** Whether there may be more images whose findings are not known. */
  isAtLeast: boolean;
}

// Repos whose images are summed up in one statement.
const REPOS = 200;
const NOTHING: GroupCounts = {
  unknown: 0,
  none: 0,
  negligible: 0,
  low: 0,
  medium: 0,
  high: 0,
  critical: 0,
  unknown_images: 0,
};

/**
 * Counts the open findings of the images that tags point to, by group: by the counts that are kept of each image, a few
 * repos at a time, so that requests get their turn. `signal` ends it between two steps, and it rejects then.
 */
export async function countOpen(db: Database, signal: AbortSignal): Promise<Counts> {
  const groups = new Map<string, GroupCounts>();
  const add = (repo: string, counts: Partial<GroupCounts>): void => {
    for (const group of ancestorsOf(repo)) {
      const known = groups.get(group) ?? { ...NOTHING };
      groups.set(group, known);
      for (const name of [...SEVERITY_COLUMNS, "unknown_images"] as const) known[name] += Number(counts[name] ?? 0);
    }
  };
  // Before the findings: an image that is compared meanwhile counts as unknown still.
  const organizations = await select<{ uid: string }>(db, "select uid from groups where parent = ''", []);
  const { names, isAtLeast } = await unknownImagesIn(db, {
    roots: organizations.map(({ uid }) => uid),
    conditions: [],
  });
  for (const name of names) add(name.slice(0, name.indexOf(" ")), { unknown_images: 1 });
  for (let after: string | undefined = ""; after !== undefined;) {
    signal.throwIfAborted();
    const repos: { uid: string }[] = await select<{ uid: string }>(
      db,
      `select uid from repos where uid > ? order by uid limit ${REPOS}`,
      [after],
    );
    const uids = repos.map(({ uid }) => uid);
    for (const { repo, ...counts } of await openOf(db, uids)) add(repo, counts);
    after = repos.length < REPOS ? undefined : uids.at(-1);
    await setImmediate();
  }
  return { groups, isAtLeast };
}

/** What is open in the images of each repo that tags point to, directly or through an index. */
async function openOf(db: Database, repos: readonly string[]): Promise<(SeverityCounts & { repo: string })[]> {
  if (repos.length === 0) return [];
  const sums = SEVERITY_COLUMNS.map((name) => `sum(n.${name}) as ${name}`).join(", ");
  return await select<SeverityCounts & { repo: string }>(
    db,
    `select n.repo, ${sums} from finding_notices as n where n.repo in (${marks(repos)}) and (
       exists (select 1 from tags as t where t.parent = n.repo and t.digest = n.digest)
       or exists (select 1 from manifest_references as r join tags as t on t.parent = r.repo and t.digest = r.digest
         where r.repo = n.repo and r.target = n.digest and r.kind = 'manifest'))
     group by n.repo`,
    [...repos],
  );
}
