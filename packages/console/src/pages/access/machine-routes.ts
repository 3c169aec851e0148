import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { groupsQuery } from "./parts/data.ts";
import { keysList, machinesList, termsList } from "./queries.ts";
import { issuerQuery, registryHostQuery } from "./registry-host.ts";

const getParentRoute = () => shellRoute;
const listSearch = pick("group", "order");
const termsSearch = pick("group", "order", "document");

const machinesRoute = createRoute({
  getParentRoute,
  path: "/access/machines",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(registryHostQuery),
      queryClient.ensureQueryData(issuerQuery),
      queryClient.ensureInfiniteQueryData(machinesList(deps)),
    ]);
  },
  component: lazyRouteComponent(() => import("./machines-page.tsx"), "MachinesPage"),
});
const pullTokensRoute = createRoute({
  getParentRoute,
  path: "/access/pull-tokens",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(registryHostQuery),
      queryClient.ensureInfiniteQueryData(keysList(deps)),
    ]);
  },
  component: lazyRouteComponent(() => import("./pull-tokens-page.tsx"), "PullTokensPage"),
});
const termsRoute = createRoute({
  getParentRoute,
  path: "/access/terms",
  validateSearch: termsSearch,
  loaderDeps: ({ search: { group, order } }) => ({ ...(group && { group }), ...(order && { order }) }),
  loader: async ({ context: { queryClient }, deps }) => {
    await queryClient.ensureQueryData(groupsQuery);
    if (deps.group !== undefined) await queryClient.ensureInfiniteQueryData(termsList(deps));
  },
  component: lazyRouteComponent(() => import("./terms-page.tsx"), "TermsPage"),
});

/** The routes of machines and their passwords, and of terms. */
export const machineRoutes = [machinesRoute, pullTokensRoute, termsRoute] as const;
