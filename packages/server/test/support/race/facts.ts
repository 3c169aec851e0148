import type { Manifest } from "./content.ts";

// What one client knows of a repo from the answers to its requests. A request without an answer counts as done or not
// done, whichever is worse.

/** How long a repo retains what its tags pointed to. */
export type History = "ever" | "short";

/** A manifest that the client pushed, or tried to push. */
export interface Known {
  manifest: Manifest;
  /** Whether it must be stored: its push was acknowledged, and it has been needed since or its grace is not over. */
  sure: boolean;
  /** A lower bound of the time when its grace last began, in milliseconds on this client's clock. */
  touchedMs: number;
  /** Incremented whenever the manifest stops being needed, because its referrers may be collected then. */
  era: number;
  /** The subject's era at the last push. */
  subjectEra: number;
}

/** A tag was set to a digest; empty when it was deleted. Without `sure` the request was not answered. */
interface Move {
  digest: string;
  sure: boolean;
}

export interface RepoFacts {
  /** The image's path, with its organization. */
  path: string;
  history: History;
  known: Map<string, Known>;
  /**
   * Of each tag with this client as its only writer, oldest first; moves without influence on what is needed are left
   * out.
   */
  moves: Map<string, Move[]>;
  /** Digests that tags have pointed to and that were not deleted since; and digests that tags may have pointed to. */
  named: Set<string>;
  perhapsNamed: Set<string>;
}

export function newRepoFacts(path: string, history: History): RepoFacts {
  return { path, history, known: new Map(), moves: new Map(), named: new Set(), perhapsNamed: new Set() };
}

/** The digests that the tag may point to now; an empty one stands for a missing tag. */
export function mayPointTo(repo: RepoFacts, tag: string): Set<string> {
  const moves = repo.moves.get(tag) ?? [];
  const lastSure = moves.findLastIndex(({ sure }) => sure);
  return new Set([...(lastSure === -1 ? [""] : []), ...moves.slice(Math.max(0, lastSure)).map(({ digest }) => digest)]);
}

/** Manifests that must be stored in any case: those of tags and history, with all children and referrers of each. */
export function needed(repo: RepoFacts): Map<string, Known> {
  const found = new Map<string, Known>();
  const open = [
    ...repo.named,
    ...[...repo.moves.values()].flatMap((moves) =>
      repo.history === "ever" ? current(moves) : currentAndBefore(moves),
    ),
  ];
  const referrers = Map.groupBy(repo.known.values(), ({ manifest }) => manifest.subject);
  while (open.length > 0) {
    const digest = open.pop() ?? "";
    const known = repo.known.get(digest);
    if (known === undefined || !known.sure || found.has(digest)) continue;
    found.set(digest, known);
    open.push(...known.manifest.children.map((child) => child.digest));
    open.push(
      ...(referrers.get(digest) ?? [])
        .filter(({ subjectEra }) => subjectEra === known.era)
        .map(({ manifest }) => manifest.digest),
    );
  }
  return found;
}

function current(moves: readonly Move[]): string[] {
  const last = moves.at(-1);
  return last?.sure && last.digest !== "" ? [last.digest] : [];
}

// When the outcome of the last move is unknown, the digest before it is either current or the one to which a rollback
// returns: it is needed in both cases.
function currentAndBefore(moves: readonly Move[]): string[] {
  const [before, last] = [moves.at(-2), moves.at(-1)];
  if (last === undefined || last.digest === "") return [];
  return [...current(moves), ...(before?.sure && before.digest !== "" ? [before.digest] : [])];
}

/**
 * Digests that may stay stored, because a client may have tagged them or content that needs them. `repos`: what each
 * client knows of the same repo.
 */
export function perhapsNeeded(repos: readonly RepoFacts[]): Set<string> {
  const all = new Map(
    repos.flatMap(({ known }) => [...known].map(([digest, { manifest }]) => [digest, manifest] as const)),
  );
  const referrers = Map.groupBy(all.values(), ({ subject }) => subject);
  const open = repos.flatMap(({ perhapsNamed, history, moves }) => [
    ...(history === "ever" ? perhapsNamed : []),
    ...[...moves.values()].flatMap((each) => each.map(({ digest }) => digest)),
  ]);
  const found = new Set<string>();
  while (open.length > 0) {
    const digest = open.pop() ?? "";
    const manifest = all.get(digest);
    if (manifest === undefined || found.has(digest)) continue;
    found.add(digest);
    open.push(
      ...manifest.children.map((child) => child.digest),
      ...(referrers.get(digest) ?? []).map((referrer) => referrer.digest),
    );
    // A referrer that stays keeps its subject.
    if (manifest.subject !== "") open.push(manifest.subject);
  }
  return found;
}

export interface When {
  /** When the request was sent and answered, in milliseconds on this client's clock. */
  sentMs: number;
  doneMs: number;
  graceMs: number;
}

/** Changes the facts, and updates the manifests that are needed no longer or needed again. */
export function change(repo: RepoFacts, { sentMs, doneMs, graceMs }: When, edit: () => void): void {
  const before = needed(repo);
  edit();
  // A manifest that is needed again may have been collected if its grace was over.
  for (let late = true; late;) {
    late = false;
    for (const [digest, known] of needed(repo)) {
      if (before.has(digest) || doneMs - known.touchedMs < graceMs) continue;
      known.sure = false;
      late = true;
    }
  }
  const after = needed(repo);
  for (const [digest, known] of before) {
    if (after.has(digest)) continue;
    known.era += 1;
    known.touchedMs = Math.max(known.touchedMs, sentMs);
  }
}

/** Notes a push of the manifest; `sure`: it was acknowledged, so everything that it refers to is stored. */
export function notePush(repo: RepoFacts, manifest: Manifest, sentMs: number, sure: boolean): void {
  const { digest, subject } = manifest;
  const known = repo.known.get(digest) ?? { manifest, sure: false, touchedMs: sentMs, era: 0, subjectEra: -1 };
  repo.known.set(digest, known);
  if (!sure) return;
  known.sure = true;
  known.touchedMs = Math.max(known.touchedMs, sentMs);
  known.subjectEra = repo.known.get(subject)?.era ?? -1;
  for (const child of manifest.children) notePush(repo, child, sentMs, true);
}

export function noteMove(repo: RepoFacts, tag: string, digest: string, sure: boolean): void {
  const moves = repo.moves.get(tag) ?? [];
  const last = moves.at(-1) ?? { digest: "", sure: true };
  if (digest !== "") {
    repo.perhapsNamed.add(digest);
    if (sure && repo.history === "ever") repo.named.add(digest);
  }
  // Setting a tag to the same digest is not a move.
  if (!(last.sure && last.digest === digest)) moves.push({ digest, sure });
  repo.moves.set(tag, relevantMoves(moves));
}

/** Leaves out the moves before the last two digests that the tag certainly pointed to. */
function relevantMoves(moves: readonly Move[]): Move[] {
  const seen = new Set<string>();
  for (let at = moves.length - 1; at >= 0; at--) {
    const { digest, sure } = moves[at] ?? { digest: "", sure: false };
    if (sure && digest !== "") seen.add(digest);
    if (seen.size === 2) return moves.slice(at);
  }
  return [...moves];
}

/** Notes the digest that a pull of the tag found. Returns false when the tag cannot point to it. */
export function noteSeen(repo: RepoFacts, tag: string, digest: string): boolean {
  if (!mayPointTo(repo, tag).has(digest)) return false;
  const moves = repo.moves.get(tag) ?? [];
  const at = moves.findLastIndex((move) => move.digest === digest);
  if (at !== -1) moves.length = at;
  noteMove(repo, tag, digest, true);
  return true;
}

/** Notes a deletion by digest, which deletes the tags that point to it; without `sure` its outcome is unknown. */
export function noteDeletion(repo: RepoFacts, digest: string, sure: boolean): void {
  for (const tag of repo.moves.keys()) if (mayPointTo(repo, tag).has(digest)) noteMove(repo, tag, "", sure);
  repo.named.delete(digest);
  const known = repo.known.get(digest);
  if (known !== undefined) known.sure = false;
  // No other client pushes this content, and it is never pushed again.
  if (!sure) return;
  repo.known.delete(digest);
  repo.perhapsNamed.delete(digest);
}
