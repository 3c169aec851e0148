import type { Manifest } from "./content.ts";

// What one client knows of a repo from the answers to its requests. A request without an answer counts as done or not
// done, whichever is worse.

/** How long a repo retains what its tags pointed to. */
export type History = "ever" | "short";

/** A manifest that the client pushed, or tried to push. */
export interface Known {
  manifest: Manifest;
  /** It is there: it was acknowledged, and has been needed since, or its grace is not over. */
  sure: boolean;
  /** Not later than when its grace last began. */
  touchedMs: number;
  /** Grows whenever it is needed no longer: what was its referrer before may have gone. */
  era: number;
  /** The subject's era at the last push. */
  subjectEra: number;
}

/** A tag came to point to a digest; empty: it was deleted. Not sure: perhaps it did. */
export interface Move {
  digest: string;
  sure: boolean;
}

export interface Shelf {
  /** The image's path, with its organization. */
  path: string;
  history: History;
  known: Map<string, Known>;
  /**
   * Of each tag with this client as its only writer, oldest first; moves without influence on what is needed are left
   * out.
   */
  moves: Map<string, Move[]>;
  /** What tags have pointed to and nobody deleted since; and what they may have pointed to. */
  named: Set<string>;
  perhapsNamed: Set<string>;
}

export function newShelf(path: string, history: History): Shelf {
  return { path, history, known: new Map(), moves: new Map(), named: new Set(), perhapsNamed: new Set() };
}

/** All that the tag may point to now; empty: there is no such tag. */
export function mayPointTo(shelf: Shelf, tag: string): Set<string> {
  const moves = shelf.moves.get(tag) ?? [];
  const lastSure = moves.findLastIndex(({ sure }) => sure);
  return new Set([...(lastSure === -1 ? [""] : []), ...moves.slice(Math.max(0, lastSure)).map(({ digest }) => digest)]);
}

/** What must be there, whatever else happens: from tags and history down to all children, and the referrers of each. */
export function needed(shelf: Shelf): Map<string, Known> {
  const found = new Map<string, Known>();
  const open = [
    ...shelf.named,
    ...[...shelf.moves.values()].flatMap((moves) =>
      shelf.history === "ever" ? current(moves) : currentAndBefore(moves),
    ),
  ];
  const referrers = Map.groupBy(shelf.known.values(), ({ manifest }) => manifest.subject);
  while (open.length > 0) {
    const digest = open.pop() ?? "";
    const known = shelf.known.get(digest);
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

// With a last move that may or may not have been done, the one before it is either what the tag points to or what it
// goes back to.
function currentAndBefore(moves: readonly Move[]): string[] {
  const [before, last] = [moves.at(-2), moves.at(-1)];
  if (last === undefined || last.digest === "") return [];
  return [...current(moves), ...(before?.sure && before.digest !== "" ? [before.digest] : [])];
}

/** What may be there for ever: from all that clients may have given a reason to stay. All shelves are of one repo. */
export function perhapsNeeded(shelves: readonly Shelf[]): Set<string> {
  const all = new Map(
    shelves.flatMap(({ known }) => [...known].map(([digest, { manifest }]) => [digest, manifest] as const)),
  );
  const referrers = Map.groupBy(all.values(), ({ subject }) => subject);
  const open = shelves.flatMap(({ perhapsNamed, history, moves }) => [
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
    // A referrer that stays is of no use without its subject.
    if (manifest.subject !== "") open.push(manifest.subject);
  }
  return found;
}

export interface When {
  /** When the request began and when its answer came, in milliseconds on this client's clock. */
  sentMs: number;
  doneMs: number;
  graceMs: number;
}

/** Changes what is known, and follows what that does to what is needed. */
export function change(shelf: Shelf, { sentMs, doneMs, graceMs }: When, edit: () => void): void {
  const before = needed(shelf);
  edit();
  // What is needed again is there only if it was not away too long.
  for (let late = true; late;) {
    late = false;
    for (const [digest, known] of needed(shelf)) {
      if (before.has(digest) || doneMs - known.touchedMs < graceMs) continue;
      known.sure = false;
      late = true;
    }
  }
  const after = needed(shelf);
  for (const [digest, known] of before) {
    if (after.has(digest)) continue;
    known.era += 1;
    known.touchedMs = Math.max(known.touchedMs, sentMs);
  }
}

/** A push of the manifest; `sure`: it was acknowledged, so all that it refers to is there. */
export function notePush(shelf: Shelf, manifest: Manifest, sentMs: number, sure: boolean): void {
  const { digest, subject } = manifest;
  const known = shelf.known.get(digest) ?? { manifest, sure: false, touchedMs: sentMs, era: 0, subjectEra: -1 };
  shelf.known.set(digest, known);
  if (!sure) return;
  known.sure = true;
  known.touchedMs = Math.max(known.touchedMs, sentMs);
  known.subjectEra = shelf.known.get(subject)?.era ?? -1;
  for (const child of manifest.children) notePush(shelf, child, sentMs, true);
}

export function noteMove(shelf: Shelf, tag: string, digest: string, sure: boolean): void {
  const moves = shelf.moves.get(tag) ?? [];
  const last = moves.at(-1) ?? { digest: "", sure: true };
  if (digest !== "") {
    shelf.perhapsNamed.add(digest);
    if (sure && shelf.history === "ever") shelf.named.add(digest);
  }
  // The same digest again is no move.
  if (!(last.sure && last.digest === digest)) moves.push({ digest, sure });
  shelf.moves.set(tag, telling(moves));
}

/** Leaves out what lies before the last two digests that the tag surely pointed to. */
function telling(moves: readonly Move[]): Move[] {
  const seen = new Set<string>();
  for (let at = moves.length - 1; at >= 0; at--) {
    const { digest, sure } = moves[at] ?? { digest: "", sure: false };
    if (sure && digest !== "") seen.add(digest);
    if (seen.size === 2) return moves.slice(at);
  }
  return [...moves];
}

/** The tag was seen to point to this. False: it may not. */
export function noteSeen(shelf: Shelf, tag: string, digest: string): boolean {
  if (!mayPointTo(shelf, tag).has(digest)) return false;
  const moves = shelf.moves.get(tag) ?? [];
  const at = moves.findLastIndex((move) => move.digest === digest);
  if (at !== -1) moves.length = at;
  noteMove(shelf, tag, digest, true);
  return true;
}

/** The manifest was deleted by its digest, and with it the tags that pointed to it. Not sure: perhaps. */
export function noteDeletion(shelf: Shelf, digest: string, sure: boolean): void {
  for (const tag of shelf.moves.keys()) if (mayPointTo(shelf, tag).has(digest)) noteMove(shelf, tag, "", sure);
  shelf.named.delete(digest);
  const known = shelf.known.get(digest);
  if (known !== undefined) known.sure = false;
  // Its content is this client's alone and is never pushed again.
  if (!sure) return;
  shelf.known.delete(digest);
  shelf.perhapsNamed.delete(digest);
}
