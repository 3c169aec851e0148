import * as v2 from "@moorage/api";
import { Registry } from "@moorage/api/v1/registry";
import { type Fields, type Kind, NAMES, some, text } from "./twin-kind.ts";

const TIERS: Readonly<Record<string, string>> = {
  CATALOG_TIER_UNSPECIFIED: "UNKNOWN",
  CATALOG_TIER_BASE: "BASE",
  CATALOG_TIER_AI: "AI",
};
const DIGESTS: readonly string[] = ["1", "2", "3"].map((digit) => `sha256:${digit.repeat(64)}`);

/** The resources of moorage.registry. */
export const REGISTRY: Readonly<Record<"repo" | "tag", Kind>> = {
  repo: {
    parent: "group",
    fields: (names) => ({
      name: names.dice.chance(0.05) ? "No name!" : names.dice.pick(NAMES),
      description: text(names),
      catalogTier: names.dice.pick(Object.keys(TIERS)),
      bundles: some(names, ["base", "tools"]),
      readme: text(names),
      aliases: some(names, ["x", "y"]),
      activeTags: some(names, ["1", "2"]),
    }),
    v1: {
      // Without it a repo of that name is replaced, for which v2 has no one method.
      create: (parentId, fields) => [
        Registry.method.createRepo,
        { parentId, repo: repoOfV1(fields), preventExisting: true },
      ],
      replace: (id, fields) => [Registry.method.updateRepo, { id, ...repoOfV1(fields) }],
      remove: (id) => [Registry.method.deleteRepo, { id }],
    },
    v2: {
      create: (parent, repo) => [v2.ReposService.method.createRepo, { parent, repo }],
      replace: (uid, repo) => [
        v2.ReposService.method.updateRepo,
        {
          repo: { uid, ...repo },
          updateMask: "name,description,catalogTier,bundles,readme,aliases,activeTags,syncConfig",
        },
      ],
      remove: (uid) => [v2.ReposService.method.deleteRepo, { uid }],
    },
    byV2: (uid, _fields, dice) => [
      v2.ReposService.method.updateRepo,
      {
        repo: { uid, product: { id: dice.pick(NAMES) }, tagPolicy: { immutableTags: dice.pick([[], ["1"]]) } },
        updateMask: "product,tagPolicy",
      },
    ],
  },
  tag: {
    parent: "repo",
    fields: (names) => ({
      name: names.dice.pick(["1", "2", "latest"]),
      digest: names.dice.chance(0.05) ? "no digest" : names.dice.pick(DIGESTS),
      deprecated: names.dice.chance(0.3),
      bundles: some(names, ["base", "tools"]),
    }),
    v1: {
      create: (repoId, tag) => [Registry.method.createTag, { repoId, tag }],
      // A tag keeps its name.
      replace: (id, tag, { name }) => [Registry.method.updateTag, { id, ...tag, name }],
      remove: (id) => [Registry.method.deleteTag, { id }],
    },
    v2: {
      create: (parent, tag) => [v2.TagsService.method.createTag, { parent, tag }],
      // Create of v2 moves tags, and makes those that are gone.
      replace: (uid, tag, { parent, name, isGone }) =>
        isGone
          ? [v2.TagsService.method.getTag, { uid }]
          : [v2.TagsService.method.createTag, { parent, tag: { ...tag, name } }],
      remove: (uid) => [v2.TagsService.method.deleteTag, { uid }],
    },
  },
};

function repoOfV1({ catalogTier, ...fields }: Fields): Fields {
  return { ...fields, catalogTier: TIERS[catalogTier as string] ?? "UNKNOWN" };
}
