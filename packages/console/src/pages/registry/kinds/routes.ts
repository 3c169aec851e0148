import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { groupsQuery } from "../../access/parts/data.ts";
import { kindQuery } from "./queries.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const mirrorsSearch = pick("group");
const deprecatedSearch = pick("group");

/** `/images/mirrors`: images that follow others. */
const mirrorsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/images/mirrors",
  validateSearch: mirrorsSearch,
  loaderDeps: ({ search: { group = "" } }) => ({ group }),
  loader: ({ context: { queryClient }, deps: { group } }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.prefetchInfiniteQuery(kindQuery(group))]),
  component: lazyRouteComponent(() => import("./kind-pages.tsx"), "MirrorsPage"),
});

/** `/images/deprecated`: images that are not to be used any longer. */
const deprecatedRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/images/deprecated",
  validateSearch: deprecatedSearch,
  loaderDeps: ({ search: { group = "" } }) => ({ group }),
  loader: ({ context: { queryClient }, deps: { group } }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.prefetchInfiniteQuery(kindQuery(group))]),
  component: lazyRouteComponent(() => import("./kind-pages.tsx"), "DeprecatedPage"),
});

/** The routes of images by kind. */
export const kindRoutes = [mirrorsRoute, deprecatedRoute] as const;
