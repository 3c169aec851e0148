import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { listGroups } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { shellRoute } from "../../app/root.ts";

const MAX_ORGANIZATIONS = 200;

/** The organizations that the person may see. */
export const organizationsQuery = query(listGroups, { uidp: { inRoot: true }, pageSize: MAX_ORGANIZATIONS });

/** `/`: the organizations of the person, and what to do first. */
export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  loader: ({ context }) => context.queryClient.ensureQueryData(organizationsQuery),
  component: lazyRouteComponent(() => import("./home-page.tsx"), "HomePage"),
});
