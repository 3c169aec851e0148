import { infiniteQueryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { listTags, search, type Tag } from "../../api/gen/registry.ts";
import { collection } from "../../api/queries.ts";
import { MIN_LETTERS } from "./queries.ts";
import { filtersOf, fits, orderOf, requestOf, sinceOf, type TagFilters } from "./tag-filters.ts";

const PAGE_SIZE = 100;
// Its tags are read by their uids, which stand in an address of a limited length.
const SEARCH_SIZE = 40;

/** Which tags are listed, in which order. */
export interface TagsSearch extends TagFilters {
  q?: string | undefined;
  order?: string | undefined;
}

interface TagPage {
  tags: Tag[];
  nextPageToken: string;
  /** How many tags fit over all pages, when the server says so. */
  totalCount?: string | undefined;
  /** How many tags were looked at and do not fit: of a search those whose names hold the letters. */
  leftOut: number;
  /** Of how many of them it is not known whether they fit. */
  unknown: number;
  /** The time from which on tags are listed: the same for all pages. */
  since: string | undefined;
}

interface Position {
  pageToken: string;
  since?: string | undefined;
}

/** The tags of a repo in pages: all that fit the filters in an order, or those of them whose name holds the letters. */
export function tagsQuery(repoUid: string, { q = "", order = "update_time desc", ...rest }: TagsSearch) {
  const filters = filtersOf(rest);
  const isSearch = q.length >= MIN_LETTERS;
  const initialPageParam: Position = { pageToken: "" };
  return infiniteQueryOptions({
    queryKey: [collection(listTags), repoUid, isSearch ? `search ${q}` : order, filters],
    initialPageParam,
    queryFn: async ({ signal, pageParam: { pageToken, since } }): Promise<TagPage> => {
      const at = { pageToken, since: since ?? sinceOf(filters, Date.now()) };
      return isSearch
        ? await searchPage(repoUid, q, filters, at, signal)
        : await listPage(repoUid, order, filters, at, signal);
    },
    getNextPageParam: ({ nextPageToken, since }): Position | undefined =>
      nextPageToken === "" ? undefined : { pageToken: nextPageToken, since },
  });
}

async function listPage(
  repoUid: string,
  order: string,
  filters: TagFilters,
  { pageToken, since }: Position,
  signal: AbortSignal,
): Promise<TagPage> {
  const request = { ...requestOf(filters, since), pageSize: PAGE_SIZE, pageToken };
  const page = await call(
    listTags,
    { ...request, uidp: { childrenOf: repoUid }, orderBy: orderOf(filters, order) },
    { signal },
  );
  const tags = page.tags.filter((tag) => fits(filters, tag));
  const isEnd = tags.length < page.tags.length;
  return {
    tags,
    since,
    leftOut: page.leftOutCount,
    unknown: page.unknownCount,
    nextPageToken: isEnd ? "" : page.nextPageToken,
    // The server counts tags of both statuses.
    ...(filters.status === undefined && page.totalCount !== undefined && { totalCount: page.totalCount }),
  };
}

/** What is found by letters, as the list has it: the search alone does not say what is deprecated. */
async function searchPage(
  repoUid: string,
  query: string,
  filters: TagFilters,
  { pageToken, since }: Position,
  signal: AbortSignal,
): Promise<TagPage> {
  const found = await call(
    search,
    { query, kinds: ["SEARCH_KIND_TAG"], uidp: { descendantsOf: repoUid }, pageSize: SEARCH_SIZE, pageToken },
    { signal },
  );
  const ids = found.results.map(({ tagUid }) => tagUid);
  const listed =
    ids.length === 0
      ? { tags: [], unknownCount: 0 }
      : await call(listTags, { ...requestOf(filters, since), uidp: { ids }, pageSize: SEARCH_SIZE }, { signal });
  const byUid = new Map(listed.tags.filter((tag) => fits(filters, tag)).map((tag) => [tag.uid, tag]));
  const tags = ids.flatMap((uid) => byUid.get(uid) ?? []);
  const leftOut = ids.length - tags.length;
  return { tags, since, leftOut, unknown: listed.unknownCount, nextPageToken: found.nextPageToken };
}
