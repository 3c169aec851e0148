// A statement for many callers at a time, on PostgreSQL: with the parameters of each as a row of arrays, one statement
// does what one for each caller would do, for little more than the price of one.

/** The type of a parameter: text, or a whole number. */
export type ParameterType = "text" | "bigint";

/** The text for many callers. `reads`: it returns rows, each with the caller's number from 1 on in `caller_`. */
export interface ManyForm {
  text: string;
  parameters: number;
  reads: boolean;
}

const known = new Map<string, ManyForm>();

/** The form of a statement that was declared for many callers. */
export function manyFormOf(text: string): ManyForm | undefined {
  return known.get(text);
}

/**
 * Declares that a statement may be run for many callers together, none of which reads or writes what another one
 * writes. It is `select …` of at most one row or of rows in no order, few of them and found by an index; `insert into …
 * (…) values (…)` of one row of parameters alone; or `update … where …`. Throws for any other, and when `types` are not
 * those of its parameters.
 */
export function declareMany(text: string, types: readonly ParameterType[]): void {
  known.set(text, formOf(text, types));
}

function formOf(text: string, types: readonly ParameterType[]): ManyForm {
  let count = 0;
  const body = text.replaceAll("?", () => `asked_.p${(count += 1)}`);
  if (count !== types.length || count === 0) throw new Error(`${count} parameters, ${types.length} types: ${text}`);
  // Arrays from a subquery are of unknown length to the planner, so that it does not make a plan for each length;
  // `offset 0` has it look up each caller's rows by themselves, never by reading a whole index.
  const arrays = types.map((type, at) => `(select $${at + 1}::${type}[])`).join(", ");
  const names = types.map((_, at) => `p${at + 1}`).join(", ");
  const rows = `unnest(${arrays})`;
  if (text.startsWith("select "))
    return {
      text: `select asked_.caller_, s.* from ${rows} with ordinality as asked_(${names}, caller_) cross join lateral (${body} offset 0) as s`,
      parameters: count,
      reads: true,
    };
  const insert = /^(insert into \w+ \([^)]*\)) values \(([^)]*)\)$/.exec(body);
  if (insert !== null)
    return {
      text: `${insert[1]} select ${insert[2]} from ${rows} as asked_(${names})`,
      parameters: count,
      reads: false,
    };
  const [change = "", condition, ...more] = body.split(" where ");
  if (/^update \w+ set /.test(change) && condition !== undefined && more.length === 0 && !/\breturning\b/.test(body))
    return {
      text: `${change} from ${rows} as asked_(${names}) where ${condition}`,
      parameters: count,
      reads: false,
    };
  throw new Error(`not a statement for many callers: ${text}`);
}
