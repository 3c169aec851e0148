import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { getDiff } from "../../api/gen/registry.ts";
import { listQuery } from "../../api/queries.ts";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { shellRoute } from "../../app/root.ts";
import { pick } from "../../app/search-params.ts";
import { splitReference } from "./names.ts";

const compareSearch = pick("from", "to");
const PAGE_SIZE = 200;

/** What differs between two images of a repo. */
export function diffQuery(repoUid: string, from: string, to: string) {
  return listQuery(getDiff, {
    repoUid,
    from: splitReference(from).reference,
    to: splitReference(to).reference,
    pageSize: PAGE_SIZE,
  });
}

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
