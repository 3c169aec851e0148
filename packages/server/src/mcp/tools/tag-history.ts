import { TagsService } from "@moorage/api/messages";
import { z } from "zod";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { findRepo } from "../find-resources.ts";
import { parseImageName, parseTime, requireTag } from "../image-names.ts";
import { IMAGE, linesOf, NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN, TIME, timeText } from "../shared-schemas.ts";
import { defineTool } from "../tool.ts";

export const tagHistory = defineTool({
  name: "tag_history",
  description:
    "Says what a tag has pointed to, newest first: when it was moved or deleted, from which digest to which, why, and by whom where the caller may know. Tags that were deleted have a history too.",
  methods: [TagsService.method.listTagMoves],
  input: z.object({
    image: IMAGE.describe("The tag, as acme/team/app:1.2."),
    since: TIME.optional().describe("Only moves since this time."),
    before: TIME.optional().describe("Only moves up to this time."),
    page_size: PAGE_SIZE,
    page_token: PAGE_TOKEN,
  }),
  output: z.object({
    image: z.string(),
    moves: z.array(
      z.object({
        time: z.string(),
        digest: z.string().describe("What it points to since then; empty when it was deleted."),
        previous_digest: z.string().describe("Empty when it was not there before."),
        reason: z.string().describe("push, api, mirror, promote, rollback, delete, retention, or import: a claim."),
        actor: z.string().describe("The uid of the identity that moved it; empty when the caller may not know."),
      }),
    ),
    next_page_token: NEXT_PAGE_TOKEN,
  }),
  async run({ call, registryHost }, { image, since, before, page_size: pageSize, page_token: pageToken }) {
    const name = parseImageName("image", image, registryHost);
    const tag = requireTag("image", name);
    const repoUid = await findRepo(call, name.path);
    const found = await call(TagsService.method.listTagMoves, {
      repoUid,
      tag,
      pageSize,
      pageToken,
      ...(since !== undefined && { since: timestamp(parseTime("since", since)) }),
      // The API's time is not included in its answer.
      ...(before !== undefined && { before: timestamp(parseTime("before", before) + 1) }),
    });
    const moves = found.moves.map(({ time, digest, previousDigest, reason, actor }) => ({
      time: timeText(time),
      digest,
      previous_digest: previousDigest,
      reason,
      actor,
    }));
    const lines = moves.map(({ time, digest, reason }) => `${time} ${reason} ${digest || "deleted"}`);
    return {
      answer: { image: `${name.path}:${tag}`, moves, next_page_token: found.nextPageToken },
      text: moves.length === 0 ? "No moves of this tag are known in that time." : linesOf(lines, found.nextPageToken),
      resource: repoUid,
    };
  },
});
