import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { packagesQuery } from "./queries.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const search = pick("q", "ecosystem", "group");

/** `/packages`: the packages of npm, PyPI and Maven that groups hold. */
export const packagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/packages",
  validateSearch: search,
  loaderDeps: ({ search: wanted }) => wanted,
  loader: ({ context: { queryClient }, deps }) => queryClient.ensureInfiniteQueryData(packagesQuery(deps)),
  component: lazyRouteComponent(() => import("./packages-page.tsx"), "PackagesPage"),
});
