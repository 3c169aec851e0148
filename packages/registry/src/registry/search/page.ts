import { setImmediate } from "node:timers/promises";
import type { SearchRequest } from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { scopeOf } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { searchedDigests } from "./digests.ts";
import { imagePaths } from "../image-paths.ts";
import type { Look, Result, Searched } from "./kinds.ts";
import { searchedLabels } from "./labels.ts";
import type { Position } from "./ranges.ts";
import { searchedRepos } from "./repos.ts";
import { searchedTags } from "./tags.ts";

const MAX_PAGE_SIZE = 200;
/** The most rows that one page looks at. */
const ROWS_PER_PAGE = 50_000;
/** In the order of the results. */
const KINDS: readonly Searched[] = [searchedRepos, searchedTags, searchedDigests, searchedLabels];

/** Where a page ended: in which kind, and the position there; none at the beginning of the kind. */
export interface SearchPosition {
  kind: number;
  after: Position;
}

/** A page of what is found after `from`, and where the next page begins; undefined after the last page. */
export async function searchPage(
  call: Call,
  { query, uidp, kinds, pageSize }: SearchRequest,
  from: SearchPosition | undefined,
): Promise<{ results: Result[]; next: SearchPosition | undefined }> {
  const size = Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const paths = imagePaths(call.tx);
  const results: Result[] = [];
  let rows = ROWS_PER_PAGE;
  for (const searched of KINDS) {
    const { kind, needs, fits, look } = searched;
    const wanted = query.toLowerCase();
    if ((kinds.length > 0 && !kinds.includes(kind)) || kind < (from?.kind ?? 0) || !fits(wanted)) continue;
    const roots = scopeOf(uidp, await call.visible(...needs)).roots.toSorted();
    const place: Look = { db: call.tx, query: wanted, roots, paths };
    for (let after: Position | undefined = kind === from?.kind ? from.after : []; after !== undefined;) {
      if (results.length >= size || rows <= 0) return { results, next: { kind, after } };
      const { found, last } = await look(place, after, size - results.length);
      const taken = found.slice(0, size - results.length);
      results.push(...taken.map(({ result }) => result));
      after = results.length === size ? (taken.at(-1)?.position ?? last) : last;
      rows -= searched.rows * searched.weight;
      // SQLite answers without a pause: other calls get their turn here.
      await setImmediate();
      call.requireCaller();
    }
  }
  return { results, next: undefined };
}
