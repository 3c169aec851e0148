import type { Database } from "./store.ts";
import { areDeclarable, areUncached } from "./uncached-tables.ts";

// What commits changed, so that a value which was kept falls by what it was made from (ADR 32). A commit is counted by
// the number in the file's header (sqlite.ts). One whose commands have all declared what they change leaves a row in
// change_keys for each key, or one with an empty key; a commit without any row may have changed everything. On
// PostgreSQL (change-log.ts) that one leaves a row that says so.

/** What a command changes of what kept values are made from. */
export type ChangeKeys = readonly string[];

// Of more, everything falls: looking for them would take longer.
const MAX_KEYS_OF_COMMIT = 200;
export const MAX_KNOWN_KEYS = 10_000;
/** On PostgreSQL the key of a commit that may have changed everything. */
export const EVERYTHING = "*";
/** How many commits a connection that reads looks back; rows are kept for longer. */
const MAX_COMMITS = 1_000;
/** Rows of as many commits are kept, and removed once in a while. */
export const KEPT_COMMITS = 2_048;
export const REMOVED_EVERY = 256;

export const INSERT_KEY = "insert into change_keys (number, key) values (?, ?)";
export const DELETE_KEYS = "delete from change_keys where number <= ?";
export const SELECT_KEYS = "select number, key from change_keys where number > ? and number <= ?";

/** What the open transaction of a writing connection has changed so far. */
export interface PendingChanges {
  /** Notes a statement that was run. `tables`: those whose rows it may change; undefined when they are not known. */
  note(tables: ReadonlySet<string> | undefined): void;
  /**
   * Says what was changed in declarable tables since the last call, or since the transaction began; undefined for
   * everything, which it is as well when nobody says it.
   */
  declare(keys: ChangeKeys | undefined): void;
  /** Whether anything was changed but uncached tables. */
  any(): boolean;
  /** The keys of all that was changed; undefined for everything. */
  keys(): ChangeKeys | undefined;
  /** Remembers the state, for `back`. */
  mark(): void;
  /** Forgets what was noted since the mark. */
  back(): void;
  /** Forgets all. */
  clear(): void;
}

interface State {
  any: boolean;
  everything: boolean;
  isUndeclared: boolean;
  keys: readonly string[];
}

const NOTHING: State = { any: false, everything: false, isUndeclared: false, keys: [] };

export function pendingChanges(): PendingChanges {
  let state = NOTHING;
  let marked = NOTHING;
  return {
    note(tables) {
      if (areUncached(tables)) return;
      state = areDeclarable(tables)
        ? { ...state, any: true, isUndeclared: true }
        : { ...state, any: true, everything: true };
    },
    declare(keys) {
      if (!state.isUndeclared) return;
      const all = keys === undefined ? [] : [...new Set([...state.keys, ...keys])];
      const isTooMuch = keys === undefined || all.length > MAX_KEYS_OF_COMMIT;
      state = { ...state, isUndeclared: false, keys: all, everything: state.everything || isTooMuch };
    },
    any: () => state.any,
    keys: () => (state.everything || state.isUndeclared ? undefined : state.keys),
    mark: () => void (marked = state),
    back: () => void (state = marked),
    clear: () => void (state = marked = NOTHING),
  };
}

/** The keys of a transaction on PostgreSQL by what its members have changed; none when it changed nothing. */
export function keysOfAll(members: readonly PendingChanges[]): readonly string[] {
  const changes = members.filter((each) => each.any()).map((each) => each.keys());
  if (changes.length === 0) return [];
  const keys = new Set(changes.flatMap((each) => each ?? [EVERYTHING]));
  if (keys.has(EVERYTHING) || keys.size > MAX_KEYS_OF_COMMIT) return [EVERYTHING];
  return keys.size === 0 ? [""] : [...keys];
}

const pendingOf = new WeakMap<Database, PendingChanges>();

/** Has what is declared in a transaction on PostgreSQL, or by one of those that share it, noted in `pending`. */
export function setPending(tx: Database, pending: PendingChanges): void {
  pendingOf.set(tx, pending);
}

/**
 * Says what has been changed in declarable tables since the last call in a transaction on PostgreSQL; undefined for
 * everything. Does nothing on SQLite, where group-commit.ts says it.
 */
export function declareChanges(tx: Database, keysOf: () => ChangeKeys | undefined): void {
  const pending = pendingOf.get(tx);
  if (pending?.any() === true) pending.declare(keysOf());
}

/** What a connection that reads has seen of other connections' commits. */
export interface SeenChanges {
  /**
   * Whether nothing has changed since commit `since` of what a value with these keys was made from, up to commit
   * `newest`.
   */
  holds(newest: number, since: number, keys: ChangeKeys): boolean;
}

/**
 * Looks from commit `first` on. `rowsOf`: the rows of change_keys of the commits after the first and up to the second,
 * in any order.
 */
export function seenChanges(
  first: number,
  rowsOf: (after: number, upTo: number) => (readonly [number, string])[],
): SeenChanges {
  let seen = first;
  // The last commit that may have changed everything, and the last one that changed each key.
  let everything = first;
  const changed = new Map<string, number>();
  const forget = (newest: number): void => {
    everything = newest;
    changed.clear();
  };
  const look = (newest: number): void => {
    const after = seen;
    seen = newest;
    if (newest < after || newest - after > MAX_COMMITS) return forget(newest);
    const rows = rowsOf(after, newest);
    if (new Set(rows.map(([number]) => number)).size !== newest - after) return forget(newest);
    for (const [number, key] of rows) if (key !== "") changed.set(key, Math.max(number, changed.get(key) ?? 0));
    if (changed.size > MAX_KNOWN_KEYS) forget(newest);
  };
  return {
    holds(newest, since, keys) {
      if (newest !== seen) look(newest);
      return since >= everything && keys.every((key) => (changed.get(key) ?? since) <= since);
    },
  };
}
