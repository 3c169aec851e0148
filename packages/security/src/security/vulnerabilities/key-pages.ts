import { type RawBuilder, sql } from "kysely";
import type { PageQuery } from "@moorage/kernel/aip/page-query";
import { type Condition, type Scope, within } from "@moorage/kernel/aip/scope";
import type { Database } from "@moorage/kernel/store";

/** Where texts come from: `text` of the rows of `from` that match. An index has them in their order. */
export interface Branch {
  text: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
  where: Condition[];
}

/** Texts are counted up to this number; a total of one more means that there are more. */
export const MAX_COUNTED = 10_000;

type Page = Pick<PageQuery, "after" | "limit" | "offset" | "orders" | "uncounted">;

/**
 * A page of the texts that the branches have, each once, in their order, and how many there are, counted up to
 * `MAX_COUNTED` and one; 0 when they are not to be counted. Each branch is read by its index from the position on, as
 * far as the page needs.
 */
export async function pageOfTexts(
  tx: Database,
  branches: readonly Branch[],
  page: Page,
): Promise<{ texts: string[]; total: number }> {
  if (branches.length === 0) return { texts: [], total: 0 };
  const descending = isDescending(page);
  const [beyond, direction] = descending ? [sql`<`, sql` desc`] : [sql`>`, sql``];
  const [after] = page.after ?? [];
  const union = (limit: number, position: typeof after): RawBuilder<unknown> =>
    sql.join(
      branches.map(({ text, from, where }, at) => {
        const conditions = [...where, ...(position === undefined ? [] : [sql`${text} ${beyond} ${position}`])];
        return sql`select text from (select distinct ${text} as text from ${from}
          where ${sql.join(conditions, sql` and `)} order by 1${direction} limit ${limit}) as ${sql.ref(`b${at}`)}`;
      }),
      sql` union `,
    );
  const { rows } = await sql<{ text: string }>`select text from (${union(page.limit + page.offset, after)}) as u
    order by text${direction} limit ${page.limit} offset ${page.offset}`.execute(tx);
  const texts = rows.map(({ text }) => text);
  if (page.uncounted === true) return { texts, total: 0 };
  const counted = await sql<{ n: number }>`select count(*) as n
    from (select text from (${union(MAX_COUNTED + 1, undefined)}) as u limit ${MAX_COUNTED + 1}) as c`.execute(tx);
  return { texts, total: Number(counted.rows[0]?.n ?? 0) };
}

/** The same page of texts that are at hand. */
export function pageOfKnown(known: Iterable<string>, page: Page): { texts: string[]; total: number } {
  const direction = isDescending(page) ? -1 : 1;
  const all = [...new Set(known)].sort((a, b) => direction * compare(a, b));
  const [after] = page.after ?? [];
  const rest = after === undefined ? all : all.filter((text) => direction * compare(text, String(after)) > 0);
  return { texts: rest.slice(page.offset, page.offset + page.limit), total: all.length };
}

/** As databases compare text, byte by byte. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const isDescending = ({ orders }: Pick<PageQuery, "orders">): boolean => orders[0]?.descending === true;

/** The conditions on the table `t` of what is in a scope. */
export function inScope({ roots, parent, everywhere, conditions }: Scope): Condition[] {
  return [...conditions, ...(parent === undefined && everywhere !== true ? [within(roots)] : [])];
}
