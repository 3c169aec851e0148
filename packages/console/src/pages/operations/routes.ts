import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { groupsQuery } from "../access/parts/data.ts";
import { quotasQuery } from "./quotas/queries.ts";
import { usageQuery } from "./usage/queries.ts";
import { storageQuery } from "./queries.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const sessionsSearch = pick("identity", "order");
const storageSearch = pick("group");
const quotasSearch = pick("group");
const usageSearch = pick("group", "by", "period");

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

/** `/operations/storage`: what takes up space, by group. */
const storageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/operations/storage",
  validateSearch: storageSearch,
  loaderDeps: ({ search: { group = "" } }) => ({ group }),
  loader: ({ context, deps: { group } }) =>
    Promise.all([
      context.queryClient.ensureQueryData(groupsQuery),
      context.queryClient.ensureInfiniteQueryData(storageQuery(group)),
    ]),
  component: lazyRouteComponent(() => import("./storage/storage-page.tsx"), "StoragePage"),
});

/** `/operations/quotas`: how much groups may hold. */
const quotasRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/operations/quotas",
  validateSearch: quotasSearch,
  loaderDeps: ({ search: { group = "" } }) => ({ group }),
  loader: ({ context, deps: { group } }) =>
    Promise.all([
      context.queryClient.ensureQueryData(groupsQuery),
      context.queryClient.ensureInfiniteQueryData(quotasQuery(group)),
    ]),
  component: lazyRouteComponent(() => import("./quotas/quotas-page.tsx"), "QuotasPage"),
});

/** `/operations/usage`: what groups take up and transfer. `by`: `day`, or month; `period`: the one that is shown. */
const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/operations/usage",
  validateSearch: usageSearch,
  loaderDeps: ({ search: { group = "", by = "" } }) => ({ group, by }),
  loader: ({ context, deps }) =>
    Promise.all([
      context.queryClient.ensureQueryData(groupsQuery),
      context.queryClient.ensureInfiniteQueryData(usageQuery(deps)),
    ]),
  component: lazyRouteComponent(() => import("./usage/usage-page.tsx"), "UsagePage"),
});

/** `/sessions`: where an identity is signed in. */
const sessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/sessions",
  validateSearch: sessionsSearch,
  loader: ({ context }) => context.queryClient.ensureQueryData(groupsQuery),
  component: lazyRouteComponent(() => import("./sessions-page.tsx"), "SessionsPage"),
});

/** The routes of the area. */
export const operationsRoutes = [
  operationsRoute,
  feedsRoute,
  storageRoute,
  quotasRoute,
  usageRoute,
  sessionsRoute,
] as const;
