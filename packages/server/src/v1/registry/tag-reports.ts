import { create, type MessageShape } from "@bufbuild/protobuf";
import { Registry, TagHistoryListSchema, TagHistorySchema } from "@moorage/api/v1/registry";
import { invalidArgument } from "@moorage/kernel/errors";
import { milliseconds, timestamp, wholeMilliseconds } from "@moorage/kernel/lib/timestamps";
import { historyPages, repos, tagPages, tags } from "@moorage/registry/registry";
import { reading, type Translation } from "../service.ts";
import { listed } from "../v2.ts";
import { excludes, LatestVersion } from "./tag-names.ts";
import { tag } from "./tags.ts";

type TagRow = Parameters<typeof tags.toMessage>[0];

/** What v1 alone answers about tags. */
export const tagReports: Pick<Translation<typeof Registry>, "getRepoTagsSummary" | "listTagHistory"> = {
  getRepoTagsSummary: reading(Registry.method.getRepoTagsSummary, async (call, { repoId, ...leftOut }) => {
    const { uid: id } = await repos.get(call.tx, repoId);
    const isExcluded = excludes(leftOut);
    const latestVersion = new LatestVersion();
    let latest: TagRow | undefined;
    let tagCount = 0n;
    for await (const page of tagPages(call, id))
      for (const each of page) {
        if (isExcluded(each.name)) continue;
        tagCount += 1n;
        latestVersion.see(each.name);
        if (latest === undefined || each.update_time > latest.update_time) latest = each;
      }
    const summary = { id, tagCount, latestVersion: latestVersion.name };
    if (latest === undefined) return summary;
    const latestTag = tag.toV1(tags.toMessage(latest));
    return { ...summary, latestTag, ...(latestTag.lastUpdated && { lastUpdated: latestTag.lastUpdated }) };
  }),
  listTagHistory: reading(Registry.method.listTagHistory, async (call, { parentId, start, end }) => {
    const startMs = start === undefined ? Number.MIN_SAFE_INTEGER : milliseconds(start);
    const endMs = end === undefined ? Number.MAX_SAFE_INTEGER : wholeMilliseconds(end);
    // A time between two milliseconds is a window in which nothing can have happened.
    if (start !== undefined && end !== undefined && endMs < wholeMilliseconds(start))
      throw invalidArgument({ field: "end", description: "must not be before start" });
    const { parent: repo, name } = await tags.get(call.tx, parentId);
    return await listed(TagHistoryListSchema, historyPages(call, { repo, tag: name }, { startMs, endMs }), (records) =>
      records.map(record),
    );
  }),
};

function record({ time, digest }: { time: number; digest: string }): MessageShape<typeof TagHistorySchema> {
  return create(TagHistorySchema, { updateTimestamp: timestamp(Number(time)), digest });
}
