import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../../routing/root.ts";
import { pick } from "../../../../routing/search-params.ts";
import { groupsQuery } from "../../../access/parts/data.ts";
import { trustRootQuery, trustRootsList } from "./queries.ts";

const getParentRoute = () => shellRoute;
// Beside loaderDeps the compiler infers their types only when they stand here.
const listSearch = pick("group", "order");
const oneSearch = pick("uid");

/** `/signatures/trust-roots`: by what the identities of signers are verified. */
const listRoute = createRoute({
  getParentRoute,
  path: "/signatures/trust-roots",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureInfiniteQueryData(trustRootsList(deps))]),
  component: lazyRouteComponent(() => import("./roots-page.tsx"), "TrustRootsPage"),
});

/** `/signatures/trust-root?uid=…`: one of them, with what it names and who names it. */
const oneRoute = createRoute({
  getParentRoute,
  path: "/signatures/trust-root",
  validateSearch: oneSearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context: { queryClient }, deps: { uid } }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureQueryData(trustRootQuery(uid))]),
  component: lazyRouteComponent(() => import("./root-page.tsx"), "TrustRootPage"),
});

/** The routes of trust roots. */
export const trustRootRoutes = [listRoute, oneRoute] as const;
