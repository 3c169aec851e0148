import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { groupsQuery } from "../../access/parts/data.ts";
import { registryUpstreamQuery, registryUpstreamsList } from "./queries.ts";

const getParentRoute = () => shellRoute;
// Beside loaderDeps the compiler infers their types only when they stand here.
const listSearch = pick("group", "order");
const oneSearch = pick("uid");

/** `/images/upstreams`: the registries that groups stand for. */
const listRoute = createRoute({
  getParentRoute,
  path: "/images/upstreams",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(registryUpstreamsList(deps)),
    ]),
  component: lazyRouteComponent(() => import("./upstreams-page.tsx"), "UpstreamsPage"),
});

/** `/images/upstream?uid=…`: one of them. */
const oneRoute = createRoute({
  getParentRoute,
  path: "/images/upstream",
  validateSearch: oneSearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context: { queryClient }, deps: { uid } }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureQueryData(registryUpstreamQuery(uid))]),
  component: lazyRouteComponent(() => import("./upstream-page.tsx"), "UpstreamPage"),
});

/** The routes of the registries that groups stand for. */
export const upstreamRoutes = [listRoute, oneRoute] as const;
