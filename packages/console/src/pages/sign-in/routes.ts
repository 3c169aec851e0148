import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";

/**
 * `/login`: the ways to sign in. `to`: the page to go to then; `ended`: whether a session has just ended;
 * `organization`: whose identity providers are shown.
 */
export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: pick("to", "ended", "organization"),
  component: lazyRouteComponent(() => import("./login-page.tsx"), "LoginPage"),
});

/** `/sign-in/link#…`: signs in by the one-time link whose secret stands after the `#`. */
export const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in/link",
  component: lazyRouteComponent(() => import("./link-page.tsx"), "LinkPage"),
});

/** `/invite#…`: accepts the invite whose code stands after the `#`. */
export const inviteRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/invite",
  component: lazyRouteComponent(() => import("./invite-page.tsx"), "InvitePage"),
});

/** `/sign-in/recover#…`: makes a new passkey or password by the link whose secret stands after the `#`. */
export const recoverRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in/recover",
  component: lazyRouteComponent(() => import("./recover-page.tsx"), "RecoverPage"),
});

/** `/sign-in/account#…`: signs a program in with an account of this server. */
export const programRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in/account",
  validateSearch: pick("provider"),
  component: lazyRouteComponent(() => import("./program-page.tsx"), "ProgramPage"),
});
