import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { groupsQuery } from "../../../lib/groups.ts";
import { advisoriesQuery, advisoryQuery } from "./queries.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const advisoriesSearch = pick("group", "review", "latest", "query", "order");
const advisorySearch = pick("uid");

/** `/advisories`: an inbox, at first of what is waiting for review. */
export const advisoriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/advisories",
  validateSearch: advisoriesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureInfiniteQueryData(advisoriesQuery(deps))]),
  component: lazyRouteComponent(() => import("./advisories-page.tsx"), "AdvisoriesPage"),
});

/** `/advisory?uid=`: what was found out, and what becomes of it. */
export const advisoryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/advisory",
  validateSearch: advisorySearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context, deps: { uid } }) => uid !== "" && context.queryClient.ensureQueryData(advisoryQuery(uid)),
  component: lazyRouteComponent(() => import("./advisory-page.tsx"), "AdvisoryPage"),
});
