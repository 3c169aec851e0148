import { type Database, select } from "../../store/index.ts";

/** What the answer to "is this needed?" hangs on in a repo. Times in milliseconds since 1970. */
export interface RepoRules {
  /** The repo's uid. */
  repo: string;
  /** What was touched, or lost its reason, after this is in its grace. */
  graceCutMs: number;
  /** What a tag pointed to until after this is kept by history. Undefined: whatever a tag ever pointed to. */
  historyCutMs: number | undefined;
}

/**
 * A manifest or the link of a blob, and whether something needs it that stands with itself, not with another manifest.
 */
export interface Held {
  digest: string;
  held: boolean;
}

// Statements stay below every engine's limit of parameters, and SQLite answers one without letting go of the thread.
const CHUNK = 200;
// So many manifests that hang together, counted by what binds them, are looked at. What hangs together with more is
// kept: nobody has that many, but for a purpose.
const MAX_CLIMBED = 100_000;
// Later than any time: of what has not ended.
const NEVER_MS = Number.MAX_SAFE_INTEGER;

// Subqueries with a limit are asked row by row, by their index, on every engine. The cheap ones stand first: the rest
// is not asked then.
const IS_TAGGED = "(select 1 from tags as t where t.parent = m.repo and t.digest = m.digest limit 1) is not null";
const WAS_TAGGED = "(select 1 from tag_history as h where h.repo = m.repo and h.digest = m.digest limit 1) is not null";

/** Of the records of tag `h.tag` that come after a time, the first one's. */
const next = (column: string, time: string, where = ""): string =>
  `(select n.${column} from tag_history as n where n.repo = m.repo and n.tag = h.tag and n.time > ${time}${where} order by n.time limit 1)`;

// Of each tag that pointed to it: when it last came to do so, when that ended, and when another digest took its place.
// From then on it is what a rollback goes back to, until a third digest takes that place, or while the tag is there:
// its deletion ends it as well, and the other's return undoes that.
const LAST =
  "select r.tag, max(r.time) as time from tag_history as r where r.repo = m.repo and r.digest = m.digest group by r.tag";
const OTHER = " and n.digest <> '' and n.digest <> m.digest";
const PERIODS = `select h.tag, ${next("time", "h.time")} as ended, ${next("time", "h.time", OTHER)} as replaced, ${next("digest", "h.time", OTHER)} as other from (${LAST}) as h`;
const LAST_STATE = `(select case when n.digest = '' then n.time else ${NEVER_MS} end from tag_history as n where n.repo = m.repo and n.tag = h.tag order by n.time desc limit 1)`;
const TAGGED_LATELY = `(select 1 from (${PERIODS}) as h where coalesce(h.ended, ${NEVER_MS}) > ?
  or (h.replaced is not null and coalesce(${next("time", "h.replaced", " and n.digest <> '' and n.digest <> h.other")}, ${LAST_STATE}) > ?) limit 1) is not null`;

/** The column that says whether a manifest `m` is held by a tag, by history or by its grace. */
function heldColumn({ graceCutMs, historyCutMs }: RepoRules): { text: string; parameters: number[] } {
  const history = historyCutMs === undefined ? WAS_TAGGED : TAGGED_LATELY;
  const cuts = historyCutMs === undefined ? [] : [Math.min(historyCutMs, graceCutMs), graceCutMs];
  // Tags are asked first: their index tells without a look at the row, which is behind the manifest's content.
  return {
    text: `case when ${IS_TAGGED} then 1 when m.touch_time > ? then 1 when ${history} then 1 else 0 end as held`,
    parameters: [graceCutMs, ...cuts],
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
  const these = `select m.digest, m.subject, ${text} from manifests as m where m.repo = ? and m.digest in (${marks(digests)})`;
  const rows = await select<HeldRow & { subject: string }>(tx, these, [...parameters, rules.repo, ...digests]);
  return rows.map((row) => ({ ...row, held: row.held === 1 }));
}

/**
 * The manifests among these that nothing needs, and all that they hang on, which nothing needs either: whatever refers
 * to one of them, is its subject, or has it as its subject. In levels, each above the one before it.
 */
export async function unneededManifests(
  tx: Database,
  rules: RepoRules,
  digests: readonly string[],
): Promise<string[][]> {
  // Most are needed by what refers to them: only for the others it is worth while to look at referrers, which may be
  // many.
  const above = (await climb(tx, rules, digests, false)).flat();
  const asked = new Set(digests);
  const left = above.filter((digest) => asked.has(digest));
  return left.length === 0 ? [] : climb(tx, rules, left, true);
}

/**
 * Climbs from the digests to all that could be a reason to keep them, and answers what has none. `sideways`: over their
 * referrers as well.
 */
async function climb(
  tx: Database,
  rules: RepoRules,
  digests: readonly string[],
  sideways: boolean,
): Promise<string[][]> {
  const seen = new Set(digests);
  const levels: string[][] = [];
  const kept: string[] = [];
  const keeps = new Map<string, string[]>();
  for (let level = [...digests]; level.length > 0;) {
    const open: string[] = [];
    const above: string[] = [];
    for (let at = 0; at < level.length; at += CHUNK) {
      const rows = await manifestsOf(tx, rules, level.slice(at, at + CHUNK));
      kept.push(...rows.filter((row) => row.held).map(({ digest }) => digest));
      const unheld = rows.filter((row) => !row.held);
      const subjects = unheld
        .filter(({ subject }) => subject !== "")
        .map(({ digest, subject }) => ({ reason: subject, digest }));
      const others = await reasonsFor(
        tx,
        rules.repo,
        unheld.map(({ digest }) => digest),
        sideways,
      );
      open.push(...unheld.map(({ digest }) => digest));
      for (const { reason, digest } of [...subjects, ...others]) {
        const known = keeps.get(reason);
        if (known === undefined) keeps.set(reason, [digest]);
        else known.push(digest);
        above.push(reason);
      }
      if (seen.size + above.length > MAX_CLIMBED) return [];
    }
    levels.push(open);
    level = [...new Set(above)].filter((digest) => !seen.has(digest));
    for (const digest of level) seen.add(digest);
  }
  const needed = new Set<string>();
  while (kept.length > 0) {
    const digest = kept.pop() ?? "";
    if (needed.has(digest)) continue;
    needed.add(digest);
    for (const other of keeps.get(digest) ?? []) kept.push(other);
  }
  return levels.map((level) => level.filter((digest) => !needed.has(digest)));
}

/** As long as one manifest is kept, so is the other. */
interface Reason {
  reason: string;
  digest: string;
}

/** The manifests that refer to these, and with `sideways` those whose subject they are. */
async function reasonsFor(
  tx: Database,
  repo: string,
  digests: readonly string[],
  sideways: boolean,
): Promise<Reason[]> {
  if (digests.length === 0) return [];
  const ask = (text: string): Promise<Reason[]> =>
    select(tx, `${text} in (${marks(digests)}) limit ${MAX_CLIMBED + 1}`, [repo, ...digests]);
  const parents = await ask(
    "select digest as reason, target as digest from manifest_references where repo = ? and target",
  );
  return sideways
    ? [
        ...parents,
        ...(await ask("select digest as reason, subject as digest from manifests where repo = ? and subject")),
      ]
    : parents;
}

// A blob is pulled by way of a manifest: while there is one, whatever becomes of it, its blobs are.
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

/** The blobs among these that the repo links to and nothing in it needs. At most CHUNK. */
export async function unneededLinks(
  tx: Database,
  { repo, graceCutMs }: RepoRules,
  digests: readonly string[],
): Promise<string[]> {
  const these = `select l.digest, ${LINK_HELD} from repo_blobs as l where l.repo = ? and l.digest in (${marks(digests)})`;
  const rows = held(await select(tx, these, [graceCutMs, repo, ...digests]));
  return rows.filter((row) => !row.held).map(({ digest }) => digest);
}

/** As the database says it. */
interface HeldRow {
  digest: string;
  held: number;
}

function held(rows: HeldRow[]): Held[] {
  return rows.map((row) => ({ digest: row.digest, held: row.held === 1 }));
}

/** A question mark for each, for a list of values. */
export function marks(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
