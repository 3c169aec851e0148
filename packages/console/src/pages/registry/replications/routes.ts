import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { groupsQuery } from "../../access/parts/data.ts";
import { replicationQuery, replicationsList } from "./queries.ts";

const getParentRoute = () => shellRoute;
// Beside loaderDeps the compiler infers their types only when they stand here.
const listSearch = pick("group", "order");
const oneSearch = pick("uid", "state");

/** `/images/replications`: which images are pushed to other registries. */
const listRoute = createRoute({
  getParentRoute,
  path: "/images/replications",
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureInfiniteQueryData(replicationsList(deps)),
    ]),
  component: lazyRouteComponent(() => import("./replications-page.tsx"), "ReplicationsPage"),
});

/** `/images/replication?uid=…`: one of them, tag by tag; those of a state (`state`). */
const oneRoute = createRoute({
  getParentRoute,
  path: "/images/replication",
  validateSearch: oneSearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context: { queryClient }, deps: { uid } }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureQueryData(replicationQuery(uid))]),
  component: lazyRouteComponent(() => import("./replication-page.tsx"), "ReplicationPage"),
});

/** The routes of replications. */
export const replicationRoutes = [listRoute, oneRoute] as const;
