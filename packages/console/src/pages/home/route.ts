import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { organizationsQuery } from "./queries.ts";

/** `/`: what moved last and what needs attention, in an organization (`group`) or in all. */
export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  validateSearch: pick("group"),
  loader: ({ context }) => context.queryClient.ensureQueryData(organizationsQuery),
  component: lazyRouteComponent(() => import("./home-page.tsx"), "HomePage"),
});
