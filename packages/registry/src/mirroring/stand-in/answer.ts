import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import { createLru } from "@moorage/kernel/lib/lru";
import {
  hit,
  HIT,
  isDigest,
  MISS,
  type StandInAnswer,
  type StandInRequest,
  type StandIns,
  stale,
  type StoredManifest,
  type Upstream,
} from "../../oci/index.ts";
import type { StandIn } from "../../upstreams/index.ts";
import { mirrorCall } from "../context.ts";
import { UpstreamError } from "../errors.ts";
import { newerWords, noteSeen, tooYoung, tooYoungUntil } from "./cooldown.ts";
import type { UpstreamStates } from "./states.ts";
import { type CheckDeps, type Checked, createChecks, fetchByDigest, keyOf } from "./tag-check.ts";

export interface StandInDeps extends CheckDeps {
  states: UpstreamStates;
  /** For digests of repos that are here. */
  through: Upstream;
}

/** A client that has something to get waits so long for the registry. */
const PATIENCE_MS = 1_000;
const ASK_AGAIN_MS = 5_000;
const MAX_REMEMBERED = 10_000;
const MAX_RECENT_BYTES = 16 << 20;

/** Groups that stand for registries: docs/standing-in-front.md. */
export function createStandIns(context: StandInDeps): StandIns {
  return new Answers(context);
}

/** A manifest that came lately and may not be copied yet. */
interface Recent {
  stored: StoredManifest;
  repo: string;
  /** On the monotonic clock. */
  untilMs: number;
}

class Answers implements StandIns {
  readonly #context: StandInDeps;
  readonly #check: (request: StandInRequest) => Promise<Checked>;
  /** Until when what a registry did not have is not asked for, on the monotonic clock. */
  readonly #missing = createLru<string, number>(MAX_REMEMBERED);
  readonly #recent = createLru<string, Recent>(MAX_RECENT_BYTES, ({ stored }) => 4 * stored.content.byteLength + 1_000);

  constructor(context: StandInDeps) {
    this.#context = context;
    this.#check = createChecks(context);
  }

  async manifest(request: StandInRequest): Promise<StandInAnswer> {
    const answer = await (isDigest(request.reference) ? this.#digest(request) : this.#tag(request));
    const newer = await this.#requireAge(request, answer);
    return { ...answer, warning: [answer.warning, newer].filter((text) => text !== "").join("; ") };
  }

  /** What is to be said of a newer image that is too young. Throws PERMISSION_DENIED for what is too young itself. */
  async #requireAge(request: StandInRequest, { manifest, repo }: StandInAnswer): Promise<string> {
    const { place, reference, held } = request;
    const { standIn } = place;
    if (manifest === undefined || repo === undefined) return "";
    const { deps } = this.#context;
    const stored = manifest === "held" ? undefined : manifest;
    const digest = stored?.digest ?? held?.digest ?? "";
    const aged = { standIn, repo, path: place.path, digest, reference, stored };
    if (stored !== undefined && isDigest(reference)) await noteSeen(deps, aged);
    const opensMs = await tooYoungUntil(deps, aged);
    if (opensMs !== undefined) throw tooYoung(request, opensMs);
    return await newerWords(deps, aged);
  }

  async #digest(request: StandInRequest): Promise<StandInAnswer> {
    const { place, reference, held } = request;
    const { repo, standIn } = place;
    if (held !== undefined) return { manifest: "held", repo, cacheStatus: HIT, warning: "" };
    if (repo !== undefined) {
      const stored = await this.#context.through.manifest(repo, reference);
      return { manifest: stored, repo, cacheStatus: MISS, warning: "" };
    }
    if (standIn.disabled || this.#isMissing(request)) return nothing(repo);
    return this.#came(request, await this.#orUnavailable(standIn, () => fetchByDigest(this.#context, request)));
  }

  async #tag(request: StandInRequest): Promise<StandInAnswer> {
    const { place, held } = request;
    const { standIn, repo } = place;
    const recent = this.#recentOf(request);
    if (recent !== undefined && recent.stored.digest !== held?.digest) {
      // Its copy waits, or was dropped, or what it made was deleted since.
      const { copies, clients } = this.#context;
      copies.add(clients.source(standIn, recent.repo), request.reference, recent.stored, held?.digest ?? "");
      return {
        manifest: recent.stored,
        repo: recent.repo,
        cacheStatus: hit(recent.untilMs - this.#monotonicMs),
        warning: "",
      };
    }
    const leftMs = held === undefined ? undefined : this.#leftMs(held.checkMs, standIn);
    if (leftMs !== undefined && leftMs > 0) return { manifest: "held", repo, cacheStatus: hit(leftMs), warning: "" };
    const here = (why: string, status = hit(leftMs ?? 0)): StandInAnswer => ({
      manifest: "held",
      repo,
      cacheStatus: status,
      warning: `${standIn.registry} ${why}${asOf(held?.checkMs)}`,
    });
    if (held === undefined) return await this.#absentTag(request);
    if (standIn.disabled) return here("is not asked");
    if (this.#isMissing(request)) return here("no longer has it");
    const { states } = this.#context;
    if (states.heldUntil(standIn) !== undefined || states.isScarce(standIn)) return here("limits us");
    try {
      const checked = await within(this.#check(request), PATIENCE_MS);
      if (checked === undefined) return here("does not answer");
      if (checked.kind === "same")
        return { manifest: "held", repo, cacheStatus: `${stale(200)}; ttl=${standIn.tagTtlMs / 1_000}`, warning: "" };
      if (checked.kind === "new") return this.#came(request, checked, stale(200));
      this.#noteMissing(request);
      return here("no longer has it", stale(404));
    } catch (error) {
      const { why, status } = troubleOf(error);
      return here(why, stale(status));
    }
  }

  async #absentTag(request: StandInRequest): Promise<StandInAnswer> {
    const { standIn, repo } = request.place;
    if (standIn.disabled || this.#isMissing(request)) return nothing(repo);
    return this.#came(request, await this.#orUnavailable(standIn, () => this.#check(request)));
  }

  /** The answer to what was not here, or is another than here. */
  #came(request: StandInRequest, checked: Checked, status = `${MISS}; stored`): StandInAnswer {
    const { standIn, repo } = request.place;
    if (checked.kind !== "new") {
      this.#noteMissing(request);
      return { ...nothing(repo), cacheStatus: `${MISS}; fwd-status=404` };
    }
    const { stored } = checked;
    const untilMs = this.#monotonicMs + standIn.tagTtlMs;
    this.#context.through.noteIndex(checked.repo, stored);
    if (!isDigest(request.reference)) this.#recent.set(keyOf(request), { stored, repo: checked.repo, untilMs });
    return { manifest: stored, repo: checked.repo, cacheStatus: status, warning: "" };
  }

  /** Runs what asks the registry, for a client that there is nothing for. */
  async #orUnavailable<T>(standIn: StandIn, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      throw unavailable(standIn, error, this.#context.states.heldUntil(standIn), this.#context.deps.clock);
    }
  }

  get #monotonicMs(): number {
    return this.#context.deps.clock.monotonicMs();
  }

  /** For how many milliseconds a tag is served without asking; below 0 when that is over. */
  #leftMs(checkMs: number | undefined, { tagTtlMs }: StandIn): number {
    return checkMs === undefined ? 0 : checkMs + tagTtlMs - mirrorCall(this.#context.deps).nowMs;
  }

  #recentOf(request: StandInRequest): Recent | undefined {
    const found = this.#recent.get(keyOf(request));
    return found !== undefined && this.#monotonicMs < found.untilMs ? found : undefined;
  }

  #isMissing(request: StandInRequest): boolean {
    return this.#monotonicMs < (this.#missing.get(keyOf(request)) ?? 0);
  }

  #noteMissing(request: StandInRequest): void {
    this.#missing.set(keyOf(request), this.#monotonicMs + request.place.standIn.missingTtlMs);
  }
}

function nothing(repo: string | undefined): StandInAnswer {
  return { manifest: undefined, repo, cacheStatus: HIT, warning: "" };
}

/** What is wrong with a registry, for people. Throws errors of this server's own. */
function troubleOf(error: unknown): { why: string; status: number | undefined } {
  // Too much is being fetched for others: what is here is served.
  if (error instanceof MoorageError && error.code === Code.Unavailable)
    return { why: "was not asked", status: undefined };
  if (!(error instanceof UpstreamError)) throw error;
  const { kind, status } = error;
  if (kind === "limited") return { why: "limits us", status };
  if (kind === "unreachable") return { why: status === undefined ? "does not answer" : "fails", status };
  return { why: "cannot be asked", status };
}

function asOf(checkMs: number | undefined): string {
  return checkMs === undefined ? "" : `; as of ${new Date(checkMs).toISOString().replace(/\.\d+Z$/, "Z")}`;
}

/** The error for what is not here: 429 while the registry limits us, and 503 otherwise. */
function unavailable(
  { registry }: StandIn,
  error: UpstreamError,
  heldUntilMs: number | undefined,
  clock: Clock,
): MoorageError {
  const retryAfterMs =
    heldUntilMs === undefined ? (error.retryAfterMs ?? ASK_AGAIN_MS) : Math.max(0, heldUntilMs - clock.nowMs());
  if (error.kind === "limited")
    return new MoorageError(Code.ResourceExhausted, `Resource exhausted: it is not here, and ${registry} limits us`, {
      retryAfterMs,
      cause: error,
    });
  return new MoorageError(Code.Unavailable, `Unavailable: it is not here, and cannot be fetched: ${error.message}`, {
    retryAfterMs,
    cause: error,
  });
}

/** What the promise gives, or undefined when it takes longer. It goes on then, and its errors are somebody else's. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
