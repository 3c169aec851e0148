import { noteUnchanged, type DueFollow, type FollowRead, type FollowReports } from "../../upstreams/index.ts";
import { centerUpstream } from "../center/tags.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import { createNameList } from "../copy-result.ts";
import type { CopyOptions } from "../copy-tags.ts";
import type { UpstreamError } from "../errors.ts";
import type { Upstream } from "../registry-client.ts";
import type { Center, FollowedNames } from "./names.ts";
import { pastOf } from "./past.ts";
import { reportPulls } from "./reports.ts";

/** A repo of a Moorage as a source: what it is copied from, and how. */
interface EdgeSource {
  upstream: Upstream;
  options: Pick<CopyOptions, "past" | "history">;
}

// More digests of one repo are taken to be new, so that what is attached to them is asked for.
const MAX_DIGESTS = 100_000;
const CHUNK = 500;

/** What a turn does beside copying where the registry is a Moorage. Of other registries it knows nothing. */
export class Edge {
  readonly #deps: MirrorDeps;
  readonly #due: DueFollow;
  readonly #center: Center | undefined;
  readonly #read: FollowRead | undefined;
  readonly #hasHistory: boolean;
  readonly #past = { cut: createNameList(), wrong: createNameList(), unread: createNameList() };
  /** Repositories whose tags the API does not list. */
  readonly #unlisted = createNameList();

  constructor(deps: MirrorDeps, due: DueFollow, { center, read }: FollowedNames, hasHistory: boolean) {
    this.#deps = deps;
    this.#due = due;
    this.#center = center;
    this.#read = read;
    this.#hasHistory = hasHistory;
  }

  /** Whether its Moorage says that nothing moved in a repository since a turn that copied all of it. */
  isUnchanged({
    name,
    repo,
    followTime,
  }: {
    name: string;
    repo: string | undefined;
    followTime: number | null;
  }): boolean {
    const there = this.#center?.repos.get(name);
    if (repo === undefined || followTime === null || there === undefined) return false;
    return this.#center?.changed?.has(there) === false;
  }

  /** Notes that the tags of repos are as they are there. */
  async noteUnchanged(repos: readonly string[], signal: AbortSignal): Promise<void> {
    for (let at = 0; at < repos.length; at += CHUNK) {
      signal.throwIfAborted();
      const { uid: upstream } = this.#due.upstream;
      const some = repos.slice(at, at + CHUNK);
      await this.#deps.transactor.write(noteUnchanged, mirrorCall(this.#deps), { upstream, repos: some });
    }
  }

  /** A repository of the Moorage as a source, by its API. Undefined where that cannot be. */
  async source(name: string, repo: string, upstream: Upstream, signal: AbortSignal): Promise<EdgeSource | undefined> {
    const there = this.#center?.repos.get(name);
    if (this.#center === undefined || there === undefined) return undefined;
    const { client, isComparison, sinceMs } = this.#center;
    const deps = this.#deps;
    const here = isComparison ? new Set<string>() : await digestsOfTags(deps, repo);
    const source = centerUpstream({
      client,
      repo: there,
      upstream,
      // Of what was here at the turn before and has not moved lately, a comparison asks for that.
      asksReferrers: (digest) => !here.has(digest) || source.lately(sinceMs).has(digest),
      unlisted: () => this.#unlisted.add(name),
    });
    const from = { deps, client, there, here: repo, name, source: this.#due.upstream.registry, tags: source.tags };
    const past = (tag: string, isMoved: boolean) => pastOf({ ...from, faults: this.#past, signal }, tag, isMoved);
    return { upstream: source.upstream, options: { past, history: this.#hasHistory } };
  }

  /** How the registry was read; undefined where it is not known what it is. */
  get read(): FollowRead | undefined {
    return this.#read && { ...this.#read, apiProblem: this.apiProblem };
  }

  /** Why a Moorage was not read by its API alone; empty where it was, and for another registry. */
  get apiProblem(): string {
    const unlisted = this.#unlisted.text("repo", "with tags that it does not list to us (CAP_TAG_LIST)");
    return this.#read === undefined || this.#read.apiProblem === "" ? unlisted : this.#read.apiProblem;
  }

  /** What did not come of histories. */
  problems(): string[] {
    return [
      this.#past.unread.text("tag", "whose history could not be read"),
      this.#past.wrong.text("tag", "with moves that were left out, since they are in the future or lead to no digest"),
    ];
  }

  /** What else is worth knowing. */
  notes(reports: FollowReports | undefined): string[] {
    return [
      this.#past.cut.text("tag", "with more moves than come, of which the oldest are missing"),
      this.apiProblem === "" ? "" : `it is a Moorage, and was not read by its API alone: ${this.apiProblem}`,
      reports === undefined || reports.problem === "" ? "" : `pulls were not reported: ${reports.problem}`,
      reports === undefined || reports.unnoted === 0
        ? ""
        : `${reports.unnoted} reports of pulls were not noted there: it lacks the image, or the right to report is missing`,
    ];
  }

  /** Reports the pulls here to a Moorage. `error`: what ended the turn early. Undefined for another registry. */
  async report(error: UpstreamError | undefined, signal: AbortSignal): Promise<FollowReports | undefined> {
    const { apiProblem } = this;
    const isEdge = this.#center !== undefined || apiProblem !== "" || (this.#read === undefined && this.#due.isEdge);
    if (!isEdge) return undefined;
    const isAway = error?.kind === "limited" || error?.kind === "unreachable";
    const client = isAway ? undefined : this.#center?.client;
    const problem = client !== undefined ? "" : apiProblem === "" ? "the registry does not answer" : apiProblem;
    return await reportPulls(this.#deps, this.#due, { client, problem }, signal);
  }
}

/** What the tags of a repo point to. */
async function digestsOfTags(deps: MirrorDeps, repo: string): Promise<Set<string>> {
  const rows = await deps.transactor.read(mirrorCall(deps), (call) =>
    call.tx.selectFrom("tags").select("digest").distinct().where("parent", "=", repo).limit(MAX_DIGESTS).execute(),
  );
  return new Set(rows.map(({ digest }) => digest));
}
