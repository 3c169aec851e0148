import { sql } from "kysely";
import { AuditDecision } from "@moorage/api";
import { type Database, select } from "../../../kernel/src/store/index.ts";
import { ENGINE } from "./database.ts";
import { STATE } from "./deliveries.ts";

type Row = Record<string, unknown>;

// What running processes write by themselves.
const OTHERS: ReadonlySet<string> = new Set([
  "subscription_leases",
  "event_numbers",
  "matching",
  "processes",
  "pull_notes",
  "pull_counters",
  "pull_coverage",
  "pull_days",
  "last_pulls",
  "download_counters",
  "download_coverage",
  "download_days",
  "last_downloads",
  "schema_version",
  "sqlite_sequence",
]);
const OTHER_COLUMNS: ReadonlySet<string> = new Set(["last_seen_time", "last_use_time", "last_pull_time"]);
const EVENT_TABLES = ["event_outbox", "events"];

/** All rows of all tables as lines of text, by table, but for what a server without any call writes as well. */
export async function allRows(reader: Database): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const table of await tablesOf(reader)) {
    if (OTHERS.has(table)) continue;
    const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(reader);
    // Each event is in one of two tables; when it moves depends on the time.
    const name = EVENT_TABLES.includes(table) ? "events" : table;
    const lines = rows.filter(isOfCall).map((row) => lineOf(table, row));
    found.set(name, [...(found.get(name) ?? []), ...lines].toSorted());
  }
  return found;
}

/** Rejections are written later. */
function isOfCall({ key, decision }: Row): boolean {
  return !String(key).startsWith("lease:") && decision !== AuditDecision.DENIED;
}

async function tablesOf(reader: Database): Promise<string[]> {
  const text =
    ENGINE === "sqlite"
      ? "select name from sqlite_master where type = 'table'"
      : "select table_name as name from information_schema.tables where table_schema = current_schema()";
  return (await select<{ name: string }>(reader, text, [])).map(({ name }) => name);
}

function lineOf(table: string, row: Row): string {
  if (EVENT_TABLES.includes(table)) return JSON.stringify([row["id"], row["type"], row["subject"], row["body"]]);
  // Those that are due are attempted meanwhile.
  if (table === "deliveries" && row["state"] !== STATE.delivered) return String(row["uid"]);
  // The same of registries that are followed.
  if (table === "upstream_follows") return JSON.stringify(row["upstream"]);
  // Those that are due are copied meanwhile.
  if (table === "mirrors") return JSON.stringify([row["repo"], row["actor"], row["password"]]);
  return JSON.stringify(
    Object.entries(row).map(([column, value]) => [
      column,
      OTHER_COLUMNS.has(column) ? 0 : value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
    ]),
  );
}
