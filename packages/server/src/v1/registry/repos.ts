import type { MessageShape } from "@bufbuild/protobuf";
import {
  type ListReposResponse,
  type Repo as V2Repo,
  CatalogTier as V2CatalogTier,
  RepoSchema as V2RepoSchema,
  ReposService,
  SyncConfigSchema as V2SyncConfigSchema,
} from "@moorage/api/messages";
import {
  CatalogTier,
  type Registry,
  type Repo,
  RepoListSchema,
  RepoSchema,
  SyncConfigSchema,
} from "@moorage/api/v1/registry";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { createTurns } from "@moorage/kernel/lib/turns";
import { mapping, nested, numbered } from "../mapping.ts";
import type { Translation } from "../service.ts";
import { listed, type V2, withId } from "../v2.ts";

const syncConfig = mapping(SyncConfigSchema, V2SyncConfigSchema, {
  source: "source",
  uniqueTags: "uniqueTags",
  expiration: "expirationTime",
  gracePeriod: "gracePeriod",
});

export const repo = mapping(RepoSchema, V2RepoSchema, {
  id: "uid",
  name: "name",
  catalogTier: numbered("catalogTier", [
    [CatalogTier.UNKNOWN, V2CatalogTier.UNSPECIFIED],
    [CatalogTier.APPLICATION, V2CatalogTier.APPLICATION],
    [CatalogTier.BASE, V2CatalogTier.BASE],
    [CatalogTier.FIPS, V2CatalogTier.FIPS],
    [CatalogTier.AI, V2CatalogTier.AI],
    [CatalogTier.DEVTOOLS, V2CatalogTier.DEVTOOLS],
    [CatalogTier.COMMERCIAL, V2CatalogTier.COMMERCIAL],
  ]),
  bundles: "bundles",
  readme: "readme",
  syncConfig: nested("syncConfig", syncConfig),
  aliases: "aliases",
  createTime: "createTime",
  activeTags: "activeTags",
  description: "description",
});

const { createRepo, deleteRepo, getRepoReadme, listRepos, updateRepo } = ReposService.method;

// How often a repo may be made and deleted by others while a call that makes or replaces it looks for it.
const MAX_ATTEMPTS = 3;

export const repos: Pick<Translation<typeof Registry>, "createRepo" | "updateRepo" | "listRepos" | "deleteRepo"> = {
  createRepo: async (v2, { parentId: parent, repo: given, preventExisting }) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return repo.toV1(await v2.answer(createRepo, { parent, ...(given && { repo: repo.toV2(given) }) }));
      } catch (error) {
        if (given === undefined || preventExisting || !hasCode(error, Code.AlreadyExists)) throw error;
        // Another repo may have the name as an alias: that one is not replaced.
        const existing = await repoNamed(v2, parent, given.name);
        if (existing === undefined) throw error;
        try {
          return await replace(v2, { ...given, id: existing.uid });
        } catch (changed) {
          if (attempt === MAX_ATTEMPTS || !hasCode(changed, Code.NotFound)) throw changed;
        }
      }
    }
  },
  updateRepo: replace,
  listRepos: (v2, { id, name, uidp }) =>
    listed(
      RepoListSchema,
      withReadmes(v2, v2.pages(listRepos, { uidp: withId(uidp, id), ...(name !== "" && { name }) })),
      (items) => items,
    ),
  deleteRepo: (v2, { id: uid }) => v2.answer(deleteRepo, { uid }),
};

/** Of the source's settings only those that v1 has are replaced, unless all are cleared. */
async function replace(v2: V2, given: Repo): Promise<MessageShape<typeof RepoSchema>> {
  const paths = repo.mask.paths.flatMap((path) =>
    path === "sync_config" && given.syncConfig !== undefined
      ? syncConfig.mask.paths.map((each) => `${path}.${each}`)
      : path,
  );
  return repo.toV1(await v2.answer(updateRepo, { repo: repo.toV2(given), updateMask: { paths } }));
}

async function repoNamed(v2: V2, parent: string, name: string): Promise<V2Repo | undefined> {
  const { repos: found } = await v2.answer(listRepos, { uidp: { childrenOf: parent }, name });
  return found.find((each) => each.name === name);
}

/** How many readmes are read together, how many repos are sent together, and how long their readmes may be. */
const TOGETHER = 5;
const PART = { repos: 25, chars: 512 * 1024 };

/** The repos of the pages, some at a time, with their readmes, which pages leave out. */
async function* withReadmes(
  v2: V2,
  pages: AsyncGenerator<ListReposResponse, void, undefined>,
): AsyncGenerator<Repo[], void, undefined> {
  const turn = createTurns();
  for await (const { repos: found } of pages) {
    let part: Repo[] = [];
    let chars = 0;
    for (let at = 0; at < found.length; at += TOGETHER)
      for (const read of await Promise.all(found.slice(at, at + TOGETHER).map((each) => withReadme(v2, each)))) {
        if (read === undefined) continue;
        if (part.length === PART.repos || (part.length > 0 && chars + read.readme.length > PART.chars)) {
          yield part;
          [part, chars] = [[], 0];
          await turn();
        }
        part.push(read);
        chars += read.readme.length;
      }
    if (part.length > 0) yield part;
  }
}

/** Undefined for a repo that was deleted since its page was read. */
async function withReadme(v2: V2, listedRepo: V2Repo): Promise<Repo | undefined> {
  try {
    const { content: readme } = await v2.answer(getRepoReadme, { uid: listedRepo.uid });
    return repo.toV1({ ...listedRepo, readme });
  } catch (error) {
    if (hasCode(error, Code.NotFound)) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: Code): boolean {
  return error instanceof MoorageError && error.code === code;
}
