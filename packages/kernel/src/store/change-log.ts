import type { Pool, PoolClient } from "pg";
import { arrivedAtMs } from "../lib/arrival.ts";
import type { Awaitable } from "../lib/awaitable.ts";
import { type ChangeKeys, EVERYTHING, MAX_KNOWN_KEYS } from "./change-keys.ts";
import type { Database } from "./store.ts";
import { UNCACHED_TABLES } from "./uncached-tables.ts";

// What commits changed on PostgreSQL (ADR 32). Each transaction leaves its rows in change_keys under its own id, in the
// packet of its commit. A process that reads remembers the snapshot that it last looked from; what it has not seen are
// the rows of transactions that were not visible in that one and are now. Numbers in the order of commits would have to
// be given out one at a time, and writers would wait for each other.

/**
 * A setting of a session: its transactions say themselves what they change. For all others, such as statements by hand,
 * a trigger of each table says that everything may have changed.
 */
export const DECLARES_CHANGES = "moorage.declares_changes";

/** Leaves the rows of a transaction, before its commit. */
export const NOTE_CHANGES =
  "insert into change_keys (number, key) select pg_current_xact_id()::text::bigint, key from unnest($1::text[]) as key on conflict do nothing";

// Rows are kept for as many numbers of transactions. Who has not looked for longer begins anew, so it does not matter
// which of them were there. Numbers that were not given out yet are of another server, whose copy this database is.
const KEPT_NUMBERS = 20_000;
const REMOVE_OLD = `delete from change_keys
  where number < pg_snapshot_xmax(pg_current_snapshot())::text::bigint - ${KEPT_NUMBERS}
    or number >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint`;
const REMOVED_EVERY = 256;

// How long one look is enough for a request that arrived before it: what a request asks for in streams and after
// waiting is looked for again.
const FRESH_MS = 100;
// Of more, everything falls.
const MAX_ROWS = 1_000;
// While nobody writes a snapshot is the same text, which is all that a look reads.
const LOOK = { name: "look", text: "select pg_current_snapshot()::text, pg_backend_pid()", rowMode: "array" as const };
/** After as many looks that found the same snapshot, the next ones read no rows until they find another. */
const SAME_LOOKS = 16;
// What was not visible in a snapshot are those that were running then, and those that got their number since. One that
// runs for long costs a look nothing: rows that were seen are not read again.
const READ_CHANGES = {
  name: "read changes",
  text: `select pg_current_snapshot()::text, pg_backend_pid(), array(
      select key from change_keys where number >= pg_snapshot_xmax($1::pg_snapshot)::text::bigint
      union all
      select key from pg_snapshot_xip($1::pg_snapshot) as running
        cross join lateral (select key from change_keys where number = running::text::bigint offset 0) as found
      limit ${MAX_ROWS + 1})`,
  rowMode: "array" as const,
};

/** What a process has seen of commits on PostgreSQL. */
export interface ChangeLog {
  /**
   * The state of the database: a number that grows whenever a look finds changes of other than uncached tables. It
   * covers all that was committed when it was asked for, or in a request when that arrived, and what this process has
   * committed. Undefined when the database could not be asked.
   */
  look(): Awaitable<number | undefined>;
  /** Called after a commit of this process: a look before it no longer counts. */
  committed(): void;
  /**
   * Whether nothing is known to have changed since that state of what a value with these keys was made from; undefined
   * for a value that any change ends. To be called after a look.
   */
  holds(since: number, keys: ChangeKeys | undefined): boolean;
}

const logs = new WeakMap<Database, ChangeLog>();

/** Has caches of values that are read from this database look for changes in the log. */
export function setChangeLog(db: Database, log: ChangeLog): void {
  logs.set(db, log);
}

/** The log of a database that only reads on PostgreSQL. */
export function changeLogOf(db: Database): ChangeLog | undefined {
  return logs.get(db);
}

/** What a look found. */
interface Seen {
  /** The connection, by which numbers of transactions are those of one server that was never put back. */
  client: PoolClient;
  /** The server's process behind it. */
  backend: number;
  snapshot: string;
  /** How many looks have found the same one since another was found. */
  same: number;
}

/**
 * Looks through `pool`, which has one connection. All who ask while a look is under way share the next one: a look
 * under way may have begun before something that they must see.
 */
export function createChangeLog(pool: Pool): ChangeLog {
  let version = 1;
  // The last state that may have changed everything, and the last one that changed each key.
  let everything = version;
  const changed = new Map<string, number>();
  let seen: Seen | undefined;
  let waiting: ((version: number | undefined) => void)[] = [];
  let isBusy = false;
  // When the last look that has succeeded began. One that was under way during a commit of this process does not count.
  let lookedMs = -Infinity;
  let commits = 0;

  const apply = (keys: readonly string[] | undefined): void => {
    version += 1;
    for (const key of keys ?? []) if (key !== "") changed.set(key, version);
    if (keys !== undefined && keys.length <= MAX_ROWS && !keys.includes(EVERYTHING) && changed.size <= MAX_KNOWN_KEYS)
      return;
    everything = version;
    changed.clear();
  };
  const read = async (client: PoolClient, before: Seen | undefined): Promise<Seen> => {
    // Where somebody writes, the next look may find something as well.
    if (before === undefined || before.same >= SAME_LOOKS) {
      const { rows } = await client.query<[string, number]>(LOOK);
      const [[snapshot, backend] = ["", 0]] = rows;
      if (backend !== before?.backend) {
        apply(undefined);
        return { client, backend, snapshot, same: 0 };
      }
      if (snapshot === before.snapshot) return before;
    }
    const { rows } = await client.query<[string, number, string[]]>({
      ...READ_CHANGES,
      values: [before.snapshot],
    });
    const [[snapshot, backend, keys] = ["", 0, []]] = rows;
    if (backend !== before.backend || isBehind(before.snapshot, snapshot)) apply(undefined);
    else if (keys.length > 0) apply(keys);
    return { client, backend, snapshot, same: snapshot === before.snapshot ? before.same + 1 : 0 };
  };
  const ask = async (): Promise<void> => {
    const before = seen;
    seen = undefined;
    const client = await pool.connect();
    let failure: unknown;
    try {
      seen = await read(client, before?.client === client ? before : undefined);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      client.release(failure !== undefined);
    }
  };
  const look = async (): Promise<void> => {
    const callers = waiting;
    waiting = [];
    const [beganMs, before] = [performance.now(), commits];
    let found: number | undefined;
    try {
      await ask();
      found = version;
      if (commits === before) lookedMs = beganMs;
    } catch {
      // Whoever asked reads from the database instead, and answers with its error.
      apply(undefined);
      lookedMs = -Infinity;
    }
    isBusy = false;
    if (waiting.length > 0) lookSoon();
    for (const answer of callers) answer(found);
  };
  const lookSoon = (): void => {
    isBusy = true;
    setImmediate(() => void look());
  };
  return {
    look() {
      const arrivedMs = arrivedAtMs();
      if (arrivedMs !== undefined && lookedMs > arrivedMs && performance.now() - lookedMs < FRESH_MS) return version;
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (!isBusy) lookSoon();
      });
    },
    committed() {
      commits += 1;
      lookedMs = -Infinity;
    },
    holds: (since, keys) =>
      keys === undefined
        ? since === version
        : since >= everything && keys.every((key) => (changed.get(key) ?? since) <= since),
  };
}

/** Whether rows that the one snapshot has not seen may have been removed until the other. */
function isBehind(before: string, now: string): boolean {
  const [seen, current] = [numbersIn(before), numbersIn(now)];
  const kept = current.next - KEPT_NUMBERS;
  return seen.next <= kept || seen.running.some((number) => number <= kept && !current.running.includes(number));
}

/** The number that comes next, and those of the transactions that are running. Source: the text form of pg_snapshot. */
function numbersIn(snapshot: string): { next: number; running: number[] } {
  const [, next, running = ""] = snapshot.split(":");
  return { next: Number(next), running: running === "" ? [] : running.split(",").map(Number) };
}

/** Counts transactions that leave rows, and removes old rows now and then. Failures are given to `onFailure`. */
export function oldChangesRemover(pool: Pool, onFailure: (error: Error) => void): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count % REMOVED_EVERY !== 0) return;
    pool.query(REMOVE_OLD).catch(onFailure);
  };
}

/**
 * Has the trigger made for each table of the schema that has none; uncached tables need none. Everything may have
 * changed by what a migration did before.
 */
export const NOTE_HAND_MADE_CHANGES = `do $do$
declare changed record;
begin
  execute format($body$
    create or replace function moorage_note_change() returns trigger language plpgsql
    security definer set search_path = %1$I, pg_temp as $note$
    begin
      insert into change_keys (number, key) values (pg_current_xact_id()::text::bigint, '${EVERYTHING}') on conflict do nothing;
      return null;
    end $note$ $body$, current_schema());
  for changed in
    select c.oid, c.relname as name from pg_class as c
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and c.relname not in (${["change_keys", "schema_version", ...UNCACHED_TABLES].map((name) => `'${name}'`).join(", ")})
      and not exists (select from pg_trigger as t where t.tgrelid = c.oid and t.tgname = 'note_change')
  loop
    execute format('create trigger note_change after insert or update or delete or truncate on %I for each statement when (current_setting(''${DECLARES_CHANGES}'', true) is distinct from ''on'') execute function moorage_note_change()', changed.name);
  end loop;
  insert into change_keys (number, key) values (pg_current_xact_id()::text::bigint, '${EVERYTHING}') on conflict do nothing;
end $do$`;
