import { ReplicationDeletions } from "@moorage/api/messages";
import { compilePattern } from "@moorage/kernel/lib/patterns";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, select } from "@moorage/kernel/store";
import type { ReplicationDeps } from "./context.ts";
import { replicationCall } from "./context.ts";
import { endScan, type GoneTag, type MovedTag, queueGone, queueMoves, requeueAttached } from "./scan-commands.ts";

const PAGE = 1_000;
const BATCH = 200;
// Transactions may end later than others that began after them, by clocks that differ.
const OVERLAP_MS = 600_000;
const NOTHING = "no tag below the group matches the patterns, so that nothing is pushed";
/** Tags by which something is attached go with what it is attached to. */
const ATTACHED = /^sha(?:256|512)-[0-9a-f]{32,}/;

/** How a rule's tags are compared with what it pushed. */
export interface ScanOptions {
  /** All of them, not only those that moved lately. */
  isWhole: boolean;
  /** Whether to look for what was attached to images since they were pushed, and for tags that are gone. */
  withAttached: boolean;
}

/** Compares the tags of a rule with what it pushed, and queues what differs. */
export async function scanRule(
  deps: ReplicationDeps,
  rule: Row<"replications">,
  { isWhole, withAttached }: ScanOptions,
  signal: AbortSignal,
): Promise<void> {
  const { transactor } = deps;
  const startMs = deps.clock.nowMs();
  const sinceMs = isWhole ? 0 : Math.max(0, rule.seen_time - OVERLAP_MS);
  const pathOf = await transactor.read(replicationCall(deps), (call) => pathsBelow(call.tx, rule.parent));
  const isWanted = { repo: matcher(rule.repo_pattern), tag: matcher(rule.tag_pattern) };
  let matched = 0;
  for (let after: Found | undefined, isLast = false; !isLast;) {
    if (signal.aborted) return;
    const from = after;
    const rows = await transactor.read(replicationCall(deps), (call) => tagsBelow(call.tx, rule, sinceMs, from));
    const moved: MovedTag[] = [];
    for (const row of rows) {
      const repository = pathOf(row.repo, row.name);
      if (ATTACHED.test(row.tag) || !isWanted.repo(repository) || !isWanted.tag(row.tag)) continue;
      matched += 1;
      if (row.known !== repository)
        moved.push({ repository, repo: row.repo, tag: row.tag, digest: row.digest, moveTime: row.moved });
    }
    for (let at = 0; at < moved.length; at += BATCH)
      await transactor.write(queueMoves, replicationCall(deps), {
        replication: rule.uid,
        moved: moved.slice(at, at + BATCH),
      });
    isLast = rows.length < PAGE;
    after = rows.at(-1);
  }
  // What the destination keeps is only noted, for which there is time.
  const looksForGone = withAttached || rule.deletions === ReplicationDeletions.FOLLOW;
  const gone = looksForGone ? await transactor.read(replicationCall(deps), (call) => goneTags(call.tx, rule.uid)) : [];
  if (gone.length > 0) await transactor.write(queueGone, replicationCall(deps), { replication: rule.uid, gone });
  if (withAttached) await transactor.write(requeueAttached, replicationCall(deps), { replication: rule.uid });
  const problem = matched > 0 ? "" : isWhole ? NOTHING : rule.problem;
  if (isWhole || problem !== rule.problem || startMs - rule.seen_time > OVERLAP_MS / 2)
    await transactor.write(endScan, replicationCall(deps), { rule, startMs, problem, isWhole });
}

function matcher(pattern: string): (text: string) => boolean {
  if (pattern === "") return () => true;
  const compiled = compilePattern(pattern);
  return (text) => compiled.matches(text);
}

interface Found {
  repo: string;
  name: string;
  tag: string;
  digest: string;
  /** When it moved to it, in milliseconds since 1970. */
  moved: number;
  /** By which path of the repo its digest is an item already; null for none. */
  known: string | null;
}

const ALL_TAGS = "from tags as t join repos as r on r.uid = t.parent where t.parent > ? and t.parent < ?";
// By the index of each repo for when its tags moved: there may be far more tags than repos. The cross join has SQLite
// begin with the repos.
const MOVED_LATELY =
  "from repos as r cross join tags as t where r.uid > ? and r.uid < ? and t.parent = r.uid and t.update_time >= ?";

/** The tags below a rule's group that moved since then, a page of them. */
async function tagsBelow(
  tx: Database,
  { uid, parent }: Row<"replications">,
  sinceMs: number,
  after: Found | undefined,
): Promise<Found[]> {
  return await select<Found>(
    tx,
    `select t.parent as repo, r.name as name, t.name as tag, t.digest as digest, t.update_time as moved,
       (select max(i.repository) from replication_items as i
         where i.replication = ? and i.repo = t.parent and i.tag = t.name and i.digest = t.digest
           and i.move_time in (0, t.update_time)) as known
     ${sinceMs > 0 ? MOVED_LATELY : ALL_TAGS} and (t.parent, t.name) > (?, ?)
     order by t.parent, t.name limit ${PAGE}`,
    [uid, `${parent}/`, `${parent}0`, ...(sinceMs > 0 ? [sinceMs] : []), after?.repo ?? "", after?.tag ?? ""],
  );
}

/** Items of a rule whose tags are gone, as far as that is not noted. */
async function goneTags(tx: Database, replication: string): Promise<GoneTag[]> {
  return await select<GoneTag>(
    tx,
    `select i.repository, i.tag from replication_items as i where i.replication = ? and i.digest <> ''
       and not exists (select 1 from tags as t where t.parent = i.repo and t.name = i.tag)
     order by i.repository, i.tag limit ${PAGE}`,
    [replication],
  );
}

/** Returns the path of a repo below the group, by the current names. */
async function pathsBelow(tx: Database, group: string): Promise<(repo: string, name: string) => string> {
  const rows = await select<{ uid: string; name: string }>(
    tx,
    "select uid, name from groups where uid > ? and uid < ?",
    [`${group}/`, `${group}0`],
  );
  const names = new Map(rows.map(({ uid, name }) => [uid, name]));
  return (repo, name) => {
    const parts = [name];
    for (let at = parentOf(repo); at.length > group.length; at = parentOf(at)) parts.unshift(names.get(at) ?? "");
    return parts.join("/");
  };
}
