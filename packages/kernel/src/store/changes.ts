/**
 * Counts what one writing connection changes, so that what was read in a transaction can be kept for the next ones. A
 * statement whose tables are not known, a rollback, and what other connections commit may change every table.
 */
export interface Changes {
  /** Notes a statement that was run. `tables`: those whose rows it may change; undefined when they are not known. */
  note(tables: ReadonlySet<string> | undefined): void;
  /** How many statements were noted that may have changed anything. */
  written(): number;
  /** A number that has changed if rows of one of the tables may have. */
  versionOf(tables: readonly string[]): number;
}

export function countChanges(): Changes {
  const counts = new Map<string, number>();
  let unknown = 0;
  let written = 0;
  return {
    note(tables) {
      if (tables === undefined) unknown += 1;
      else for (const table of tables) counts.set(table, (counts.get(table) ?? 0) + 1);
      if (tables?.size !== 0) written += 1;
    },
    written: () => written,
    // None of the counts ever decreases, so that their sum is another number after each change.
    versionOf: (tables) => tables.reduce((sum, table) => sum + (counts.get(table) ?? 0), unknown),
  };
}
