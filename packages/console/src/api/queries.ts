import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { Method } from "./method.ts";

/** A reading call as a query: its answer is kept under the method and the request. */
export function query<Input extends object, Output>(method: Method<Input, Output>, input: Input) {
  return queryOptions({
    queryKey: keyOf(method, input),
    queryFn: ({ signal }) => call(method, input, { signal }),
  });
}

interface Page {
  nextPageToken: string;
}

/** A list as a query whose pages follow each other. */
export function listQuery<Input extends { pageToken?: string }, Output extends Page>(
  method: Method<Input, Output>,
  input: Input,
) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(method, input), "pages"],
    queryFn: ({ signal, pageParam }) =>
      call(method, pageParam === "" ? input : { ...input, pageToken: pageParam }, { signal }),
    initialPageParam: "",
    getNextPageParam: ({ nextPageToken }: Output) => nextPageToken || undefined,
  });
}

/**
 * The key of the answers: the path and the request. The path alone, without variables, names all of a collection, for
 * invalidation after a change: see `collection`.
 */
function keyOf({ verb, path }: { verb: string; path: string }, input: object): readonly unknown[] {
  return [collection({ path }), verb, path, input];
}

/** `/registry/v2/repos` of `/registry/v2/repos/{uid=**}/readme`: what `invalidateQueries` is given after a change. */
export function collection({ path }: { path: string }): string {
  return path.split(/[{:]/)[0]?.replace(/\/$/, "") ?? path;
}
