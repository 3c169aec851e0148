import type { Tables } from "./tables.ts";

/**
 * Tables that change all the time while events are delivered, and that nothing reads but the services of
 * events, whose responses are not cached. A commit that changes these alone invalidates no cached response: see
 * `Embedded.version`.
 */
export const QUIET_TABLES: readonly (keyof Tables)[] = [
  "pull_notes",
  "event_outbox",
  "events",
  "event_numbers",
  "subscription_leases",
  "deliveries",
];

const quiet: ReadonlySet<string> = new Set(QUIET_TABLES);

// Without a statement that changes rows: these change none, whatever follows.
const CHANGES_NOTHING = /^(?:$|select\b|pragma\b|explain\b|begin\b|commit\b|rollback\b|savepoint\b|release\b)/i;
const CHANGES_ROWS = /^(?:insert|replace|update|delete|with)\b/i;
// Whatever looks like a change of a table's rows. "do update set" names no table.
const CHANGED =
  /\b(?:(?:insert(?:\s+or\s+\w+)?|replace)\s+into|delete\s+from|(?<!\bdo\s+)update(?:\s+or\s+\w+)?)\s+("?)(\w+)\1/gi;

/** Whether these statements change nothing but rows of quiet tables. What is not understood is not quiet. */
export function isQuiet(text: string): boolean {
  return text.split(";").every((part) => {
    const statement = part.trim();
    if (CHANGES_NOTHING.test(statement)) return true;
    const tables = [...statement.matchAll(CHANGED)].map(([, , table = ""]) => table);
    return CHANGES_ROWS.test(statement) && tables.length > 0 && tables.every((table) => quiet.has(table));
  });
}
