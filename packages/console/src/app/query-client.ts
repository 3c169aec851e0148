import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/errors.ts";

const MAX_RETRIES = 4;
// A server that restarts is waited for, a minute at least.
const MAX_WAITS = 25;
const MAX_DELAY_MS = 3_000;
const FRESH_MS = 10_000;

/** What the console keeps of the API's answers. `onSignedOut` is called when a session has ended. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof ApiError && error.status === 401) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // Requests fail when the server is away; whether the machine has a network says nothing about that.
        networkMode: "always",
        retry: (failures, error) => isPassing(error) && failures < (isAway(error) ? MAX_WAITS : MAX_RETRIES),
        retryDelay: (failures) => Math.min(500 * 2 ** failures, MAX_DELAY_MS),
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/** Whether no answer came, or one that says that the server is not ready: while it starts, it answers 503. */
function isAway(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || (error.status >= 502 && error.status <= 504));
}

/** Whether the same request may succeed a moment later: the server restarts, or has too much to do. */
function isPassing(error: unknown): boolean {
  return isAway(error) || (error instanceof ApiError && error.status === 429);
}
