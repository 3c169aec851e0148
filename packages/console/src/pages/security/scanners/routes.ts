import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { groupsQuery } from "../../access/parts/data.ts";
import { scannersList } from "./queries.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const search = pick("group", "order");

/** `/scanners`: programs elsewhere that scan the images of groups. */
export const scannersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/scanners",
  validateSearch: search,
  loaderDeps: ({ search: wanted }) => wanted,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureInfiniteQueryData(scannersList(deps))]),
  component: lazyRouteComponent(() => import("./scanners-page.tsx"), "ScannersPage"),
});
