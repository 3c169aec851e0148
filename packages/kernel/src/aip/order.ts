import { invalidArgument } from "../errors.ts";

/** One field to sort by: the database column and the direction. */
export interface Order {
  column: string;
  descending: boolean;
}

/** The fields that a list can be sorted by, in camelCase, and the column of each. The columns must not be nullable. */
export type OrderFields<C extends string = string> = Readonly<Record<string, C>>;

/** Sort fields whose names are those of their columns in camelCase: `createTime` sorts by `create_time`. */
export function sortable<C extends string>(...columns: C[]): OrderFields<C> {
  return Object.fromEntries(columns.map((column) => [camelCase(column), column]));
}

const ALIASES: Record<string, string> = { createdAt: "createTime", updatedAt: "updateTime" };
const MAX_FIELDS = 8;

/**
 * Parses `order_by`: `field`, `field asc` or `field desc`, several separated by commas, in camelCase or snake_case.
 * Throws INVALID_ARGUMENT on `order_by` for an unknown field or another syntax. Source: AIP-132, docs/contract.md,
 * "Listing".
 */
export function parseOrder(text: string, fields: OrderFields, fallback: string): Order[] {
  if (text.trim() === "") {
    const [name = "", direction] = fallback.split(" ", 2);
    return [{ column: fields[name] ?? name, descending: direction === "desc" }];
  }
  const parts = text.split(",");
  if (parts.length > MAX_FIELDS) throw wrong(`at most ${MAX_FIELDS} fields`);
  const orders = parts.map((part) => {
    const match = /^\s*([a-zA-Z_]+)(?:\s+(asc|desc))?\s*$/.exec(part);
    if (!match) throw wrong(`${JSON.stringify(part.trim())} is not a field, optionally followed by asc or desc`);
    const name = camelCase(match[1] ?? "");
    const known = ALIASES[name] ?? name;
    const column = Object.hasOwn(fields, known) ? fields[known] : undefined;
    if (column === undefined) throw wrong(`unknown field ${match[1]}; there are ${Object.keys(fields).join(", ")}`);
    return { column, descending: match[2] === "desc" };
  });
  const repeated = orders.find(({ column }, at) => orders.findIndex((other) => other.column === column) !== at);
  if (repeated) throw wrong("a field may be named once");
  return orders;
}

function wrong(description: string): Error {
  return invalidArgument({ field: "order_by", description });
}

export function camelCase(name: string): string {
  return name.replace(/_([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
