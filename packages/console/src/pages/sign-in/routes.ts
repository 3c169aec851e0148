import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";

/** `/login`: the ways to sign in. `to`: the page to go to then; `ended`: whether a session has just ended. */
export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: pick("to", "ended"),
  component: lazyRouteComponent(() => import("./login-page.tsx"), "LoginPage"),
});

/** `/sign-in/link#…`: signs in by the one-time link whose secret stands after the `#`. */
export const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in/link",
  component: lazyRouteComponent(() => import("./link-page.tsx"), "LinkPage"),
});
