import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { listSessions } from "../../api/gen/iam.ts";
import { listStorage } from "../../api/gen/registry.ts";
import { listQuery } from "../../api/queries.ts";
import { shellRoute } from "../../app/root.ts";
import { pick } from "../../app/search-params.ts";
import { groupsQuery } from "../../lib/groups.ts";

const SESSIONS_PAGE = 100;
const STORAGE_PAGE = 50;
// Beside loaderDeps the compiler infers their types only when they stand here.
const sessionsSearch = pick("identity", "order");
const storageSearch = pick("group");

/** `/operations`: how the installation is doing, for those who run it. */
const operationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/operations",
  component: lazyRouteComponent(() => import("./operations-page.tsx"), "OperationsPage"),
});

/** `/operations/feeds`: where what is known of vulnerabilities comes from, for those who run the installation. */
const feedsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/operations/feeds",
  component: lazyRouteComponent(() => import("./feeds/feeds-page.tsx"), "FeedsPage"),
});

/** What takes up space directly below a group; for an empty one below nothing. */
export function storageQuery(group: string) {
  return listQuery(listStorage, { ...(group !== "" && { uidp: { descendantsOf: group } }), pageSize: STORAGE_PAGE });
}

/** `/operations/storage`: what takes up space, by group. */
export const storageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/operations/storage",
  validateSearch: storageSearch,
  loaderDeps: ({ search: { group = "" } }) => ({ group }),
  loader: ({ context, deps: { group } }) =>
    Promise.all([
      context.queryClient.ensureQueryData(groupsQuery),
      context.queryClient.ensureInfiniteQueryData(storageQuery(group)),
    ]),
  component: lazyRouteComponent(() => import("./storage-page.tsx"), "StoragePage"),
});

/** The sessions of an identity; the person's own for an empty one. */
export function sessionsQuery(identity: string, orderBy: string) {
  return listQuery(listSessions, { ...(identity !== "" && { identity }), orderBy, pageSize: SESSIONS_PAGE });
}

/** `/sessions`: where an identity is signed in. */
export const sessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/sessions",
  validateSearch: sessionsSearch,
  component: lazyRouteComponent(() => import("./sessions-page.tsx"), "SessionsPage"),
});

/** The routes of the area. */
export const operationsRoutes = [operationsRoute, feedsRoute, storageRoute, sessionsRoute] as const;
