import { FindingsService, KnowledgeState } from "@moorage/api/messages";
import { z } from "zod";
import { findGroup, findRepo, pathsOf } from "../find-resources.ts";
import { parseImageName } from "../image-names.ts";
import { STATE, stateName } from "../knowledge.ts";
import { linesOf, NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN } from "../shared-schemas.ts";
import { defineTool } from "../tool.ts";

const WANTED = { NOT_READ: KnowledgeState.NOT_READ, NO_DATA: KnowledgeState.NO_DATA } as const;

export const listUnknownImages = defineTool({
  name: "list_unknown_images",
  description:
    "Lists the images that tags point to and whose vulnerabilities are not known, with the reason: that nothing is found in them says nothing. A page may have few results although more follow.",
  methods: [FindingsService.method.listUnknownImages],
  input: z.object({
    image: z.string().max(1024).default("").describe("Only images of this repo, as acme/team/app; empty for all."),
    group: z.string().max(1024).default("").describe("Only in this group and below it, as acme/team; empty for all."),
    state: z
      .enum(["NOT_READ", "NO_DATA"])
      .optional()
      .describe("NOT_READ: it is not known what the image holds. NO_DATA: no feed covers some of its packages."),
    page_size: PAGE_SIZE,
    page_token: PAGE_TOKEN,
  }),
  output: z.object({
    images: z.array(
      z.object({
        image: z.string().describe("The repo, as acme/team/app."),
        digest: z.string(),
        tags: z.array(z.string()),
        platform: z.string(),
        state: STATE,
        reason: z.string(),
        waits: z.boolean().describe("Whether it will be known without anybody doing something."),
      }),
    ),
    next_page_token: NEXT_PAGE_TOKEN,
  }),
  async run({ call, registryHost }, { image, group, state, page_size: pageSize, page_token: pageToken }) {
    const within = group === "" ? "" : await findGroup(call, group);
    const repo = image === "" ? "" : await findRepo(call, parseImageName("image", image, registryHost).path);
    const found = await call(FindingsService.method.listUnknownImages, {
      repo,
      pageSize,
      pageToken,
      ...(within !== "" && { uidp: { descendantsOf: within } }),
      ...(state !== undefined && { state: WANTED[state] }),
    });
    const paths = await pathsOf(
      call,
      found.unknownImages.map((each) => each.repo),
    );
    const images = found.unknownImages.map(({ repo: uid, digest, tags, platform, state: known, reason, waits }) => ({
      image: paths.get(uid) ?? uid,
      digest,
      tags,
      platform,
      state: stateName(known),
      reason,
      waits,
    }));
    const lines = images.map(
      (each) =>
        `${each.image}${each.tags[0] === undefined ? "" : `:${each.tags[0]}`} ${each.platform || each.digest} ${each.state}: ${each.reason}`,
    );
    return {
      answer: { images, next_page_token: found.nextPageToken },
      text: linesOf(lines.length === 0 ? ["No such image on this page."] : lines, found.nextPageToken),
      resource: repo || within,
    };
  },
});
