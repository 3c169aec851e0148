import { createLru } from "@moorage/kernel/lib/lru";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Database, snapshotCaches, statement } from "@moorage/kernel/store";
import type { PullSource } from "./pull-source.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { UpstreamError } from "./errors.ts";
import { originOf, type StandIn } from "../upstreams/index.ts";
import type { FetchLimit } from "./fetch-limit.ts";
import type { createSources } from "./sources.ts";
import type { StandInSources } from "./stand-in/sources.ts";

/** What a pull asks a source for. */
interface Wanted {
  kind: "manifest" | "blob";
  repo: string;
  /** A tag or a digest. */
  reference: string;
}

/**
 * Asks the source of the repo for content, by `work`. What the source lately did not have is not asked for again for a
 * while, nor is a source that lately failed. Undefined when the source does not have it, or the repo is not pulled
 * through. Throws UNAVAILABLE when the source fails, or too many requests to sources are under way.
 */
export type SourceLookup = <T>(
  wanted: Wanted,
  work: (source: PullSource) => Promise<T | undefined>,
) => Promise<T | undefined>;

// Compiled once: it runs for every request for content that a repo lacks, with which pushes begin.
interface Source {
  password: string;
  actor: string;
  sync_config: string | null;
}
const selectSource = statement<Source>(
  "select m.password, m.actor, r.sync_config from mirrors as m join repos as r on r.uid = m.repo where m.repo = ?",
  ["text"],
);
const MAX_REMEMBERED = 10_000;
// Repos of which is known that all their content was pushed to them.
const knownOwn = snapshotCaches<true>(MAX_REMEMBERED);
// How long content that a source did not have is not asked for again.
const MISSING_MS = 15_000;
// How long a source that failed is not asked again.
const ERROR_MS = 5_000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;

interface LookupDeps {
  deps: MirrorDeps;
  sources: ReturnType<typeof createSources>;
  /** The sources of repos below groups that stand for a registry. */
  standIns: StandInSources;
  limit: FetchLimit;
}

export function createSourceLookup(options: LookupDeps): SourceLookup {
  const lookup = new Lookup(options);
  return (wanted, work) => lookup.ask(wanted, work);
}

class Lookup {
  readonly #deps: MirrorDeps;
  readonly #sources: ReturnType<typeof createSources>;
  readonly #missing = createLru<string, number>(MAX_REMEMBERED);
  readonly #errors = createLru<string, { error: MoorageError; untilMs: number }>(MAX_REMEMBERED);
  readonly #standIns: StandInSources;
  readonly #limit: FetchLimit;

  constructor({ deps, sources, standIns, limit }: LookupDeps) {
    this.#deps = deps;
    this.#sources = sources;
    this.#standIns = standIns;
    this.#limit = limit;
  }

  async ask<T>(wanted: Wanted, work: (source: PullSource) => Promise<T | undefined>): Promise<T | undefined> {
    const { clock, metrics } = this.#deps;
    const nowMs = clock.monotonicMs();
    let source: PullSource | undefined;
    let outcome = "trouble";
    try {
      const found = await this.#sourceOf(wanted.repo);
      source = found;
      if (found === undefined) return undefined;
      const keys = keysOf(wanted, found.place.sync);
      const known = this.#errors.get(keys.source) ?? this.#errors.get(keys.content);
      if (known !== undefined && nowMs < known.untilMs) throw known.error;
      outcome = "missing";
      if (nowMs < (this.#missing.get(keys.content) ?? 0)) return undefined;
      const content = await this.#limit(organizationOf(wanted.repo), () => work(found));
      if (content === undefined) this.#missing.set(keys.content, clock.monotonicMs() + MISSING_MS);
      else outcome = "found";
      return content;
    } catch (error) {
      outcome = "trouble";
      throw error instanceof UpstreamError ? this.#remember(wanted, source?.place.sync ?? "", error) : error;
    } finally {
      if (source !== undefined) metrics.pulled(wanted.kind, outcome);
    }
  }

  /** The source of the repo. Undefined when it has none or is not pulled through. */
  async #sourceOf(repo: string): Promise<PullSource | undefined> {
    const found = await this.#deps.transactor.read(mirrorCall(this.#deps), ({ tx }) => placeOf(tx, repo));
    if (found === undefined) return undefined;
    const { row, standIn } = found;
    if (standIn !== undefined && !standIn.disabled) return this.#standIns(standIn, repo);
    if (row === undefined) return undefined;
    const sync = row.sync_config ?? "";
    const source = this.#sources({ repo, sync, password: row.password, actor: row.actor });
    return source?.settings.pullThrough === true ? { ...source, place: { repo, sync } } : undefined;
  }

  /** Remembers the error for a while. Returns it as the client gets it. */
  #remember(wanted: Wanted, sync: string, error: UpstreamError): MoorageError {
    const { clock, log } = this.#deps;
    const retryAfterMs = Math.min(error.retryAfterMs ?? ERROR_MS, LONGEST_RETRY_AFTER_MS);
    const unavailable = new MoorageError(
      Code.Unavailable,
      `Unavailable: it is not here, and cannot be fetched: ${error.message}`,
      { retryAfterMs, cause: error },
    );
    const keys = keysOf(wanted, sync);
    // A wrong answer about one manifest or blob does not show that the others are wrong.
    const key = error.kind === "wrong" ? keys.content : keys.source;
    const forMs = error.kind === "limited" ? retryAfterMs : ERROR_MS;
    this.#errors.set(key, { error: unavailable, untilMs: clock.monotonicMs() + forMs });
    log.warn({ repo: wanted.repo, kind: wanted.kind, problem: error.message }, "fetching from a source failed");
    return unavailable;
  }
}

/** Where the repo's content is from: a mirrored repo, or one that a group's registry has. Undefined for any other. */
async function placeOf(
  tx: Database,
  repo: string,
): Promise<{ row: Source | undefined; standIn: StandIn | undefined } | undefined> {
  let found: { row: Source | undefined; standIn: StandIn | undefined } | undefined;
  await knownOwn(tx).remember(repo, async () => {
    const [row] = await selectSource(tx, repo);
    const standIn = row === undefined ? await originOf(tx, repo) : undefined;
    if (row === undefined && standIn === undefined) return true;
    found = { row, standIn };
    return undefined;
  });
  return found;
}

/** The keys of the source and of what is wanted from it. They hold the configuration: a changed source is a new one. */
function keysOf({ kind, repo, reference }: Wanted, sync: string): { source: string; content: string } {
  const source = `${repo} ${sync}`;
  return { source, content: `${source} ${kind} ${reference}` };
}
