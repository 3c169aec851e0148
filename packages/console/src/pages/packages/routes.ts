import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { groupsQuery } from "../../lib/groups.ts";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { groupsQuery as choicesQuery } from "../access/parts/data.ts";
import {
  blocksList,
  packageFindingsQuery,
  packageQuery,
  packagesQuery,
  policiesList,
  upstreamsList,
  versionsQuery,
} from "./queries.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const search = pick("q", "ecosystem", "group");
const listSearch = pick("group", "ecosystem", "order");
const blocksSearch = pick("group", "ecosystem", "order", "q");
const packageSearch = pick("uid", "part", "version");

/** `/packages`: the packages of npm, PyPI and Maven that groups hold. */
const packagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/packages",
  validateSearch: search,
  loaderDeps: ({ search: wanted }) => wanted,
  loader: ({ context: { queryClient }, deps }) => queryClient.ensureInfiniteQueryData(packagesQuery(deps)),
  component: lazyRouteComponent(() => import("./packages-page.tsx"), "PackagesPage"),
});

/** `/package?uid=`: one package. `part`: `uses` or `findings`; `version`: the one that is looked at. */
const packageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/package",
  validateSearch: packageSearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: async ({ context: { queryClient }, deps: { uid } }) => {
    if (uid === "") return;
    void queryClient.prefetchInfiniteQuery(packageFindingsQuery(uid));
    await Promise.all([
      queryClient.ensureQueryData(packageQuery(uid)),
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(versionsQuery(uid)),
    ]);
  },
  component: lazyRouteComponent(() => import("./package-page.tsx"), "PackagePage"),
});

/** `/packages/upstreams`: the registries that groups fetch packages from. */
const upstreamsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/packages/upstreams",
  validateSearch: listSearch,
  loaderDeps: ({ search: wanted }) => wanted,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(choicesQuery), queryClient.ensureInfiniteQueryData(upstreamsList(deps))]),
  component: lazyRouteComponent(() => import("./upstreams-page.tsx"), "UpstreamsPage"),
});

/** `/packages/policies`: which versions clients are given. */
const policiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/packages/policies",
  validateSearch: listSearch,
  loaderDeps: ({ search: wanted }) => wanted,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(choicesQuery), queryClient.ensureInfiniteQueryData(policiesList(deps))]),
  component: lazyRouteComponent(() => import("./policies-page.tsx"), "PoliciesPage"),
});

/** `/packages/blocked`: what clients asked for and were not given, or would not be. */
const blocksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/packages/blocked",
  validateSearch: blocksSearch,
  loaderDeps: ({ search: wanted }) => wanted,
  loader: ({ context: { queryClient }, deps }) => queryClient.ensureInfiniteQueryData(blocksList(deps)),
  component: lazyRouteComponent(() => import("./blocks-page.tsx"), "BlocksPage"),
});

/** The routes of the area. */
export const packagesRoutes = [packagesRoute, packageRoute, upstreamsRoute, policiesRoute, blocksRoute] as const;
