import { createRouter } from "@tanstack/react-router";
import { forgetToken } from "../api/session.ts";
import { createQueryClient } from "./query-client.ts";
import { Failed } from "../routing/error-page.tsx";
import { Missing } from "../routing/no-page.tsx";
import { sessionQuery } from "../routing/root.ts";
import { routeTree } from "./routes.ts";
import { parseSearch, stringifySearch } from "../routing/search-params.ts";

/** What the console keeps of the API's answers. */
export const queryClient = createQueryClient(signedOut);

/** The router. A page shows when its loader has what it needs. */
export const router = createRouter({
  routeTree,
  context: { queryClient },
  parseSearch,
  stringifySearch,
  // Within the frame: the page alone is replaced.
  defaultErrorComponent: Failed,
  defaultNotFoundComponent: Missing,
  defaultPreload: "intent",
  // The query client knows what is fresh.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
});

/** The session ended, here or elsewhere: the person signs in again, and comes back to the page. */
function signedOut(): void {
  forgetToken();
  queryClient.setQueryData(sessionQuery.queryKey, null);
  const { pathname, href } = router.state.location;
  if (pathname !== "/login") void router.navigate({ to: "/login", search: { to: href, ended: "1" } });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
