import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../routing/root.ts";
import { organizationsQuery } from "./queries.ts";

/** `/`: the organizations of the person, and what to do first. */
export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  loader: ({ context }) => context.queryClient.ensureQueryData(organizationsQuery),
  component: lazyRouteComponent(() => import("./home-page.tsx"), "HomePage"),
});
