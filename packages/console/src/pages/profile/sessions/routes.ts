import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";

/** `/profile/sessions`: where the person is signed in. */
export const ownSessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/profile/sessions",
  validateSearch: pick("order"),
  component: lazyRouteComponent(() => import("./own-sessions-page.tsx"), "OwnSessionsPage"),
});
