import { Code, MoorageError } from "@moorage/kernel/errors";
import { select } from "@moorage/kernel/store";
import { DELETIONS_MS, isTooMany } from "../../registry/index.ts";
import { type MirrorPlace } from "../commands.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import { createNameList } from "../copy-result.ts";
import { type CopiedTag, copiedTags, deleteGoneTag } from "../gone-tags.ts";
import type { Upstream } from "../registry-client.ts";

/** A copied tag that the list of its repository at the registry does not have. */
export interface GoneTag extends CopiedTag {
  place: MirrorPlace;
  /** The repository's name at the registry. */
  repository: string;
  upstream: Upstream;
}

/** What became of tags that are gone. */
export interface Deletions {
  /** How many stay. */
  held: number;
  /** Why; empty when none does, or only since a policy protects them. */
  problem: string;
  /** What else is worth knowing. */
  note: string;
}

/** The tags of a repo that were copied, match, and are not listed at the registry. */
export async function unlistedTags(
  deps: MirrorDeps,
  repo: string,
  isListed: (tag: string) => boolean,
): Promise<CopiedTag[]> {
  const found: CopiedTag[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const rows = await deps.transactor.read(mirrorCall(deps), (call) => copiedTags(call, repo, from));
    for (const tag of rows) if (!isListed(tag.name)) found.push(tag);
    after = rows.at(-1)?.name;
  }
  return found;
}

/**
 * Deletes tags that are gone at the registry, when it says of each that it does not have it. More than a tenth of all
 * tags within an hour stay, unless the turn is forced.
 */
export async function deleteGone(
  deps: MirrorDeps,
  { upstream, gone, isForced }: { upstream: string; gone: readonly GoneTag[]; isForced: boolean },
  signal: AbortSignal,
): Promise<Deletions> {
  if (gone.length === 0) return { held: 0, problem: "", note: "" };
  const { all, lately } = await countsOf(deps, upstream);
  const going = gone.length + lately;
  if (!isForced && isTooMany(going, all + lately)) {
    const problem = `${going} of ${all + lately} tags are gone there within an hour, more than a tenth: a forced turn deletes them`;
    return { held: gone.length, problem, note: "" };
  }
  const [kept, there] = [createNameList(), createNameList()];
  for (const { place, repository, name, digest, upstream: source } of gone) {
    signal.throwIfAborted();
    if ((await source.resolve(name, signal)) !== undefined) there.add(`${repository}:${name}`);
    else if (!(await deleteOne(deps, { ...place, name, digest }))) kept.add(`${repository}:${name}`);
  }
  return {
    held: kept.count + there.count,
    problem: there.text("tag", "not listed there, and answered all the same"),
    note: kept.text("tag", "gone there and kept by a policy here"),
  };
}

/** False when the policy of the repo protects the tag. */
async function deleteOne(deps: MirrorDeps, tag: MirrorPlace & CopiedTag): Promise<boolean> {
  try {
    await deps.transactor.write(deleteGoneTag, mirrorCall(deps), tag);
    return true;
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.FailedPrecondition) return false;
    throw error;
  }
}

/** How many tags of the upstream there are, and how many were deleted since they were gone there within the time. */
async function countsOf(deps: MirrorDeps, upstream: string): Promise<{ all: number; lately: number }> {
  return await deps.transactor.read(mirrorCall(deps), async ({ tx, nowMs }) => {
    const [tags] = await select<{ n: number }>(
      tx,
      "select count(*) as n from upstream_repos as o join tags as t on t.parent = o.repo where o.upstream = ?",
      [upstream],
    );
    const [deleted] = await select<{ n: number }>(
      tx,
      `select count(*) as n from upstream_repos as o join tag_history as h on h.repo = o.repo
       where o.upstream = ? and h.digest = '' and h.reason = 'mirror' and h.time > ?`,
      [upstream, nowMs - DELETIONS_MS],
    );
    return { all: Number(tags?.n ?? 0), lately: Number(deleted?.n ?? 0) };
  });
}
