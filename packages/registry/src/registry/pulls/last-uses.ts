import { type Database, select } from "@moorage/kernel/store";

/** For so long after a report that an image runs it counts as pulled, in milliseconds. */
export const RUNNING_FOR_MS = 7 * 86_400_000;

/** A tag of which it is asked when it was last used. */
interface UsedTag {
  digest: string;
  /** When it was moved: whoever pushes a tag uses it. */
  update_time: number;
  last_pull_time: number | null;
}

/** When a tag was last used, as far as it is known, in milliseconds since 1970. */
export type LastUse = (tag: UsedTag) => number;

const ROWS = 400;
// Indexes of indexes are followed so deep.
const MAX_DEPTH = 3;
// A tag has its last pull exact to a minute.
const MINUTE_MS = 60_000;

/**
 * Reads when these tags of a repo were last pulled, moved, or said to run: by their names, by their digests, and by
 * the manifests below those.
 */
export async function lastUses(db: Database, repo: string, tags: readonly UsedTag[], nowMs: number): Promise<LastUse> {
  const top = [...new Set(tags.map(({ digest }) => digest))];
  const below = new Map<string, Set<string>>(top.map((digest) => [digest, new Set([digest])]));
  // By digest: the digests of tags that lead to it.
  let level = new Map(top.map((digest) => [digest, new Set([digest])]));
  for (let depth = 0; depth < MAX_DEPTH && level.size > 0; depth += 1) {
    const next = new Map<string, Set<string>>();
    for (const { digest, target } of await referencesOf(db, repo, [...level.keys()]))
      for (const root of level.get(digest) ?? []) {
        if (below.get(root)?.has(target) === true) continue;
        below.get(root)?.add(target);
        next.set(target, (next.get(target) ?? new Set()).add(root));
      }
    level = next;
  }
  const times = await timesOf(db, repo, [...new Set([...below.values()].flatMap((each) => [...each]))], nowMs);
  return ({ digest, update_time: moved, last_pull_time: pulled }) =>
    Math.max(
      Number(moved),
      pulled === null ? 0 : Number(pulled) + MINUTE_MS,
      ...[...(below.get(digest) ?? [])].map((each) => times.get(each) ?? 0),
    );
}

async function referencesOf(
  db: Database,
  repo: string,
  digests: readonly string[],
): Promise<{ digest: string; target: string }[]> {
  return await inChunks(digests, (some, marks) =>
    select<{ digest: string; target: string }>(
      db,
      `select digest, target from manifest_references where repo = ? and kind = 'manifest' and digest in (${marks})`,
      [repo, ...some],
    ),
  );
}

async function timesOf(
  db: Database,
  repo: string,
  digests: readonly string[],
  nowMs: number,
): Promise<Map<string, number>> {
  const rows = await inChunks(digests, async (some, marks) => [
    ...(await select<{ digest: string; time: number }>(
      db,
      `select digest, time from last_pulls where repo = ? and digest in (${marks})`,
      [repo, ...some],
    )),
    ...(
      await select<{ digest: string; time: number }>(
        db,
        `select digest, time from running_images where repo = ? and digest in (${marks})`,
        [repo, ...some],
      )
    ).map(({ digest, time }) => ({ digest, time: Math.min(nowMs, Number(time) + RUNNING_FOR_MS) })),
  ]);
  const times = new Map<string, number>();
  for (const { digest, time } of rows) times.set(digest, Math.max(times.get(digest) ?? 0, Number(time)));
  return times;
}

async function inChunks<R>(
  values: readonly string[],
  read: (some: string[], marks: string) => Promise<R[]> | R[],
): Promise<R[]> {
  const found: R[] = [];
  for (let at = 0; at < values.length; at += ROWS) {
    const some = values.slice(at, at + ROWS);
    found.push(...(await read(some, some.map(() => "?").join(", "))));
  }
  return found;
}
