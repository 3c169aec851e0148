import { type InfiniteData, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import type { listQuery } from "../../../api/queries.ts";
import type { Rows } from "./resource-page.tsx";

interface Answer {
  nextPageToken: string;
  totalCount?: string;
}

type ListQuery<Out extends Answer> = ReturnType<typeof listQuery<{ pageToken?: string }, Out>>;

/** The rows of a list whose first page the loader has fetched. `rowsOf` takes them out of a page. */
export function useRows<Out extends Answer, Row>(query: ListQuery<Out>, rowsOf: (page: Out) => Row[]): Rows<Row> {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery(query);
  const { pages } = data as InfiniteData<Out>;
  const total = pages[0]?.totalCount;
  return {
    rows: pages.flatMap(rowsOf),
    total: total === undefined ? undefined : Number(total),
    onMore: hasNextPage ? () => void fetchNextPage() : undefined,
    isLoadingMore: isFetchingNextPage,
  };
}
