import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { accessRoutes } from "../pages/access/routes.ts";
import { compareRoute } from "../pages/compare/route.ts";
import { eventsRoutes } from "../pages/events/routes.ts";
import { homeRoute } from "../pages/home/route.ts";
import { operationsRoutes } from "../pages/operations/routes.ts";
import { packagesRoutes } from "../pages/packages/routes.ts";
import { profileRoute } from "../pages/profile/account/routes.ts";
import { ownSessionsRoute } from "../pages/profile/sessions/routes.ts";
import { personalTokensRoutes } from "../pages/profile/tokens/routes.ts";
import { registryRoutes } from "../pages/registry/routes.ts";
import { repoSettingsRoutes } from "../pages/repo-settings/routes.ts";
import { securityRoutes } from "../pages/security/routes.ts";
import { inviteRoute, linkRoute, loginRoute, programRoute, recoverRoute } from "../pages/sign-in/routes.ts";
import { Missing } from "../routing/no-page.tsx";
import { rootRoute, shellRoute } from "../routing/root.ts";

shellRoute.update({ component: lazyRouteComponent(() => import("./shell.tsx"), "Shell") });

/** Any other address: within the frame, too. */
const noPageRoute = createRoute({ getParentRoute: () => shellRoute, path: "$", component: Missing });

/** All pages. The routes of an area stand in its folder. */
export const routeTree = rootRoute.addChildren([
  loginRoute,
  linkRoute,
  inviteRoute,
  recoverRoute,
  programRoute,
  shellRoute.addChildren([
    homeRoute,
    compareRoute,
    ...packagesRoutes,
    ...registryRoutes,
    ...repoSettingsRoutes,
    ...securityRoutes,
    ...accessRoutes,
    ...eventsRoutes,
    ...operationsRoutes,
    ...personalTokensRoutes,
    profileRoute,
    ownSessionsRoute,
    noPageRoute,
  ]),
]);
