import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { getRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";

// Beside loaderDeps the compiler infers its type only when it stands here.
const settingsSearch = pick("name", "part");

/** `/repo/settings?name=acme/app`: what can be set of an image, by section: `part`. */
const repoSettingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/repo/settings",
  validateSearch: settingsSearch,
  loaderDeps: ({ search: { name = "" } }) => ({ name }),
  loader: async ({ context: { queryClient }, deps: { name } }) => {
    const uid = await queryClient.ensureQueryData(repoByPathQuery(name));
    await queryClient.ensureQueryData(query(getRepo, { uid }));
    return { uid };
  },
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

/** The routes of the area. */
export const repoSettingsRoutes = [repoSettingsRoute] as const;
