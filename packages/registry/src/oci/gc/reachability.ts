import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import { type Database, select } from "@moorage/kernel/store";
import { RUNNING_FOR_MS } from "../../registry/index.ts";

/** The rules by which content of a repo is needed. Times in milliseconds since 1970. */
export interface RepoRules {
  /** The repo's uid. */
  repo: string;
  /** Content that was touched, or lost its last reason to stay, after this time is in its grace. */
  graceCutMs: number;
  /**
   * History holds what a tag pointed to at some time after this. Undefined when it holds all that a tag ever pointed
   * to.
   */
  historyCutMs: number | undefined;
  /**
   * What came here or was pulled after this is needed, by digest as well. Undefined where pulls do not matter, as in
   * most repos.
   */
  pulledCutMs?: number | undefined;
  /** Whether history holds nothing, as in a repo that is a cache of another registry's and has to give up space. */
  ignoresHistory?: boolean;
}

/**
 * A manifest, or the link of a blob to the repo. `held`: whether it is held by itself (by a tag, by history or by its
 * grace) rather than by another manifest.
 */
export interface Held {
  digest: string;
  held: boolean;
}

// The number of digests in one statement: below every engine's limit of parameters, and few, since SQLite blocks the
// thread while it answers.
const CHUNK = 200;
// The most connected manifests that are examined, counted by their connections. All of a larger set are retained;
// normal use does not create one.
const MAX_VISITED = 100_000;
// Stands for the end of a period that has not ended.
const NEVER_MS = Number.MAX_SAFE_INTEGER;

// Both engines evaluate a subquery with a limit row by row, through its index. The cheap ones come first, so that the
// others are skipped.
const IS_TAGGED = "(select 1 from tags as t where t.parent = m.repo and t.digest = m.digest limit 1) is not null";
const WAS_TAGGED = "(select 1 from tag_history as h where h.repo = m.repo and h.digest = m.digest limit 1) is not null";

// What was said to run counts as pulled for some time after that.
const PULLED_LATELY = `(select 1 from last_pulls as p where p.repo = m.repo and p.digest = m.digest and p.time > ? limit 1) is not null
  or (select 1 from running_images as r where r.repo = m.repo and r.digest = m.digest and r.time > ? limit 1) is not null`;

/** A column of the first record of tag `h.tag` after a time. */
const next = (column: string, time: string, where = ""): string =>
  `(select n.${column} from tag_history as n where n.repo = m.repo and n.tag = h.tag and n.time > ${time}${where} order by n.time limit 1)`;

// For each tag that pointed to the manifest: when it last came to do so (`time`), when that ended (`ended`), when
// another digest replaced it (`replaced`), and which (`other`). Since `replaced` the manifest is the target of a
// rollback, until a third digest replaces `other`. The deletion of the tag ends that period as well, and a push of
// `other` to the tag resumes it.
const LAST =
  "select r.tag, max(r.time) as time from tag_history as r where r.repo = m.repo and r.digest = m.digest group by r.tag";
const OTHER = " and n.digest <> '' and n.digest <> m.digest";
const PERIODS = `select h.tag, ${next("time", "h.time")} as ended, ${next("time", "h.time", OTHER)} as replaced, ${next("digest", "h.time", OTHER)} as other from (${LAST}) as h`;
const LAST_STATE = `(select case when n.digest = '' then n.time else ${NEVER_MS} end from tag_history as n where n.repo = m.repo and n.tag = h.tag order by n.time desc limit 1)`;
const TAGGED_LATELY = `(select 1 from (${PERIODS}) as h where coalesce(h.ended, ${NEVER_MS}) > ?
  or (h.replaced is not null and coalesce(${next("time", "h.replaced", " and n.digest <> '' and n.digest <> h.other")}, ${LAST_STATE}) > ?) limit 1) is not null`;

/** The column that says whether a manifest `m` is held by a tag, by history or by its grace. */
function heldColumn({ graceCutMs, historyCutMs, pulledCutMs, ignoresHistory = false }: RepoRules): {
  text: string;
  parameters: number[];
} {
  const isWhole = historyCutMs === undefined;
  const history = ignoresHistory ? "" : `when ${isWhole ? WAS_TAGGED : TAGGED_LATELY} then 1`;
  const cuts = ignoresHistory || isWhole ? [] : [Math.min(historyCutMs, graceCutMs), graceCutMs];
  // Tags come first: their index answers without a read of the manifest's row, which is stored behind its content.
  const [pulled, since] =
    pulledCutMs === undefined
      ? ["", []]
      : [`when ${PULLED_LATELY} then 1`, [pulledCutMs, pulledCutMs - RUNNING_FOR_MS]];
  return {
    text: `case when ${IS_TAGGED} then 1 when m.touch_time > ? then 1 ${pulled} ${history} else 0 end as held`,
    parameters: [Math.min(graceCutMs, pulledCutMs ?? graceCutMs), ...since, ...cuts],
  };
}

/** A page of the repo's manifests after a digest, in the order of digests. */
export async function manifestsAfter(tx: Database, rules: RepoRules, after: string, limit: number): Promise<Held[]> {
  const { text, parameters } = heldColumn(rules);
  const page = `select m.digest, ${text} from manifests as m where m.repo = ? and m.digest > ? order by m.digest limit ?`;
  return held(await select(tx, page, [...parameters, rules.repo, after, limit]));
}

async function manifestsOf(
  tx: Database,
  rules: RepoRules,
  digests: readonly string[],
): Promise<(Held & { subject: string })[]> {
  const { text, parameters } = heldColumn(rules);
  const these = `select m.digest, m.subject, ${text} from manifests as m where m.repo = ? and m.digest in (${placeholders(digests)})`;
  const rows = await select<HeldRow & { subject: string }>(tx, these, [...parameters, rules.repo, ...digests]);
  return rows.map((row) => ({ ...row, held: row.held === 1 }));
}

/**
 * Those of the manifests that nothing needs, with all manifests above them, which nothing needs either: those that
 * refer to one of them, their subjects and their referrers. In levels, each above the one before it.
 */
export async function unneededManifests(
  tx: Database,
  rules: RepoRules,
  digests: readonly string[],
): Promise<string[][]> {
  // Most manifests are needed by one that refers to them. Only for the others are referrers read, of which there may be
  // many.
  const above = (await findUnneeded(tx, rules, digests, false)).flat();
  const requested = new Set(digests);
  const left = above.filter((digest) => requested.has(digest));
  return left.length === 0 ? [] : findUnneeded(tx, rules, left, true);
}

/**
 * Walks from the digests to all manifests that could be a reason to retain them, and answers those without a reason, in
 * levels. `withReferrers`: over their referrers as well.
 */
async function findUnneeded(
  tx: Database,
  rules: RepoRules,
  digests: readonly string[],
  withReferrers: boolean,
): Promise<string[][]> {
  const seen = new Set(digests);
  const levels: string[][] = [];
  const roots: string[] = [];
  const retains = new Map<string, string[]>();
  for (let level = [...digests]; level.length > 0;) {
    const open: string[] = [];
    const above: string[] = [];
    for (let at = 0; at < level.length; at += CHUNK) {
      const rows = await manifestsOf(tx, rules, level.slice(at, at + CHUNK));
      roots.push(...rows.filter((row) => row.held).map(({ digest }) => digest));
      const unheld = rows.filter((row) => !row.held);
      const subjects = unheld
        .filter(({ subject }) => subject !== "")
        .map(({ digest, subject }) => ({ reason: subject, digest }));
      const others = await reasonsFor(
        tx,
        rules.repo,
        unheld.map(({ digest }) => digest),
        withReferrers,
      );
      open.push(...unheld.map(({ digest }) => digest));
      for (const { reason, digest } of [...subjects, ...others]) {
        const known = retains.get(reason);
        if (known === undefined) retains.set(reason, [digest]);
        else known.push(digest);
        above.push(reason);
      }
      if (seen.size + above.length > MAX_VISITED) return [];
    }
    levels.push(open);
    level = [...new Set(above)].filter((digest) => !seen.has(digest));
    for (const digest of level) seen.add(digest);
  }
  const needed = new Set<string>();
  while (roots.length > 0) {
    const digest = roots.pop() ?? "";
    if (needed.has(digest)) continue;
    needed.add(digest);
    for (const other of retains.get(digest) ?? []) roots.push(other);
  }
  return levels.map((level) => level.filter((digest) => !needed.has(digest)));
}

/** As long as the manifest `reason` is retained, so is `digest`. */
interface Reason {
  reason: string;
  digest: string;
}

/** The manifests that refer to these digests, and with `withReferrers` their referrers. */
async function reasonsFor(
  tx: Database,
  repo: string,
  digests: readonly string[],
  withReferrers: boolean,
): Promise<Reason[]> {
  if (digests.length === 0) return [];
  const query = (text: string): Awaitable<Reason[]> =>
    select(tx, `${text} in (${placeholders(digests)}) limit ${MAX_VISITED + 1}`, [repo, ...digests]);
  const parents = await query(
    "select digest as reason, target as digest from manifest_references where repo = ? and target",
  );
  return withReferrers
    ? [
        ...parents,
        ...(await query("select digest as reason, subject as digest from manifests where repo = ? and subject")),
      ]
    : parents;
}

// A blob is pulled by way of a manifest, so a blob is held for as long as any manifest of the repo refers to it.
const LINK_HELD = `case when l.touch_time > ? then 1
  when (select 1 from manifest_references as r where r.repo = l.repo and r.target = l.digest limit 1) is not null then 1 else 0 end as held`;

/** A page of the blobs that the repo links to after a digest, in the order of digests. */
export async function linksAfter(
  tx: Database,
  { repo, graceCutMs }: RepoRules,
  after: string,
  limit: number,
): Promise<Held[]> {
  const page = `select l.digest, ${LINK_HELD} from repo_blobs as l where l.repo = ? and l.digest > ? order by l.digest limit ?`;
  return held(await select(tx, page, [graceCutMs, repo, after, limit]));
}

/** Those of the blobs that the repo links to and nothing in it needs. At most CHUNK digests. */
export async function unneededLinks(
  tx: Database,
  { repo, graceCutMs }: RepoRules,
  digests: readonly string[],
): Promise<string[]> {
  const these = `select l.digest, ${LINK_HELD} from repo_blobs as l where l.repo = ? and l.digest in (${placeholders(digests)})`;
  const rows = held(await select(tx, these, [graceCutMs, repo, ...digests]));
  return rows.filter((row) => !row.held).map(({ digest }) => digest);
}

/** A row as the database answers it. */
interface HeldRow {
  digest: string;
  held: number;
}

function held(rows: HeldRow[]): Held[] {
  return rows.map((row) => ({ digest: row.digest, held: row.held === 1 }));
}

/** One parameter placeholder for each value. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
