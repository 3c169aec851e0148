import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readAccount } from "../../../api/account.ts";
import { shellRoute } from "../../../app/root.ts";
import { pick } from "../../../app/search-params.ts";

/** What signs the person in. */
export const accountQuery = { queryKey: ["own account"], queryFn: readAccount };

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
