import { type Database, select } from "@moorage/kernel/store";

/** A row of content: its size in bytes. */
interface SizedRow {
  digest: string;
  size: number;
}

/** The content of a repo, and which of it is needed by what. */
export interface RepoContent {
  /** Manifests and blobs. */
  content: SizedRow[];
  /** What a tag points to now, all below that, and what is attached to it. */
  tagged: ReadonlySet<string>;
  /** The same of what a tag once pointed to. */
  past: ReadonlySet<string>;
}

/** How many rows one statement reads: few, since SQLite blocks the thread while it answers. */
const PAGE = 2_000;

/** The manifests and blobs of a repo. Undefined when there are more than so many rows of it. */
export async function repoContent(db: Database, repo: string, maxRows: number): Promise<RepoContent | undefined> {
  let rows = 0;
  /** All rows by pages: `text` takes the parameters and then the key of the last row. */
  const all = async <T>(text: string, keyOf: (row: T) => string[], first = [""]): Promise<T[]> => {
    const found: T[] = [];
    for (let after: string[] | undefined = first; after !== undefined && rows <= maxRows;) {
      const page: T[] = await select<T>(db, `${text} limit ${PAGE}`, [repo, ...after]);
      rows += page.length;
      found.push(...page);
      const last = page.at(-1);
      after = last === undefined || page.length < PAGE ? undefined : keyOf(last);
    }
    return found;
  };
  const byDigest = ({ digest }: { digest: string }): string[] => [digest];
  const manifests = await all<SizedRow & { subject: string }>(
    "select digest, subject, size from manifests where repo = ? and digest > ? order by digest",
    byDigest,
  );
  const references = await all<{ digest: string; target: string }>(
    "select digest, target from manifest_references where repo = ? and (digest, target) > (?, ?) order by digest, target",
    ({ digest, target }) => [digest, target],
    ["", ""],
  );
  const blobs = await all<SizedRow>(
    "select l.digest, b.size from repo_blobs as l join blobs as b on b.digest = l.digest where l.repo = ? and l.digest > ? order by l.digest",
    byDigest,
  );
  const tags = await all<{ digest: string }>(
    "select distinct digest from tags where parent = ? and digest > ? order by digest",
    byDigest,
  );
  const moves = await all<{ digest: string }>(
    "select distinct digest from tag_history where repo = ? and digest > ? order by digest",
    byDigest,
  );
  if (rows > maxRows) return undefined;
  const needs = new Map<string, string[]>();
  const add = (by: string, digest: string): void => {
    const known = needs.get(by);
    if (known === undefined) needs.set(by, [digest]);
    else known.push(digest);
  };
  for (const { digest, target } of references) add(digest, target);
  for (const { digest, subject } of manifests) if (subject !== "") add(subject, digest);
  return { content: [...manifests, ...blobs], tagged: reached(tags, needs), past: reached(moves, needs) };
}

/** Everything that these digests need, and they themselves. */
function reached(from: readonly { digest: string }[], needs: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>();
  const open = from.map(({ digest }) => digest);
  while (open.length > 0) {
    const digest = open.pop() ?? "";
    if (found.has(digest)) continue;
    found.add(digest);
    open.push(...(needs.get(digest) ?? []));
  }
  return found;
}
