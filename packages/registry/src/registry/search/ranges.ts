import type { Bindable, Database } from "@moorage/kernel/store";
import { select } from "@moorage/kernel/store";

/** Rows of a table in the order of an index that begins with a uid, restricted to what is at or below some uids. */
export interface Ranged {
  table: string;
  columns: string;
  /** The columns of the index: the uid, then those in which rows of one uid differ. */
  key: readonly string[];
  /** A condition on the rows, which the index has. */
  only?: string;
}

/** The values of the key's columns in a row; empty: before the first one. */
export type Position = readonly string[];

// Statements with more ranges take long to plan.
const RANGES_PER_STATEMENT = 50;

/**
 * At most `limit` rows after the position, in order, of what is at or below the roots, none of which is below another.
 * Each root is a range of the index of its own that is read in order as far as the limit needs: whoever may list
 * thousands of organizations reads no row of any other one.
 */
export async function rowsAfter<R>(
  db: Database,
  { table, columns, key, only }: Ranged,
  sortedRoots: readonly string[],
  after: Position,
  limit: number,
): Promise<R[]> {
  const [at = ""] = after;
  const first = sortedRoots.findIndex((root) => endOf(root) > at);
  const roots = first < 0 ? [] : sortedRoots.slice(first);
  const uid = key[0] ?? "";
  const order = key.join(", ");
  const rows: R[] = [];
  for (let from = 0; from < roots.length && rows.length < limit; from += RANGES_PER_STATEMENT) {
    const parameters: Bindable[] = [];
    const rest = limit - rows.length;
    const ranges = roots.slice(from, from + RANGES_PER_STATEMENT).map((root, number) => {
      const conditions = [`${uid} >= ?`, `${uid} < ?`, ...(only === undefined ? [] : [only])];
      parameters.push(root, endOf(root));
      if (at >= root) {
        conditions.push(`(${order}) > (${key.map(() => "?").join(", ")})`);
        parameters.push(...after);
      }
      parameters.push(rest);
      return `select * from (select ${columns} from ${table} where ${conditions.join(" and ")} order by ${order} limit ?) as r${number}`;
    });
    // The ranges are read one after another, each only while the limit is not reached.
    rows.push(...(await select<R>(db, `${ranges.join(" union all ")} limit ?`, [...parameters, rest])));
  }
  return rows;
}

// The uid of a descendant continues its ancestor's with a "/", which "0" follows.
function endOf(root: string): string {
  return `${root}0`;
}
