import { type Database, select } from "@moorage/kernel/store";

/** The most names of tags that are read for some manifests together. */
const MAX_TAGS = 20_000;
const CHUNK = 500;

/** The tags that point or have pointed to manifests. */
export interface TagsOf {
  /** By the digest of the manifest. */
  all: ReadonlyMap<string, readonly string[]>;
  current: ReadonlyMap<string, readonly string[]>;
  isWhole: boolean;
}

export const NO_TAGS: TagsOf = { all: new Map(), current: new Map(), isWhole: true };

/** The tags that point to these manifests of a repo now, and those that the history has them under. */
export async function tagsOf(tx: Database, repo: string, digests: readonly string[]): Promise<TagsOf> {
  const all = new Map<string, Set<string>>();
  const current = new Map<string, Set<string>>();
  let left = MAX_TAGS;
  const note = (into: Map<string, Set<string>>, { digest, tag }: TagRow): void =>
    void into.set(digest, (into.get(digest) ?? new Set()).add(tag));
  for (let at = 0; at < digests.length && left > 0; at += CHUNK) {
    const some = digests.slice(at, at + CHUNK);
    const marks = some.map(() => "?").join(", ");
    const now = await select<TagRow>(
      tx,
      `select digest, name as tag from tags where parent = ? and digest in (${marks}) limit ${left}`,
      [repo, ...some],
    );
    const then = await select<TagRow>(
      tx,
      `select distinct digest, tag from tag_history where repo = ? and digest in (${marks}) limit ${left}`,
      [repo, ...some],
    );
    for (const row of now) note(current, row);
    for (const row of [...now, ...then]) note(all, row);
    left -= Math.max(now.length, then.length);
  }
  const lists = (sets: Map<string, Set<string>>) => new Map([...sets].map(([digest, tags]) => [digest, [...tags]]));
  return { all: lists(all), current: lists(current), isWhole: left > 0 };
}

interface TagRow {
  digest: string;
  tag: string;
}
