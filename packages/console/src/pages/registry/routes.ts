import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { getRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { repoByPathQuery } from "../../api/repo-by-path.ts";
import { shellRoute } from "../../routing/root.ts";
import { pick } from "../../routing/search-params.ts";
import { kindRoutes } from "./kinds/routes.ts";
import { replicationRoutes } from "./replications/routes.ts";
import { upstreamRoutes } from "./upstreams/routes.ts";
import { historyQuery, splitName } from "./tag/history.ts";
import { allGroupsQuery, FLAT, foldersQuery, foundQuery, reposQuery } from "./queries.ts";
import { tagsQuery } from "./tags-query.ts";

// Beside loaderDeps the compiler infers their types only when they stand here.
const imagesSearch = pick("q", "group", "order", "view");
const tagSearch = pick("name", "at", "by");
const repoSearch = pick(
  "name",
  "q",
  "order",
  "part",
  "rows",
  "updated",
  "status",
  "hide",
  "platform",
  "signature",
  "findings",
);

/** `/images`: finds images by a few letters (`q`), or lists those of a group. */
const imagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/images",
  validateSearch: imagesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) =>
    Promise.all([
      queryClient.ensureQueryData(allGroupsQuery),
      deps.q !== undefined
        ? queryClient.prefetchInfiniteQuery(foundQuery(deps.q, deps.group))
        : Promise.all([
            queryClient.ensureInfiniteQueryData(reposQuery(deps)),
            ...(deps.view === FLAT ? [] : [queryClient.prefetchQuery(foldersQuery(deps.group))]),
          ]),
    ]),
  component: lazyRouteComponent(() => import("./images-page.tsx"), "ImagesPage"),
});

/** `/repo?name=acme/app`: the tags of a repo; those whose name holds `q` and that fit the filters. */
const repoRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/repo",
  validateSearch: repoSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps }) => {
    const uid = await queryClient.ensureQueryData(repoByPathQuery(deps.name ?? ""));
    await Promise.all([
      queryClient.ensureQueryData(query(getRepo, { uid })),
      queryClient.ensureInfiniteQueryData(tagsQuery(uid, deps)),
      // What the head says of all of them.
      queryClient.ensureInfiniteQueryData(tagsQuery(uid, {})),
    ]);
  },
  component: lazyRouteComponent(() => import("./repo-page.tsx"), "RepoPage"),
});

/**
 * `/tag?name=acme/app:1.2`: what a tag has pointed to. `at`: the moment that is looked at; `by`: what columns are as
 * high as.
 */
const tagRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tag",
  validateSearch: tagSearch,
  // The moment is shown from what is there already.
  loaderDeps: ({ search: { name } }) => ({ name }),
  loader: ({ context: { queryClient }, deps }) => {
    const { repo, tag } = splitName(deps.name ?? "");
    return Promise.all([
      queryClient.ensureQueryData(repoByPathQuery(repo)),
      queryClient.ensureInfiniteQueryData(historyQuery(repo, tag)),
    ]);
  },
  component: lazyRouteComponent(() => import("./tag/tag-page.tsx"), "TagPage"),
});

/** The routes of the area. */
export const registryRoutes = [
  imagesRoute,
  ...kindRoutes,
  ...replicationRoutes,
  ...upstreamRoutes,
  repoRoute,
  tagRoute,
] as const;
