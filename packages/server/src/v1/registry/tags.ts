import { TagSchema as V2TagSchema, TagsService } from "@moorage/api/messages";
import { type Registry, TagListSchema, TagSchema } from "@moorage/api/v1/registry";
import { invalidArgument } from "@moorage/kernel/errors";
import { parentOf } from "@moorage/kernel/lib/uid";
import { mapping } from "../mapping.ts";
import type { Translation } from "../service.ts";
import { listed, withId } from "../v2.ts";
import { excludes } from "./tag-names.ts";

export const tag = mapping(TagSchema, V2TagSchema, {
  id: "uid",
  name: "name",
  digest: "digest",
  lastUpdated: "updateTime",
  deprecated: "deprecated",
  bundles: "bundles",
});

const { createTag, deleteTag, getTag, listTags } = TagsService.method;

export const tags: Pick<Translation<typeof Registry>, "createTag" | "updateTag" | "deleteTag" | "listTags"> = {
  createTag: async (v2, { repoId: parent, tag: given }) =>
    tag.toV1(await v2.answer(createTag, { parent, ...(given && { tag: tag.toV2(given) }) })),
  async updateTag(v2, given) {
    const { uid, name } = await v2.answer(getTag, { uid: given.id });
    if (given.name !== name)
      throw invalidArgument({ field: "name", description: `must be ${name}: a tag keeps its name` });
    const request = { parent: parentOf(uid), tag: tag.toV2(given) };
    // A tag that is deleted in between is not made again.
    return tag.toV1(await v2.answer(createTag, request, { replaces: uid }));
  },
  listTags: (v2, { id, uidp, name, digest, updatedSince, ...leftOut }) => {
    const isExcluded = excludes(leftOut);
    return listed(
      TagListSchema,
      v2.pages(listTags, { uidp: withId(uidp, id), name, digest, ...(updatedSince && { updatedSince }) }),
      ({ tags: found }) => found.filter((each) => !isExcluded(each.name)).map(tag.toV1),
    );
  },
  deleteTag: (v2, { id: uid }) => v2.answer(deleteTag, { uid }),
};
