import { TagSchema, TagsService } from "@moorage/api/messages";
import { z } from "zod";
import { notFound } from "@moorage/kernel/errors";
import { isoTime, timestamp } from "@moorage/kernel/lib/timestamps";
import { findRepo } from "../find-resources.ts";
import { parseImageName, parseTime, requireTag } from "../image-names.ts";
import { IMAGE, TIME, timeText } from "../shared-schemas.ts";
import { defineTool } from "../tool.ts";

export const resolveAsOf = defineTool({
  name: "resolve_as_of",
  title: "What a tag pointed to",
  description:
    "Answers the digest that a tag had at a time, by its history, with the name by which exactly that image can be pulled.",
  methods: [TagsService.method.listTagMoves],
  input: z.object({
    image: IMAGE.describe("The tag, as acme/team/app:1.2."),
    time: TIME,
  }),
  output: z.object({
    image: z.string(),
    time: z.string().describe("The last instant of the given time."),
    digest: z.string(),
    since: z.string().describe("When the tag came to point to it."),
    pull: z.string().describe("The name to pull it by."),
  }),
  async run({ call, registryHost }, { image, time }) {
    const name = parseImageName("image", image, registryHost);
    const tag = requireTag("image", name);
    const atMs = parseTime("time", time);
    const repoUid = await findRepo(call, name.path);
    const { moves } = await call(TagsService.method.listTagMoves, {
      repoUid,
      tag,
      // Moves at the very millisecond count; the API's time is not included.
      before: timestamp(atMs + 1),
      pageSize: 1,
    });
    const digest = moves[0]?.digest ?? "";
    if (digest === "") throw notFound(TagSchema.typeName, `${name.path}:${tag} as of ${isoTime(atMs)}`);
    const since = timeText(moves[0]?.time);
    const pull = `${registryHost}/${name.path}@${digest}`;
    return {
      answer: { image: `${name.path}:${tag}`, time: isoTime(atMs), digest, since, pull },
      text: `${name.path}:${tag} pointed to ${digest} at ${isoTime(atMs)}, since ${since}. Pull it as ${pull}`,
      resource: repoUid,
    };
  },
});
