import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { listPersonalTokens, listRoles } from "../../../api/gen/iam.ts";
import { listQuery, query } from "../../../api/queries.ts";
import { shellRoute } from "../../../app/root.ts";
import { pick } from "../../../app/search-params.ts";
import { groupsQuery } from "../../access/parts/data.ts";
import { registryHostQuery } from "../../access/registry-host.ts";

const PAGE_SIZE = 100;
const MAX_ROLES = 200;
// Named here: within a route's options the compiler does not find out the names.
const ownSearch = pick("order");
const othersSearch = pick("group", "order");

/** The tokens of one person, or of all whose tokens the person sees. */
export function tokensQuery(filter: { identity?: string; group?: string }, order = "createTime desc") {
  return listQuery(listPersonalTokens, { ...filter, orderBy: order, pageSize: PAGE_SIZE });
}

/** The roles of every installation, whose capabilities a token's permissions stand for. */
export const builtInRolesQuery = query(listRoles, { uidp: { inRoot: true }, pageSize: MAX_ROLES });

/** `/profile/tokens`: the person's own tokens. */
export const ownTokensRoute = createRoute({
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
export const peopleTokensRoute = createRoute({
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
