import { type SearchRequest, SearchRequestSchema, type SearchService } from "@moorage/api/messages";
import { openPosition, pagedBy, type Paged, sealPosition } from "@moorage/kernel/aip/positions";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { searchPage, type SearchPosition } from "./page.ts";

const MIN_QUERY = 2;
const MAX_QUERY = 200;

/** Finds images in all groups that the caller may list. Why there is no table for this: docs/adr/0022-search.md. */
export function searchService({ pageTokenKey }: ServiceContext): Service<typeof SearchService> {
  return {
    async search(call, request) {
      const violations = violationsIn(request);
      if (violations.length > 0) throw invalidArgument(...violations);
      const paged = pagedBy(SearchRequestSchema, request, "query, uidp or kinds");
      const { results, next } = await searchPage(call, request, beginOf(call, pageTokenKey, paged, request.pageToken));
      if (next === undefined) return { results };
      return { results, nextPageToken: sealPosition(call, pageTokenKey, paged, [next.kind, ...next.after]) };
    },
  };
}

/** Where the page begins; undefined at the beginning. Each request states its query again. */
function beginOf(call: Call, key: Uint8Array, paged: Paged, text: string): SearchPosition | undefined {
  const position = openPosition(call, key, paged, text);
  if (position === undefined) return undefined;
  const [kind, ...after] = position;
  return { kind: Number(kind), after: after.map(String) };
}

function violationsIn(request: SearchRequest): FieldViolation[] {
  const { query, pageSize, uidp } = request;
  const length = [...query].length;
  const isWrong = length < MIN_QUERY || length > MAX_QUERY || query.includes("\0");
  const others = {
    "uidp.ancestors_of": uidp?.ancestorsOf,
    "uidp.children_of": uidp?.childrenOf,
    "uidp.in_root": uidp?.inRoot,
    "uidp.ids": uidp?.ids.length,
  };
  return [
    ...violationsOf(SearchRequestSchema, request).filter(({ field }) => field !== "query"),
    ...(isWrong ? [{ field: "query", description: `must have ${MIN_QUERY} to ${MAX_QUERY} characters` }] : []),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
    ...Object.entries(others)
      .filter(([, given]) => Boolean(given))
      .map(([field]) => ({ field, description: "is not taken here: only descendants_of is" })),
  ];
}
