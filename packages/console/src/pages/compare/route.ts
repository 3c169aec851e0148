import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { splitReference } from "./names.ts";
import { diffQuery } from "./queries.ts";

const compareSearch = pick("from", "to");

/** `/compare?from=acme/app:1.1&to=acme/app:1.2`: two images of one repo, each by tag, digest or a tag's time. */
export const compareRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/compare",
  validateSearch: compareSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps: { from = "", to = "" } }) => {
    const uid = await queryClient.ensureQueryData(repoByPathQuery(splitReference(from).repo));
    await queryClient.ensureInfiniteQueryData(diffQuery(uid, from, to));
  },
  component: lazyRouteComponent(() => import("./compare-page.tsx"), "ComparePage"),
});
