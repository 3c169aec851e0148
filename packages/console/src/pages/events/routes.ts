import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { getSubscription } from "../../api/gen/events.ts";
import { query } from "../../api/queries.ts";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { groupsQuery } from "../../lib/groups.ts";
import { type AuditSearch, auditQuery } from "./audit-query.ts";
import { subscriptionsQuery } from "./queries.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const subscriptionsSearch = pick("group", "order");
const subscriptionSearch = pick("uid", "state", "type");
const auditSearch = pick("group", "identity", "method", "decision", "resource", "since", "until", "order", "own");

/** `/events`: what happens in a group. `from`: `oldest`, or the recent events and those to come without it. */
const feedRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/events",
  validateSearch: pick("group", "type", "subject", "from"),
  loader: ({ context }) => context.queryClient.ensureQueryData(groupsQuery),
  component: lazyRouteComponent(() => import("./feed-page.tsx"), "FeedPage"),
});

/** `/events/subscriptions`: to whom events are sent, and how that goes. */
const subscriptionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/events/subscriptions",
  validateSearch: subscriptionsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    Promise.all([
      context.queryClient.ensureQueryData(groupsQuery),
      context.queryClient.ensureInfiniteQueryData(subscriptionsQuery(deps.group ?? "", deps.order)),
    ]),
  component: lazyRouteComponent(() => import("./subscriptions-page.tsx"), "SubscriptionsPage"),
});

/** `/events/subscriptions/new?group=`: a form for a webhook. */
const newSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/events/subscriptions/new",
  validateSearch: pick("group"),
  loader: ({ context }) => context.queryClient.ensureQueryData(groupsQuery),
  component: lazyRouteComponent(() => import("./new-subscription-page.tsx"), "NewSubscriptionPage"),
});

/** `/events/subscription?uid=`: one subscription and its deliveries, those in a `state` when it is named. */
const subscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/events/subscription",
  validateSearch: subscriptionSearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context, deps: { uid } }) =>
    Promise.all([
      context.queryClient.ensureQueryData(groupsQuery),
      context.queryClient.ensureQueryData(query(getSubscription, { uid })),
    ]),
  component: lazyRouteComponent(() => import("./subscription-page.tsx"), "SubscriptionPage"),
});

/** `/audit`: who did what, and what was refused. */
const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/audit",
  validateSearch: auditSearch,
  loaderDeps: ({ search }): AuditSearch => search,
  loader: ({ context, deps }) =>
    Promise.all([
      context.queryClient.ensureQueryData(groupsQuery),
      // What is wrong with a filter is shown beside it.
      context.queryClient.prefetchInfiniteQuery(auditQuery(deps)),
    ]),
  component: lazyRouteComponent(() => import("./audit-page.tsx"), "AuditPage"),
});

/** The routes of the area. */
export const eventsRoutes = [
  feedRoute,
  subscriptionsRoute,
  newSubscriptionRoute,
  subscriptionRoute,
  auditRoute,
] as const;
