import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, redirect } from "@tanstack/react-router";
import { readSession, type Session } from "../api/session.ts";
import { Failed } from "./error-page.tsx";
import { Missing } from "./no-page.tsx";

/** What loaders of all routes have. */
export interface RouterContext {
  queryClient: QueryClient;
}

/** The root of the tree of routes. */
export const rootRoute = createRootRouteWithContext<RouterContext>()({
  errorComponent: Failed,
  notFoundComponent: Missing,
});

/** The session as a query; `null` when nobody is signed in. */
export const sessionQuery = {
  queryKey: ["session"],
  queryFn: async (): Promise<Session | null> => (await readSession()) ?? null,
  staleTime: 60_000,
};

/**
 * The parent of every page that takes a session. Without one, the person signs in and comes back. Its frame is that of
 * app/routes.ts.
 */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: "/login", search: { to: location.href } });
    return { session };
  },
});
