import { SyncState } from "@moorage/api/messages";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { isRepositoryName, isTag, makeStandInRepo } from "../../oci/index.ts";
import { quotaOfError } from "../../registry/index.ts";
import {
  type DueFollow,
  type FollowRead,
  type FollowReports,
  followRules,
  type FollowRules,
  type HeldFollow,
  knownRepos,
  noteFollowedRepo,
  pathBelow,
  standInOf,
} from "../../upstreams/index.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import { type CopyResult, createNameList } from "../copy-result.ts";
import { copyTags } from "../copy-tags.ts";
import type { Downloads } from "../downloads.ts";
import { UpstreamError } from "../errors.ts";
import type { FollowedTags } from "../followed-tags.ts";
import { createReferrerGaps } from "../referrer-gaps.ts";
import type { StandInClients } from "../stand-in/sources.ts";
import { type CatalogNames, isFollowed, MAX_REPOS } from "./catalog.ts";
import { deleteGone, type GoneTag, unlistedTags } from "./deletions.ts";
import { Edge } from "./edge.ts";
import { readNames } from "./names.ts";

/** What turns work with. */
export interface FollowDeps {
  deps: MirrorDeps;
  downloads: Downloads;
  clients: StandInClients;
}

/** How a turn came to its end. */
export interface TurnResult {
  state: SyncState;
  message: string;
  retryAfterMs?: number | undefined;
  repositories?: number;
  missingRepositories?: number;
  heldDeletions: number;
  read?: FollowRead | undefined;
  reports?: FollowReports | undefined;
}

/** Signals that end a turn early; its upstream stays due. */
export interface TurnEnds {
  signal: AbortSignal;
  /** The turn ends after the tags under way. */
  pause: AbortSignal;
}

const CONCURRENCY = 3;
// After so many repositories in a row the registry is taken to be away, and the rest waits for the next turn.
const MAX_UNREACHABLE = 3;
const MAX_GONE = 100_000;

/**
 * Looks an upstream's registry through and copies what is followed. Repositories that an interrupted turn has copied
 * whole are passed over. Undefined when `pause` was aborted before the last. Throws the signal's reason when it is
 * aborted, and errors of this server's stores.
 */
export async function runTurn(
  context: FollowDeps,
  due: DueFollow,
  held: HeldFollow,
  ends: TurnEnds,
): Promise<TurnResult | undefined> {
  return await new Turn(context, due, held, ends).run();
}

/** A repository that is to be copied. */
interface Wanted {
  name: string;
  /** The uid of its repo here, if there is one. */
  repo: string | undefined;
  followTime: number | null;
}

class Turn {
  readonly #context: FollowDeps;
  readonly #due: DueFollow;
  readonly #held: HeldFollow;
  readonly #ends: TurnEnds;
  readonly #rules: FollowRules;
  readonly #failed = createNameList();
  readonly #impossible = createNameList();
  readonly #own = createNameList();
  readonly #empty = createNameList();
  readonly #gone = createNameList();
  readonly #goneTags: GoneTag[] = [];
  readonly #remarks = createNameList();
  #tags = 0;
  #unreachable = 0;
  /** What ended the turn early. */
  #error: UpstreamError | undefined;

  constructor(context: FollowDeps, due: DueFollow, held: HeldFollow, ends: TurnEnds) {
    this.#context = context;
    this.#due = due;
    this.#held = held;
    this.#ends = ends;
    this.#rules = followRules(due.upstream.follow ?? "{}");
  }

  async run(): Promise<TurnResult | undefined> {
    const { clients } = this.#context;
    const { turnMs } = this.#due;
    const names = await readNames(this.#due, this.#rules, clients, this.#ends.signal);
    const edge = new Edge(this.#context.deps, this.#due, names, this.#rules.hasHistory);
    const { catalog } = names;
    const wanted = await this.#wanted(catalog);
    const due = wanted.filter(({ followTime }) => followTime === null || followTime < turnMs);
    const open = due.filter((each) => !edge.isUnchanged(each));
    const same = due.filter((each) => edge.isUnchanged(each)).flatMap(({ repo }) => repo ?? []);
    await edge.noteUnchanged(same, this.#ends.signal);
    const left = open.toSorted((one, other) => (one.followTime ?? 0) - (other.followTime ?? 0));
    // Then the repositories would not answer either.
    if (catalog.error?.kind === "limited" || catalog.error?.kind === "unreachable") this.#error = catalog.error;
    else await this.#copyAll(edge, left);
    if (this.#ends.pause.aborted && this.#error === undefined) return undefined;
    return await this.#result(edge, catalog, { wanted: wanted.length, open: open.length, left: left.length });
  }

  /** What the catalog names, and what came before: a registry may not name all that it lets us pull. */
  async #wanted({ names }: CatalogNames): Promise<Wanted[]> {
    const { transactor } = this.#context.deps;
    const { upstream: row } = this.#due;
    const known = await transactor.read(mirrorCall(this.#context.deps), (call) =>
      knownRepos(call, row.uid, 2 * MAX_REPOS),
    );
    const found = new Map<string, Wanted>();
    for (const name of names) found.set(name, { name, repo: undefined, followTime: null });
    for (const each of known) if (isFollowed(row, this.#rules, each.name)) found.set(each.name, each);
    return [...found.values()];
  }

  /** Copies repositories until none is left, or what happens concerns the others, too. */
  async #copyAll(edge: Edge, left: Wanted[]): Promise<void> {
    const { pause, signal } = this.#ends;
    const work = async (): Promise<void> => {
      try {
        for (let next = left.shift(); next !== undefined && !pause.aborted; next = left.shift()) {
          signal.throwIfAborted();
          await this.#copy(edge, next);
          if (this.#error !== undefined) return;
        }
      } catch (error) {
        // After an error of this server the other workers begin no more.
        left.length = 0;
        throw error;
      }
    };
    const workers = await Promise.allSettled(Array.from({ length: CONCURRENCY }, work));
    const failed = workers.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #copy(edge: Edge, { name, repo: known }: Wanted): Promise<void> {
    const { deps, downloads, clients } = this.#context;
    // What has nothing to follow makes no repo here.
    const repo = known ?? ((await this.#hasTags(name)) ? await this.#make(name) : undefined);
    if (repo === undefined) return;
    const { signal, pause } = this.#ends;
    const { upstream, place } = clients.source(standInOf(this.#due.upstream, name), repo);
    const byApi = await edge.source(name, repo, upstream, signal);
    const job = {
      deps,
      downloads,
      upstream: byApi?.upstream ?? upstream,
      place,
      signal,
      gaps: createReferrerGaps(),
    };
    let listing: FollowedTags | undefined;
    const options = { follows: this.#rules.wantsTag, listed: (tags: FollowedTags) => void (listing = tags) };
    const result = await copyTags(job, { ...options, ...byApi?.options }, pause);
    if (result === undefined) return;
    const isGone = result.error?.status === 404 && listing === undefined;
    const isWhole = isGone || (result.state === SyncState.SUCCEEDED && result.tagsMissing === 0);
    await deps.transactor.write(noteFollowedRepo, mirrorCall(deps), {
      ...this.#held,
      repo,
      turnMs: this.#due.turnMs,
      tags: isGone ? 0 : result.tagsSeen,
      missing: isGone ? 0 : (result.tagsMissing ?? 0),
      isWhole,
    });
    this.#note(name, result, { isGone, isWhole });
    const isListed = isGone || (listing !== undefined && listing.error === undefined);
    if (!this.#rules.isExact || !isListed) return;
    const there = new Set(listing?.followed);
    const gone = await unlistedTags(deps, repo, (tag) => there.has(tag) || !this.#rules.wantsTag(tag));
    for (const tag of gone.slice(0, MAX_GONE - this.#goneTags.length))
      this.#goneTags.push({ ...tag, place, repository: name, upstream });
  }

  /** Whether a repository has tags to follow; why not is noted. */
  async #hasTags(name: string): Promise<boolean> {
    const { upstream } = this.#context.clients.source(standInOf(this.#due.upstream, name), "");
    const { signal } = this.#ends;
    try {
      for await (const tags of upstream.tags(signal))
        if (tags.some((tag) => isTag(tag) && this.#rules.wantsTag(tag))) return true;
      this.#empty.add(name);
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      if (error.status === 404) this.#gone.add(name);
      else this.#failed.add(`${name} (${error.message})`);
      this.#judge(error);
    }
    return false;
  }

  /** The repo of a repository that has none here. Undefined when it cannot be here. */
  async #make(name: string): Promise<string | undefined> {
    const { deps } = this.#context;
    const path = `${this.#due.path}/${pathBelow(this.#due.upstream, name)}`;
    if (!isRepositoryName(path)) {
      this.#impossible.add(`${name} (its path here would be too long)`);
      return undefined;
    }
    try {
      const standIn = standInOf(this.#due.upstream, name);
      const { repo } = await deps.transactor.write(makeStandInRepo, mirrorCall(deps), { path, standIn });
      if (repo === undefined) this.#own.add(name);
      return repo;
    } catch (error) {
      if (!(error instanceof MoorageError) || quotaOfError(error) !== undefined) throw error;
      if (error.code !== Code.InvalidArgument && error.code !== Code.FailedPrecondition) throw error;
      this.#impossible.add(`${name} (${error.message})`);
      return undefined;
    }
  }

  #note(
    name: string,
    { error, isEmpty, message, tagsSeen = 0, counts }: CopyResult,
    { isGone, isWhole }: { isGone: boolean; isWhole: boolean },
  ): void {
    this.#tags += tagsSeen;
    for (const [failure, count] of counts) this.#context.deps.metrics.notCopied(failure, count);
    if (isGone) this.#gone.add(name);
    else if (!isWhole) this.#failed.add(`${name} (${message})`);
    else if (isEmpty === true) this.#empty.add(name);
    else if (message !== "") this.#remarks.add(`${name} (${message})`);
    this.#judge(error);
  }

  /** Ends the turn after errors that concern the other repositories, too. */
  #judge(error: UpstreamError | undefined): void {
    this.#unreachable = error?.kind === "unreachable" ? this.#unreachable + 1 : 0;
    if (error?.kind === "limited" || this.#unreachable >= MAX_UNREACHABLE) this.#error ??= error;
  }

  async #result(
    edge: Edge,
    catalog: CatalogNames,
    count: { wanted: number; open: number; left: number },
  ): Promise<TurnResult> {
    const { deps } = this.#context;
    const { upstream, isForced } = this.#due;
    const notRead = catalog.error === undefined ? "" : `its catalog could not be read: ${catalog.error.message}`;
    const isKnown = catalog.error === undefined && this.#error === undefined;
    // Nothing is deleted where something was not read.
    const deletions = isKnown
      ? await deleteGone(deps, { upstream: upstream.uid, gone: this.#goneTags, isForced }, this.#ends.signal)
      : { held: this.#goneTags.length, problem: "", note: "" };
    const reports = await edge.report(this.#error, this.#ends.signal);
    const incomplete = this.#failed.count + this.#impossible.count + this.#own.count;
    const problems = [
      notRead,
      count.left > 0 ? `${count.left} repos were not reached${this.#reason(catalog)}` : "",
      this.#failed.text("repo", "did not come whole"),
      this.#impossible.text("repo", "cannot be here"),
      this.#own.text("repo", "cannot come, since the group has its own there"),
      catalog.invalid.text("name", "that no repo may have"),
      this.#nothing(catalog, count),
      deletions.problem,
      ...edge.problems(),
    ].filter((text) => text !== "");
    const notes = [
      catalog.rejected > 0 ? `${catalog.rejected} repos that match are not allowed` : "",
      this.#empty.text("repo", "without a tag that matches"),
      this.#gone.text("repo", "that the registry does not have"),
      deletions.note,
      this.#remarks.text("repo", "that came, with a remark"),
      ...edge.notes(reports),
    ].filter((text) => text !== "");
    const state = this.#error?.kind === "limited" ? SyncState.RATE_LIMITED : SyncState.FAILED;
    return {
      state: problems.length > 0 || this.#error !== undefined ? state : SyncState.SUCCEEDED,
      message: [...problems, ...notes].join("; "),
      retryAfterMs: this.#error?.retryAfterMs,
      repositories: count.wanted,
      missingRepositories: incomplete + count.left,
      heldDeletions: deletions.held,
      read: edge.read,
      reports,
    };
  }

  /** What ended the turn early, unless the catalog says it. */
  #reason({ error }: CatalogNames): string {
    return this.#error === undefined || this.#error === error ? "" : `: ${this.#error.message}`;
  }

  /** That nothing is followed, which is no success; empty when something is. */
  #nothing(catalog: CatalogNames, { wanted, open }: { wanted: number; open: number }): string {
    if (catalog.error !== undefined || this.#error !== undefined) return "";
    if (catalog.listed === 0 && wanted === 0) return "its catalog names no repos";
    if (wanted === 0) return `none of its ${catalog.listed} repos is followed`;
    const isNew = open === wanted && this.#failed.count + this.#impossible.count + this.#own.count === 0;
    return isNew && this.#tags === 0 ? `no tag of ${wanted} repos matches` : "";
  }
}
