// Lists of the registry that moves in, page by page: they end, and stay where they began.
import { linkTo } from "@moorage/kernel/lib/link-header";
import { jsonOf, type SourceAnswer, type SourceClient } from "./client.ts";
import { SourceError } from "./source-error.ts";

const MAX_PAGES = 10_000;
// Some registries filter a page after it was cut, so a few may bring nothing although others follow.
const MAX_IDLE_PAGES = 8;
const LIST_TIMEOUT_MS = 30 * 60_000;

/**
 * The items of the pages from the target on, by their Link headers, each page once. `itemsOf`: the items of a page, and
 * by what each is known. Nothing for a list that is not there (404). Throws a SourceError when it leads elsewhere, or
 * does not end.
 */
export async function* itemsOfPages<T>(
  client: SourceClient,
  first: string,
  itemsOf: (body: unknown) => T[],
  keyOf: (item: T) => string,
): AsyncGenerator<T> {
  const endMs = performance.now() + LIST_TIMEOUT_MS;
  const asked = new Set<string>();
  const seen = new Set<string>();
  let idle = 0;
  for (let target: string | undefined = first; target !== undefined && !asked.has(target);) {
    asked.add(target);
    if (asked.size > MAX_PAGES) throw new SourceError(`a list of the source has more than ${MAX_PAGES} pages`);
    if (performance.now() > endMs) throw new SourceError("a list of the source takes longer than half an hour");
    const answer: SourceAnswer = await client.ask(target);
    if (answer.status === 404) return;
    const before = seen.size;
    for (const item of itemsOf(jsonOf(answer))) {
      const key = keyOf(item);
      if (seen.has(key)) continue;
      seen.add(key);
      yield item;
    }
    idle = seen.size > before ? 0 : idle + 1;
    target = nextOf(client, first, answer);
    if (target !== undefined && idle > MAX_IDLE_PAGES)
      throw new SourceError("a list of the source leads on, and brings nothing new");
  }
}

/** The next page. Throws a SourceError when it is not of the same list. */
function nextOf({ origin }: SourceClient, first: string, { headers, url }: SourceAnswer): string | undefined {
  const link = linkTo("next", headers.get("link") ?? undefined);
  if (link === undefined) return undefined;
  const next = URL.parse(link, url.href);
  // Registries behind a proxy may write another scheme than theirs.
  const isOwn = next !== null && next.hostname === new URL(origin).hostname;
  if (isOwn && next.pathname === new URL(first, origin).pathname) return next.pathname + next.search;
  throw new SourceError(
    `the source's next page is somewhere else${next === null ? "" : `, at ${next.host}`}: not asked`,
  );
}
