import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";
import type { Method } from "../../../api/method.ts";
import { collection } from "../../../api/queries.ts";

const PAGE_SIZE = 200;
const MAX_PAGES = 10;

interface Input {
  pageSize?: number;
  pageToken?: string;
}

/** What can be chosen from: the first 2000 of a list, as one query. `rowsOf` takes the resources out of a page. */
export function allOf<In extends Input, Out extends { nextPageToken: string }, Row>(
  method: Method<In, Out>,
  input: In,
  rowsOf: (page: Out) => Row[],
) {
  return queryOptions({
    queryKey: [collection(method), "all", method.path, input],
    queryFn: async ({ signal }): Promise<Row[]> => {
      const rows: Row[] = [];
      let pageToken = "";
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const answer = await call(method, { ...input, pageSize: PAGE_SIZE, pageToken }, { signal });
        rows.push(...rowsOf(answer));
        pageToken = answer.nextPageToken;
        if (pageToken === "") break;
      }
      return rows;
    },
  });
}
