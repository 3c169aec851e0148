import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { groupsQuery } from "./parts/data.ts";
import { associationsList, invitesList, mailQuery, mappingsList, providersList } from "./queries.ts";

const getParentRoute = () => shellRoute;
const listSearch = pick("group", "order");
const mappingsSearch = pick("group", "order", "provider");

const providersRoute = createRoute({
  getParentRoute,
  path: "/access/providers",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(providersList(deps)),
    ]);
  },
  component: lazyRouteComponent(() => import("./providers-page.tsx"), "ProvidersPage"),
});
const mappingsRoute = createRoute({
  getParentRoute,
  path: "/access/mappings",
  validateSearch: mappingsSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(mappingsList(deps)),
    ]);
  },
  component: lazyRouteComponent(() => import("./mappings-page.tsx"), "MappingsPage"),
});
const invitesRoute = createRoute({
  getParentRoute,
  path: "/access/invites",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(invitesList(deps)),
      queryClient.ensureQueryData(mailQuery),
    ]);
  },
  component: lazyRouteComponent(() => import("./invites-page.tsx"), "InvitesPage"),
});
const associationsRoute = createRoute({
  getParentRoute,
  path: "/access/associations",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(associationsList(deps)),
    ]);
  },
  component: lazyRouteComponent(() => import("./associations-page.tsx"), "AssociationsPage"),
});

/** The routes of how people and accounts of others come in. */
export const sourceRoutes = [providersRoute, mappingsRoute, invitesRoute, associationsRoute] as const;
