import { AuditDecision } from "@moorage/api";
import { sql } from "kysely";
import type { Database, Tables } from "../../../../kernel/src/store/index.ts";

/** The uids of an organization's resources by their numbers, which are the same in both. */
export type Numbers = ReadonlyMap<string, string>;

// The tables whose rows are of one organization, and the column that says so.
const TABLES: readonly [table: keyof Tables, column: string][] = [
  ["groups", "uid"],
  ["identities", "uid"],
  ["roles", "uid"],
  ["role_bindings", "uid"],
  ["group_invites", "uid"],
  ["identity_providers", "uid"],
  ["external_group_role_mappings", "uid"],
  ["account_associations", "uid"],
  ["terms_acceptances", "uid"],
  ["repos", "uid"],
  ["tags", "uid"],
  ["tag_history", "repo"],
  ["ancestry", "uid"],
  ["counters", "ancestor"],
  ["audit_entries", "parent"],
];

// What differs between two calls that do the same.
const RANDOM = new Set(["time", "code_hash", "key_id", "token_id", "request_id", "remote_address", "user_agent"]);

/**
 * All rows of the organization as lines of text, sorted. Uids are replaced by their numbers, times and random values
 * are left out, and of a secret it has only whether there is one.
 */
export async function rowsOf(reader: Database, organization: string, numbers: Numbers): Promise<string[]> {
  const lines: string[] = [];
  for (const [table, column] of TABLES) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}
      where ${sql.ref(column)} >= ${organization} and ${sql.ref(column)} < ${`${organization}0`}`.execute(reader);
    // Rejections are written later, and often repeated ones as one.
    for (const row of rows) if (row["decision"] !== AuditDecision.DENIED) lines.push(lineOf(table, row, numbers));
  }
  // Each event is in one of two tables; when it moves depends on the time.
  const columns = sql`type, subject, parent, target, actor, body`;
  const isOwn = sql`subject >= ${organization} and subject < ${`${organization}0`}`;
  const { rows: events } = await sql<Record<string, unknown>>`select ${columns} from event_outbox where ${isOwn}
    union all select ${columns} from events where ${isOwn}`.execute(reader);
  for (const event of events) lines.push(lineOf("events", event, numbers));
  return lines.toSorted();
}

function lineOf(table: string, row: Record<string, unknown>, numbers: Numbers): string {
  const kept: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    if (RANDOM.has(column) || column.endsWith("_time")) continue;
    kept[column] = column === "client_secret" ? value !== "" : value;
  }
  const lifetime = Number(row["expiration_time"] ?? 0) - Number(row["create_time"] ?? 0);
  return `${table} ${plain(JSON.stringify({ ...kept, ...(table === "group_invites" && { lifetime }) }), numbers)}`;
}

const UID = /(?<![0-9a-f:])[0-9a-f]{40}(?:\/[0-9a-f]{16})*(?![0-9a-f])/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const KEY_ID = /(keyId\\":\\")[0-9a-f]{8}/g;

function plain(line: string, numbers: Numbers): string {
  return line
    .replaceAll(UID, (uid) => numberOf(uid, numbers))
    .replaceAll(TIME, "time")
    .replaceAll(KEY_ID, "$1");
}

/** The number of a uid; of one that no answer had, that of what it is below. */
function numberOf(uid: string, numbers: Numbers): string {
  const known = numbers.get(uid);
  if (known !== undefined || !uid.includes("/")) return known ?? uid;
  return `${numberOf(uid.slice(0, uid.lastIndexOf("/")), numbers)}/unknown`;
}
