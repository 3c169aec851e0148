// A list over all its pages. Source: AIP-158.
import type { Json, JsonObject } from "./failure.ts";

/** The most that a server puts on a page. */
const MAX_PAGE_SIZE = 200;

/** Parameters of a request; undefined ones are left out, lists repeat their name. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** What is wanted of a list. */
export interface ListOptions {
  query?: Query;
  /** Items on a page. */
  pageSize?: number;
  /** The most items. All unless given. */
  limit?: number;
  /** Called once, with the number of all that match, if the server says it. */
  onTotal?: (total: string) => void;
  /** Called with each page. */
  onPage?: (page: JsonObject) => void;
  signal?: AbortSignal;
}

type Ask = (query: Query, signal: AbortSignal | undefined) => Promise<JsonObject>;

/** The items of all pages, each page asked for when its first item is wanted. `field`: the items' name in a page. */
export async function* allPages(
  ask: Ask,
  field: string,
  { query = {}, pageSize, limit = Infinity, onTotal, onPage, signal }: ListOptions,
): AsyncGenerator<JsonObject> {
  let left = limit;
  let pageToken: string | undefined;
  let skip = query["skip"];
  while (left > 0) {
    const size = Math.min(pageSize ?? MAX_PAGE_SIZE, left, MAX_PAGE_SIZE);
    const page = await ask({ ...query, skip, pageSize: size, pageToken }, signal);
    if (pageToken === undefined) reportTotal(page["totalCount"], onTotal);
    onPage?.(page);
    for (const item of itemsOf(page[field])) {
      yield item;
      left -= 1;
      if (left <= 0) return;
    }
    const next = page["nextPageToken"];
    if (typeof next !== "string" || next === "") return;
    pageToken = next;
    // Counted from the cursor: once is enough.
    skip = undefined;
  }
}

function reportTotal(total: Json | undefined, onTotal: ListOptions["onTotal"]): void {
  if (typeof total === "string" || typeof total === "number") onTotal?.(String(total));
}

function itemsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value)
    ? value.filter((item): item is JsonObject => typeof item === "object" && item !== null && !Array.isArray(item))
    : [];
}
