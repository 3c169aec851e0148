import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { getGroup, getIdentity, getRole } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { groupsQuery, providersQuery } from "./parts/data.ts";
import { bindingsList, identitiesList, mailQuery, rolesList } from "./queries.ts";
import { explainRoute } from "./explain-route.ts";
import { machineRoutes } from "./machine-routes.ts";
import { sourceRoutes } from "./source-routes.ts";

const getParentRoute = () => shellRoute;
// Named here: within a route's options the compiler does not find out the names.
const oneSearch = pick("uid");
const identitySearch = pick("uid", "order");
const listSearch = pick("group", "order");
const bindingsSearch = pick("group", "order", "identity", "role");

const groupsRoute = createRoute({
  getParentRoute,
  path: "/access/groups",
  validateSearch: pick("q"),
  loader: ({ context }) => context.queryClient.ensureQueryData(groupsQuery),
  component: lazyRouteComponent(() => import("./groups-page.tsx"), "GroupsPage"),
});
const groupRoute = createRoute({
  getParentRoute,
  path: "/access/group",
  validateSearch: oneSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps: { uid = "" } }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(query(getGroup, { uid })),
    ]);
  },
  component: lazyRouteComponent(() => import("./group-page.tsx"), "GroupPage"),
});
const identitiesRoute = createRoute({
  getParentRoute,
  path: "/access/identities",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(identitiesList(deps)),
    ]);
  },
  component: lazyRouteComponent(() => import("./identities-page.tsx"), "IdentitiesPage"),
});
const identityRoute = createRoute({
  getParentRoute,
  path: "/access/identity",
  validateSearch: identitySearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps: { uid = "", order } }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(query(getIdentity, { uid })),
      queryClient.ensureQueryData(providersQuery),
      queryClient.ensureQueryData(mailQuery),
      queryClient.ensureInfiniteQueryData(bindingsList({ identity: uid, ...(order !== undefined && { order }) })),
    ]);
  },
  component: lazyRouteComponent(() => import("./identity-page.tsx"), "IdentityPage"),
});
const rolesRoute = createRoute({
  getParentRoute,
  path: "/access/roles",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureInfiniteQueryData(rolesList(deps))]);
  },
  component: lazyRouteComponent(() => import("./roles-page.tsx"), "RolesPage"),
});
const roleRoute = createRoute({
  getParentRoute,
  path: "/access/role",
  validateSearch: oneSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps: { uid = "" } }) => {
    await Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureQueryData(query(getRole, { uid }))]);
  },
  component: lazyRouteComponent(() => import("./role-page.tsx"), "RolePage"),
});
const bindingsRoute = createRoute({
  getParentRoute,
  path: "/access/bindings",
  validateSearch: bindingsSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(bindingsList(deps)),
    ]);
  },
  component: lazyRouteComponent(() => import("./bindings-page.tsx"), "BindingsPage"),
});

/** The routes of the area. */
export const accessRoutes = [
  groupsRoute,
  groupRoute,
  identitiesRoute,
  identityRoute,
  rolesRoute,
  roleRoute,
  bindingsRoute,
  ...sourceRoutes,
  ...machineRoutes,
  explainRoute,
] as const;
