import { queryOptions } from "@tanstack/react-query";
import { call, type CallOptions } from "./call.ts";
import { ApiError } from "./errors.ts";
import { search } from "./gen/registry.ts";

const MAX_PAGES = 40;
const PAGE_SIZE = 200;

/** The uid of the repo with this path, such as `acme/team/app`. Throws an ApiError of status 404 without one. */
export async function repoByPath(path: string, { signal }: CallOptions = {}): Promise<string> {
  let pageToken = "";
  for (let left = MAX_PAGES; left > 0; left--) {
    const input = { query: path, kinds: ["SEARCH_KIND_REPO" as const], pageSize: PAGE_SIZE, pageToken };
    const { results, nextPageToken } = await call(search, input, { signal });
    const found = results.find(({ name }) => name === path);
    if (found !== undefined) return found.repoUid;
    if (nextPageToken === "") break;
    pageToken = nextPageToken;
  }
  throw new ApiError(404, { code: "NOT_FOUND", message: `There is no image ${path} that you can see.` });
}

/** `repoByPath` as a query. */
export function repoByPathQuery(path: string) {
  return queryOptions({ queryKey: ["repo by path", path], queryFn: ({ signal }) => repoByPath(path, { signal }) });
}
