import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import {
  type EventTypeFilter,
  getAdvisory,
  listAdvisories,
  type ReviewState,
} from "../../../api/gen/vulnerabilities.ts";
import { listQuery, query } from "../../../api/queries.ts";
import { shellRoute } from "../../../app/root.ts";
import { pick } from "../../../app/search-params.ts";
import { groupsQuery } from "../../../lib/groups.ts";
import { EVENT_WORDS, REVIEW_WORDS } from "../words.ts";

const PAGE_SIZE = 100;
// Beside loaderDeps the compiler infers their types only when they stand here.
const advisoriesSearch = pick("group", "review", "latest", "query", "order");
const advisorySearch = pick("uid");

/** The filters of the list of advisories, as the URL has them. */
export type AdvisoriesSearch = ReturnType<typeof advisoriesSearch>;

/** The advisories that fit. `review`: `all`, or the state that one of the events has; PENDING without it. */
export function advisoriesQuery({ group, review = "PENDING", latest = "", query: text, order }: AdvisoriesSearch) {
  return listQuery(listAdvisories, {
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(Object.hasOwn(REVIEW_WORDS, review) && { eventReviewStates: [`REVIEW_STATE_${review}` as ReviewState] }),
    ...(Object.hasOwn(EVENT_WORDS, latest) && { latestEventType: `EVENT_TYPE_FILTER_${latest}` as EventTypeFilter }),
    ...(text !== undefined && { query: text }),
    orderBy: order ?? "updateTime desc",
    pageSize: PAGE_SIZE,
  });
}

/** `/advisories`: an inbox, at first of what waits for a review. */
export const advisoriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/advisories",
  validateSearch: advisoriesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureInfiniteQueryData(advisoriesQuery(deps))]),
  component: lazyRouteComponent(() => import("./advisories-page.tsx"), "AdvisoriesPage"),
});

/** An advisory with its events. */
export function advisoryQuery(uid: string) {
  return query(getAdvisory, { uid });
}

/** `/advisory?uid=`: what was found out, and what becomes of it. */
export const advisoryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/advisory",
  validateSearch: advisorySearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context, deps: { uid } }) => uid !== "" && context.queryClient.ensureQueryData(advisoryQuery(uid)),
  component: lazyRouteComponent(() => import("./advisory-page.tsx"), "AdvisoryPage"),
});
