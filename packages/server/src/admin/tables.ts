import { CompiledQuery, type Kysely } from "kysely";
import type { Database, Row, Tables } from "../store/index.ts";

/** A table that an export contains. */
export interface ExportedTable {
  name: keyof Tables;
  /** The columns of the primary key; rows are read in its order. */
  key: readonly string[];
  /** Columns of bytes. */
  bytes?: readonly string[];
  /**
   * A condition for the rows that belong to the installation; the others belong to running processes. Defaults to all
   * rows.
   */
  only?: string;
  /** An expression for the minimum size of a row in bytes, for tables whose rows may be large. */
  weight?: string;
}

export type PlainRow = Record<string, unknown>;

/**
 * All tables but `uploads`, `subscription_leases`, `upstream_fetches` and `processes`, whose rows are of running
 * servers.
 */
export const EXPORTED_TABLES: readonly ExportedTable[] = [
  { name: "blobs", key: ["digest"] },
  { name: "installation", key: ["key"], only: "key not like 'lease:%' and key <> 'import'" },
  { name: "signing_keys", key: ["kid"] },
  { name: "refresh_tokens", key: ["hash"] },
  { name: "groups", key: ["uid"] },
  { name: "freed_names", key: ["name"] },
  { name: "identities", key: ["uid"], weight: "length(relationship) + length(description)" },
  { name: "roles", key: ["uid"] },
  { name: "role_bindings", key: ["uid"] },
  { name: "group_invites", key: ["uid"] },
  { name: "invite_acceptances", key: ["invite", "identity"] },
  { name: "revoked_invites", key: ["code_hash"] },
  { name: "terms_acceptances", key: ["uid"] },
  { name: "account_associations", key: ["uid"] },
  { name: "identity_providers", key: ["uid"] },
  { name: "external_group_role_mappings", key: ["uid"] },
  { name: "sign_ins", key: ["hash"] },
  { name: "authorization_codes", key: ["hash"] },
  { name: "device_codes", key: ["hash"] },
  { name: "sessions", key: ["hash"] },
  { name: "sign_in_links", key: ["hash"] },
  { name: "sign_in_groups", key: ["uid"], weight: "length(external_groups)" },
  { name: "audit_entries", key: ["uid"] },
  { name: "repos", key: ["uid"], weight: "length(readme) + length(description) + length(active_tags)" },
  { name: "tags", key: ["uid"] },
  { name: "tag_history", key: ["repo", "tag", "time"] },
  { name: "gate_events", key: ["repo", "digest", "action"] },
  { name: "repo_blobs", key: ["repo", "digest"] },
  { name: "manifests", key: ["repo", "digest"], bytes: ["content"], weight: "size + length(annotations)" },
  { name: "manifest_references", key: ["repo", "digest", "target"] },
  { name: "mirrors", key: ["repo"] },
  { name: "pull_notes", key: ["id"], weight: "length(pulls)" },
  { name: "event_outbox", key: ["n"], weight: "length(body) + length(actor)" },
  { name: "events", key: ["seq"], weight: "length(body) + length(actor)" },
  { name: "event_numbers", key: ["subject"] },
  { name: "subscriptions", key: ["uid"] },
  { name: "deliveries", key: ["uid"] },
  { name: "advisories", key: ["uid"], weight: "length(severities) + length(component_location)" },
  { name: "advisory_events", key: ["uid"], weight: "length(content) + length(findings)" },
  { name: "advisory_aliases", key: ["advisory", "alias"] },
  { name: "advisory_suffixes", key: ["organization", "suffix", "advisory"] },
  { name: "advisory_decisions", key: ["advisory", "from_time"], weight: "length(content)" },
  { name: "advisory_decision_ids", key: ["parent", "alias", "advisory", "from_time"] },
  { name: "image_catalogs", key: ["digest"], weight: "length(unread) + length(reason)" },
  { name: "packages", key: ["id"] },
  { name: "package_keys", key: ["key", "package"] },
  { name: "package_findings", key: ["package", "feed", "record", "opened", "change"] },
  { name: "finding_causes", key: ["id"] },
  { name: "finding_checks", key: ["digest", "repo"] },
  { name: "finding_notices", key: ["repo", "digest"], weight: "length(open)" },
  { name: "matching", key: ["name"] },
  { name: "image_packages", key: ["digest", "source", "n"] },
  { name: "image_archives", key: ["digest", "source", "n"], weight: "length(clues)" },
  { name: "image_archive_names", key: ["artifact", "digest", "source", "n"] },
  { name: "attachment_checks", key: ["id"] },
  { name: "attachments", key: ["repo", "subject", "manifest", "from_time"] },
  { name: "attached_readings", key: ["subject", "manifest"], weight: "length(reason)" },
  { name: "attached_documents", key: ["subject", "manifest", "n"], weight: "length(reason)" },
  {
    name: "attached_statements",
    key: ["subject", "manifest", "n", "i"],
    weight: "length(ids) + length(impact) + length(product)",
  },
  { name: "attached_refs", key: ["subject", "manifest", "n", "ref"], weight: "length(purl)" },
  {
    name: "attached_passed_over",
    key: ["subject", "manifest", "n", "i"],
    weight: "length(ids) + length(product) + length(reason)",
  },
  { name: "scanners", key: ["uid"], weight: "length(description) + coalesce(length(adapter), 0)" },
  { name: "scans", key: ["uid"], weight: "length(reason)" },
  { name: "scan_reports", key: ["scan"], bytes: ["content"], weight: "length(content)" },
  { name: "feeds", key: ["name"] },
  { name: "feed_records", key: ["feed", "id"], weight: "length(body)" },
  { name: "feed_keys", key: ["kind", "key", "feed", "record"] },
  { name: "feed_statements", key: ["feed", "record", "n"], weight: "length(ids) + length(impact) + length(product)" },
  { name: "feed_statement_keys", key: ["key", "vulnerability", "feed", "record", "n"] },
  { name: "feed_problems", key: ["feed", "n"] },
  { name: "feed_unmatched", key: ["feed", "n"], weight: "length(ids) + length(product)" },
  { name: "feed_changes", key: ["name"] },
  { name: "artifacts", key: ["uid"], weight: "length(description) + length(state)" },
  { name: "artifact_words", key: ["organization", "ecosystem", "word", "artifact"] },
  { name: "artifact_versions", key: ["uid"], weight: "length(description) + length(metadata)" },
  { name: "artifact_files", key: ["artifact", "name"], weight: "length(metadata)" },
  { name: "removed_versions", key: ["parent", "ecosystem", "name", "version"] },
  {
    name: "upstreams",
    key: ["uid"],
    weight: "length(description) + length(reserved_names) + length(merged_names)",
  },
  { name: "upstream_documents", key: ["upstream", "name"], bytes: ["content"], weight: "length(content)" },
  {
    name: "artifact_policies",
    key: ["uid"],
    weight:
      "length(description) + length(blocked_purls) + length(allowed_purls) + length(allowed_licenses) + length(denied_licenses)",
  },
  { name: "artifact_blocks", key: ["uid"], weight: "length(detail)" },
  { name: "ancestry", key: ["kind", "ancestor", "name", "uid"] },
  { name: "counters", key: ["kind", "ancestor"] },
];

const BATCH_ROWS = 1000;
const BATCH_BYTES = 8 << 20;

/** Runs a statement with question marks for its parameters, whatever the engine. */
export async function ask<R>(db: Database, text: string, parameters: readonly unknown[] = []): Promise<R[]> {
  return (await db.executeQuery<R>(CompiledQuery.raw(text, [...parameters]))).rows;
}

/** The rows of one table, as `batchesOf` reads them. */
export async function* rowsOf<T extends keyof Tables>(db: Database, name: T): AsyncGenerator<Row<T>[]> {
  // A `select *` of the table gives its rows.
  for await (const batch of batchesOf(db, exportedTable(name))) yield batch as unknown as Row<T>[];
}

export function exportedTable(name: keyof Tables): ExportedTable {
  const found = EXPORTED_TABLES.find((table) => table.name === name);
  if (found === undefined) throw new Error(`the table ${name} is not exported`);
  return found;
}

/** The rows of a table in the order of its key, in batches of bounded size. */
export async function* batchesOf(db: Database, table: ExportedTable): AsyncGenerator<PlainRow[]> {
  const { name, key, weight } = table;
  const keys = key.join(", ");
  const where = (extra: string[]): string => {
    const conditions = [...(table.only === undefined ? [] : [table.only]), ...extra];
    return conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
  };
  const compare = (sign: string): string => `(${keys}) ${sign} (${key.map(() => "?").join(", ")})`;
  const keyOf = (row: PlainRow): unknown[] => key.map((column) => row[column]);
  let after: unknown[] = [];
  for (;;) {
    const from = after.length === 0 ? [] : [compare(">")];
    let to: unknown[] = [];
    if (weight !== undefined) {
      // The sizes are read first: a thousand of the largest rows would not fit in memory.
      const weighed = await ask<PlainRow & { weight: number }>(
        db,
        `select ${keys}, ${weight} as weight from ${name}${where(from)} order by ${keys} limit ${BATCH_ROWS}`,
        after,
      );
      let bytes = 0;
      const cut = weighed.findIndex((row) => (bytes += row.weight) >= BATCH_BYTES);
      const last = weighed[cut < 0 ? weighed.length - 1 : cut];
      if (last === undefined) return;
      to = keyOf(last);
    }
    const until = to.length === 0 ? [] : [compare("<=")];
    const rows = await ask<PlainRow>(
      db,
      `select * from ${name}${where([...from, ...until])} order by ${keys} limit ${BATCH_ROWS}`,
      [...after, ...to],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = keyOf(last);
  }
}

/** The number of rows that an export contains. */
export async function countOf(db: Database, { name, only }: ExportedTable): Promise<number> {
  const [row] = await ask<{ n: number }>(
    db,
    `select count(*) as n from ${name}${only === undefined ? "" : ` where ${only}`}`,
  );
  return row?.n ?? 0;
}

/** A row as a line of JSON, with bytes in base64. */
export function lineOf({ bytes = [] }: ExportedTable, row: PlainRow): string {
  const encoded = bytes.map((column) => [column, Buffer.from(row[column] as Uint8Array).toString("base64")] as const);
  return `${JSON.stringify({ ...row, ...Object.fromEntries(encoded) })}\n`;
}

/** The row of a line. */
export function rowOf({ bytes = [] }: ExportedTable, line: string): PlainRow {
  const row = JSON.parse(line) as PlainRow;
  for (const column of bytes) row[column] = Buffer.from(String(row[column]), "base64");
  return row;
}

/** Adds rows in one statement. */
export async function insertRows(tx: Database, { name }: ExportedTable, rows: PlainRow[]): Promise<void> {
  // The query builder cannot infer a table that is only known at run time; here rows are plain records.
  if (rows.length > 0)
    await (tx as unknown as Kysely<Record<string, PlainRow>>).insertInto(name).values(rows).execute();
}
