import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { explainAccess } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { requestOf } from "./explain/request.ts";
import { groupsQuery, identitiesQuery } from "./parts/data.ts";

const questionSearch = pick("identity", "action", "resource", "method", "issuer", "subject", "claims");

/** `/access/explain`: whether somebody may do something, and why not. */
export const explainRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/access/explain",
  validateSearch: questionSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    const request = requestOf(deps);
    await Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(identitiesQuery),
      // What goes wrong is shown below the question.
      request === undefined ? undefined : queryClient.prefetchQuery(query(explainAccess, request)),
    ]);
  },
  component: lazyRouteComponent(() => import("./explain/page.tsx"), "ExplainPage"),
});
