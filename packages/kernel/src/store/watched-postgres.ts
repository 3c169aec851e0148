import type { Pool, PoolClient } from "pg";
import type { Database } from "./store.ts";
import { setWatched, type WatchedRow } from "./watched-rows.ts";

// Triggers send each row as a notice, which comes before the end of its statement: nothing is stored, and nothing
// collides.

/** A row, and which of those that share the transaction has changed it; empty for one that is alone. */
export interface NotedRow extends WatchedRow {
  member: string;
}

const PREFIX = "moorage row ";
/** Says whose the next statements of the transaction are. */
export const NAME_MEMBER = "select set_config('moorage.member', ?, true)";

const CREATE_TRIGGERS = `do $do$
declare watched record;
begin
  perform pg_advisory_xact_lock(760214);
  if to_regproc('moorage_note_row') is not null then return; end if;
  create function moorage_note_row() returns trigger language plpgsql as $note$
    begin
      raise notice using message = '${PREFIX}' || jsonb_build_object(
        'table', tg_table_name,
        'change', case when tg_when = 'BEFORE' then 'proposed' else lower(tg_op) end,
        'key', to_jsonb(string_to_array(tg_argv[0], ',')),
        'member', coalesce(current_setting('moorage.member', true), ''),
        'before', case when tg_op <> 'INSERT' then to_jsonb(old) - string_to_array(tg_argv[1], ',') end,
        'after', case when tg_op <> 'DELETE' then to_jsonb(new) - string_to_array(tg_argv[1], ',') end)::text;
      if tg_op = 'DELETE' then return old; end if;
      return new;
    end $note$;
  for watched in
    select c.relname as name,
      coalesce((select string_agg(a.attname, ',' order by array_position(i.indkey::int2[], a.attnum))
        from pg_index as i join pg_attribute as a on a.attrelid = c.oid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary), '') as key,
      coalesce((select string_agg(a.attname, ',') from pg_attribute as a
        where a.attrelid = c.oid and a.atttypid = 'bytea'::regtype), '') as bytes
    from pg_class as c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
  loop
    execute format('create trigger watch_proposed before insert on %I for each row execute function moorage_note_row(%L, %L)',
      watched.name, watched.key, watched.bytes);
    execute format('create trigger watch_changed after insert or update or delete on %I for each row execute function moorage_note_row(%L, %L)',
      watched.name, watched.key, watched.bytes);
  end loop;
end $do$`;

/** Makes the triggers of all tables, unless they are there. Safe when several processes start concurrently. */
export async function createTriggers(pool: Pool): Promise<void> {
  await pool.query(CREATE_TRIGGERS);
}

const noted = new WeakMap<PoolClient, NotedRow[]>();

/** Begins to collect what a connection changes. */
export function watchClient(client: PoolClient): void {
  const rows: NotedRow[] = [];
  noted.set(client, rows);
  client.on("notice", ({ message }) => {
    if (message?.startsWith(PREFIX) === true) rows.push(JSON.parse(message.slice(PREFIX.length)) as NotedRow);
  });
}

/** What a connection has changed so far; undefined when it is not watched. */
export function notedBy(client: PoolClient): NotedRow[] | undefined {
  return noted.get(client);
}

/** Watches a transaction that has just begun. */
export async function watchTransaction(tx: Database): Promise<void> {
  await tx.getExecutor().provideConnection(async (connection) => {
    // One of postgres-dialect.ts.
    const { watched = [] } = connection as { watched?: NotedRow[] };
    watched.length = 0;
    setWatched(tx, () => watched.splice(0));
  });
}
