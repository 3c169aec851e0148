import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../../routing/root.ts";
import { pick } from "../../../routing/search-params.ts";
import { placeQuery } from "./data.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const imageSearch = pick("name", "part", "platform", "query", "severity", "state", "only", "layer", "asOf");

/**
 * `/image?name=acme/app@sha256:…` or `name=acme/app:tag`. `part`: which part of it is shown; `platform`: which image of
 * an index; `asOf`: the time that signatures are shown of; `layer`: the digest of
 * a layer that packages and findings are in; the rest are filters of these.
 */
export const imageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/image",
  validateSearch: imageSearch,
  loaderDeps: ({ search: { name = "" } }) => ({ name }),
  loader: ({ context, deps: { name } }) => name !== "" && context.queryClient.ensureQueryData(placeQuery(name)),
  component: lazyRouteComponent(() => import("./image-page.tsx"), "ImagePage"),
});
