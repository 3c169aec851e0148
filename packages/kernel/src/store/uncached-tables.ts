import { createLru } from "../lib/lru.ts";
import type { Tables } from "./tables.ts";

/**
 * Tables that change constantly while events are delivered or images pushed, and that are read only by the event
 * services and by the handlers of uploads, whose responses are not cached; the processes that serve, which are not
 * answered; those of what images hold, of which only finished catalogs are answered, which never change; findings,
 * scans, signatures, replications and statistics of pulls and downloads, whose answers are not cached; events of gates,
 * which are not answered; and what upstreams of libraries say, for clients whose answers are not cached. A commit that
 * changes only these invalidates no cached response: see `Embedded.version`.
 */
export const UNCACHED_TABLES: readonly (keyof Tables)[] = [
  "processes",
  "pull_notes",
  "event_outbox",
  "events",
  "event_numbers",
  "subscription_leases",
  "deliveries",
  "uploads",
  "ended_uploads",
  "image_catalogs",
  "image_packages",
  "packages",
  "package_keys",
  "package_findings",
  "finding_causes",
  "finding_checks",
  "finding_notices",
  "matching",
  "attachment_checks",
  "signature_checks",
  "signer_checks",
  "signature_readings",
  "signature_sources",
  "signature_entries",
  "signature_verdicts",
  "signature_gate_events",
  "certificate_statuses",
  "certificate_status_uses",
  "scans",
  "scan_reports",
  "gate_events",
  "upstream_documents",
  "upstream_fetches",
  "upstream_tags",
  "upstream_sightings",
  "upstream_digests",
  "center_pulls",
  "artifact_blocks",
  "pull_days",
  "last_pulls",
  "running_images",
  "pull_coverage",
  "pull_counters",
  "pull_gaps",
  "usage_days",
  "download_days",
  "last_downloads",
  "download_coverage",
  "download_counters",
  "download_gaps",
  "replication_items",
  "finding_days",
];

/**
 * Tables of which a command can declare what it changes, so that only answers of that fall. Values that are cached by
 * keys (store/key-cache.ts) depend on nothing in them but by their keys: what the tables of manifests, references and
 * blobs get is content by its digest, which never changes, and only commands that declare nothing remove it.
 */
const DECLARABLE_TABLES = [
  "tags",
  "tag_history",
  "manifests",
  "manifest_references",
  "blobs",
  "repo_blobs",
  "audit_entries",
  "counters",
  "quotas",
  "quota_refs",
  "image_archives",
  "image_archive_names",
] as const satisfies readonly (keyof Tables)[];

/** A table of which a command can declare what it changes. */
export type DeclarableTable = (typeof DECLARABLE_TABLES)[number];

// When content was last seen by somebody who may push. No answer depends on it, and none is cached for longer than it
// matters (oci/gc/grace.ts), so that it counts as an uncached table of its own.
const TOUCH_TIMES = "touch times";
const TOUCHES = /^update (?:manifests|repo_blobs) set touch_time = \? where /;

// When tags were last pulled, which is exact to a minute: no answer of the API is cached for longer.
const PULL_TIMES = "pull times";
const PULLS =
  /^update (?:tags) set last_pull_time = cast\(cast\(j\.value as text\) as bigint\) from json_each\(\?\) as j where /;

const uncached: ReadonlySet<string> = new Set<string>([...UNCACHED_TABLES, TOUCH_TIMES, PULL_TIMES]);

const declarable: ReadonlySet<string> = new Set<string>([...uncached, ...DECLARABLE_TABLES]);

// Statements that change no rows, whatever follows.
const CHANGES_NOTHING =
  /^(?:$|select\b|pragma\b|explain\b|begin\b|commit\b|rollback\b|savepoint\b|release\b|set\b|lock\b)/i;
// A "with" without any of these only reads.
const READS = /^with\b(?!.*\b(?:insert|replace|update|delete)\b)/is;
const CHANGES_ROWS = /^(?:insert|replace|update|delete|with)\b/i;
// Every form of a statement that changes rows of a table. "do update set" names no table.
const CHANGED =
  /\b(?:(?:insert(?:\s+or\s+\w+)?|replace)\s+into|delete\s+from|(?<!\bdo\s+)update(?:\s+or\s+\w+)?)\s+("?)(\w+)\1/gi;

const MAX_KNOWN_TEXTS = 1_000;
const MAX_KNOWN_LENGTH = 4_000;
const known = createLru<string, { tables: ReadonlySet<string> | undefined }>(MAX_KNOWN_TEXTS);

/** The tables whose rows these statements may change. Undefined for statements that are not understood. */
export function changedTables(text: string): ReadonlySet<string> | undefined {
  const found = known.get(text);
  if (found !== undefined) return found.tables;
  const tables = tablesIn(text);
  if (text.length <= MAX_KNOWN_LENGTH) known.set(text, { tables });
  return tables;
}

function tablesIn(text: string): ReadonlySet<string> | undefined {
  const changed = new Set<string>();
  for (const part of text.split(";")) {
    const statement = part.trim();
    if (CHANGES_NOTHING.test(statement) || READS.test(statement)) continue;
    const tables = TOUCHES.test(statement)
      ? [TOUCH_TIMES]
      : PULLS.test(statement)
        ? [PULL_TIMES]
        : [...statement.matchAll(CHANGED)].map(([, , table = ""]) => table);
    if (!CHANGES_ROWS.test(statement) || tables.length === 0) return undefined;
    for (const table of tables) changed.add(table);
  }
  return changed;
}

/** Whether these are uncached tables only. False when they are not known. */
export function areUncached(tables: ReadonlySet<string> | undefined): boolean {
  return tables !== undefined && [...tables].every((table) => uncached.has(table));
}

/** Whether these are declarable or uncached tables only. False when they are not known. */
export function areDeclarable(tables: ReadonlySet<string> | undefined): boolean {
  return tables !== undefined && [...tables].every((table) => declarable.has(table));
}

/** Whether these statements change only rows of uncached tables. False for statements that are not understood. */
export function changesOnlyUncachedTables(text: string): boolean {
  return areUncached(changedTables(text));
}
