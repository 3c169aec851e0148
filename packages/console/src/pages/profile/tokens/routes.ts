import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { groupsQuery } from "../../access/parts/data.ts";
import { registryHostQuery } from "../../access/registry-host.ts";
import { builtInRolesQuery, tokensQuery } from "./queries.ts";

// Named here: within a route's options the compiler does not find out the names.
const ownSearch = pick("order");
const othersSearch = pick("group", "order");

/** `/profile/tokens`: the person's own tokens. */
const ownTokensRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/profile/tokens",
  validateSearch: ownSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient, session }, deps: { order } }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(builtInRolesQuery),
      queryClient.ensureQueryData(registryHostQuery),
      queryClient.ensureInfiniteQueryData(tokensQuery({ identity: session.identity }, order)),
    ]);
  },
  component: lazyRouteComponent(() => import("./own-tokens-page.tsx"), "OwnTokensPage"),
});

/** `/access/personal-tokens`: those of the people of an organization, for who lists its identities. */
const peopleTokensRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/access/personal-tokens",
  validateSearch: othersSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps: { group, order } }) => {
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(builtInRolesQuery),
      queryClient.ensureInfiniteQueryData(tokensQuery(group === undefined ? {} : { group }, order)),
    ]);
  },
  component: lazyRouteComponent(() => import("./people-tokens-page.tsx"), "PeopleTokensPage"),
});

/** The routes of personal tokens. */
export const personalTokensRoutes = [ownTokensRoute, peopleTokensRoute] as const;
