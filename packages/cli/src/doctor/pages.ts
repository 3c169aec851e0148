import type { JsonObject, RestClient } from "../api/rest.ts";
import type { Query } from "../api/paging.ts";

/** How many items of a list are looked at. */
export const MAX_ITEMS = 100;

/** Up to MAX_ITEMS of a list, and whether there are more. */
export async function firstOf(
  rest: RestClient,
  path: string,
  field: string,
  query: Query = {},
): Promise<{ items: JsonObject[]; isCut: boolean }> {
  const items: JsonObject[] = [];
  for await (const item of rest.list(path, field, { query })) {
    if (items.length === MAX_ITEMS) return { items, isCut: true };
    items.push(item);
  }
  return { items, isCut: false };
}
