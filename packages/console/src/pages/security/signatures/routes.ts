import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { getSignaturePolicy, getSigner } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { groupsQuery } from "../../access/parts/data.ts";
import { policiesList, signersList } from "./queries.ts";
import { trustRootRoutes } from "./roots/routes.ts";

const getParentRoute = () => shellRoute;
// Beside loaderDeps the compiler infers their types only when they stand here.
const policiesSearch = pick("group", "order");
const policySearch = pick("uid");
const signersSearch = pick("group", "order");
const signerSearch = pick("uid");

/** `/signatures/policies`: which signatures images need. */
const policiesRoute = createRoute({
  getParentRoute,
  path: "/signatures/policies",
  validateSearch: policiesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureInfiniteQueryData(policiesList(deps))]),
  component: lazyRouteComponent(() => import("./policies-page.tsx"), "PoliciesPage"),
});

/** `/signatures/policy?uid=…`: one of them, with what it blocks now and what is exempt. */
const policyRoute = createRoute({
  getParentRoute,
  path: "/signatures/policy",
  validateSearch: policySearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context: { queryClient }, deps: { uid } }) =>
    Promise.all([
      queryClient.ensureQueryData(groupsQuery),
      queryClient.ensureQueryData(query(getSignaturePolicy, { uid })),
    ]),
  component: lazyRouteComponent(() => import("./policy-page.tsx"), "PolicyPage"),
});

/** `/signatures/signers`: who signs images. */
const signersRoute = createRoute({
  getParentRoute,
  path: "/signatures/signers",
  validateSearch: signersSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureInfiniteQueryData(signersList(deps))]),
  component: lazyRouteComponent(() => import("./signers-page.tsx"), "SignersPage"),
});

/** `/signatures/signer?uid=…`: one of them, with what hangs on its keys. */
const signerRoute = createRoute({
  getParentRoute,
  path: "/signatures/signer",
  validateSearch: signerSearch,
  loaderDeps: ({ search: { uid = "" } }) => ({ uid }),
  loader: ({ context: { queryClient }, deps: { uid } }) =>
    Promise.all([queryClient.ensureQueryData(groupsQuery), queryClient.ensureQueryData(query(getSigner, { uid }))]),
  component: lazyRouteComponent(() => import("./signer-page.tsx"), "SignerPage"),
});

/** The routes of signatures. */
export const signaturesRoutes = [policiesRoute, policyRoute, signersRoute, signerRoute, ...trustRootRoutes] as const;
