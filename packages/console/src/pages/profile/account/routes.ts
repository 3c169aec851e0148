import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { accountQuery } from "./queries.ts";

// Beside loaderDeps the compiler infers its type only when it stands here.
const profileSearch = pick("first");

/** `/profile`: what signs the person in. `first`: whether the first start's link led here. */
export const profileRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/profile",
  validateSearch: profileSearch,
  loader: ({ context: { queryClient } }) => queryClient.ensureQueryData(accountQuery),
  component: lazyRouteComponent(() => import("./profile-page.tsx"), "ProfilePage"),
});
