// Lists whose pages have numbers, as those of Harbor's and Quay's own APIs.
import { isObject } from "@moorage/kernel/lib/json";
import { SourceError } from "./source-error.ts";

const MAX_PAGES = 10_000;
const MAX_IDLE_PAGES = 8;
const MAX_ITEMS = 1_000_000;
const LIST_TIMEOUT_MS = 30 * 60_000;

/** A page: its items, and whether another follows by the source's word. */
interface NumberedPage<T> {
  items: T[];
  more: boolean;
}

/**
 * The items of a list as objects. Throws a SourceError for a list with anything else: what would be left out of it
 * silently might be a rule, or a robot.
 */
export function objectsIn(list: readonly unknown[], path: string): Record<string, unknown>[] {
  if (!list.every(isObject)) throw new SourceError(`the source answers ${path} with something that is no object`);
  return [...list];
}

/**
 * The items of the pages from 1 on, each once. `keyOf`: by what an item is known. Throws a SourceError when they do not
 * end.
 */
export async function* itemsOfNumbered<T>(
  read: (page: number) => Promise<NumberedPage<T>>,
  keyOf: (item: T) => string,
): AsyncGenerator<T> {
  const seen = new Set<string>();
  const endMs = performance.now() + LIST_TIMEOUT_MS;
  let idle = 0;
  for (let page = 1; ; page += 1) {
    if (page > MAX_PAGES) throw new SourceError(`a list of the source has more than ${MAX_PAGES} pages`);
    if (performance.now() > endMs) throw new SourceError("a list of the source takes longer than half an hour");
    const { items, more } = await read(page);
    const before = seen.size;
    for (const item of items) {
      const key = keyOf(item);
      if (seen.has(key)) continue;
      if (seen.size === MAX_ITEMS) throw new SourceError(`a list of the source has more than ${MAX_ITEMS} items`);
      seen.add(key);
      yield item;
    }
    if (!more || items.length === 0) return;
    idle = seen.size > before ? 0 : idle + 1;
    if (idle > MAX_IDLE_PAGES) throw new SourceError("a list of the source leads on, and brings nothing new");
  }
}
