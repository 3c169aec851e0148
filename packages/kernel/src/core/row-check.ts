import { type Bindable, type Database, select } from "../store/index.ts";

/** A row at fault, with the columns that a check selects. */
export type FaultyRow = Readonly<Record<string, Bindable>>;

/** A check of `moorage fsck` that needs only SQL statements. */
export interface RowCheck {
  readonly kind: string;
  /** What the fault means, and what to do where it cannot be repaired. */
  readonly meaning: string;
  /** Selects the rows at fault. */
  readonly find: string;
  /** The columns by which a row is shown. */
  readonly show: readonly string[];
  /** Repairs a row. Undefined when it cannot be repaired. */
  repair?(tx: Database, row: FaultyRow): Promise<void>;
  /** A notice, not a fault. */
  readonly notice?: true;
}

/** A repair by one statement, with these columns of the row at fault as its parameters. */
export function repairBy(text: string, columns: readonly string[]): NonNullable<RowCheck["repair"]> {
  return async (tx, row) => {
    await select(
      tx,
      text,
      columns.map((column) => row[column] ?? null),
    );
  };
}

/** A repair that deletes the rows with the key of the row at fault. */
export function removeFaulty(table: string, key: readonly string[]): NonNullable<RowCheck["repair"]> {
  return repairBy(`delete from ${table} where ${key.map((column) => `${column} = ?`).join(" and ")}`, key);
}

/** Rows that belong to a repo that is gone; `column` names the repo. */
export function withoutRepo(table: string, column: string, key: readonly string[]): RowCheck {
  return {
    kind: `${table.replaceAll("_", "-")}-without-repo`,
    meaning: `a row of ${table} belongs to a repo that is gone`,
    find: `select ${key.map((name) => `t.${name}`).join(", ")} from ${table} as t where not exists (select 1 from repos as r where r.uid = t.${column})`,
    show: key,
    repair: removeFaulty(table, key),
  };
}

/** Resources below a group that is gone. */
export function withoutParent(...tables: string[]): RowCheck {
  return {
    kind: "resource-without-parent",
    meaning:
      "a group, a repo, an identity, a role, an identity provider, an advisory or a library is below a group that is gone: delete it, or restore the group from a backup",
    find: tables
      .map(
        (table) =>
          `select '${table}' as kind, x.uid as uid from ${table} as x where x.parent <> '' and not exists (select 1 from groups as g where g.uid = x.parent)`,
      )
      .join(" union all "),
    show: ["kind", "uid"],
  };
}
