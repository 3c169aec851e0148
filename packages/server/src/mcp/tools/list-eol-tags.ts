import { EolTagsService, EolTagStatus } from "@moorage/api/messages";
import { z } from "zod";
import { parentOf } from "@moorage/kernel/lib/uid";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { findGroup, pathsOf } from "../find-resources.ts";
import { parseTime } from "../image-names.ts";
import { linesOf, NEXT_PAGE_TOKEN, PAGE_SIZE, PAGE_TOKEN, TIME } from "../shared-schemas.ts";
import { STALE_FEEDS, staleLines, staleOf } from "../stale-feeds.ts";
import { defineTool } from "../tool.ts";

export const listEolTags = defineTool({
  name: "list_eol_tags",
  description:
    "Lists the tags whose product, such as a version of a language or distribution, is past its end of life, with the feed that says so. A page may have few results although more follow.",
  methods: [EolTagsService.method.listEolTags],
  input: z.object({
    group: z.string().max(1024).default("").describe("Only in this group and below it, as acme/team; empty for all."),
    tag: z.string().max(128).default("").describe("Only tags of exactly this name."),
    as_of: TIME.optional().describe("Past its end of life at this time; now without one."),
    page_size: PAGE_SIZE,
    page_token: PAGE_TOKEN,
  }),
  output: z.object({
    tags: z.array(
      z.object({
        image: z.string(),
        digest: z.string(),
        product: z.string(),
        version: z.string(),
        eol_date: z.string().describe("The day of its end of life; empty when the feed does not say."),
        status: z.enum(["grace", "inactive"]).describe("grace: for the first six months after it."),
        latest_version: z.string().describe("The latest version of that release cycle."),
        feed: z.string(),
      }),
    ),
    stale_feeds: STALE_FEEDS,
    next_page_token: NEXT_PAGE_TOKEN,
  }),
  async run({ call }, { group, tag, as_of: asOf, page_size: pageSize, page_token: pageToken }) {
    const within = group === "" ? "" : await findGroup(call, group);
    const found = await call(EolTagsService.method.listEolTags, {
      name: tag,
      pageSize,
      pageToken,
      ...(within !== "" && { uidp: { descendantsOf: within } }),
      ...(asOf !== undefined && { asOf: timestamp(parseTime("as_of", asOf)) }),
    });
    const paths = await pathsOf(
      call,
      found.eolTags.map(({ uid }) => parentOf(uid)),
    );
    const tags = found.eolTags.map(({ uid, name, digest, product, version, release, status, feed }) => ({
      image: `${paths.get(parentOf(uid)) ?? parentOf(uid)}:${name}`,
      digest,
      product,
      version,
      eol_date: release?.eolDate ?? "",
      status: status === EolTagStatus.IN_GRACE ? ("grace" as const) : ("inactive" as const),
      latest_version: release?.latestVersion ?? "",
      feed: feed?.name ?? "",
    }));
    const lines = tags.map(
      ({ image, product, version, eol_date: day }) =>
        `${image} ${product} ${version}${day === "" ? "" : `, ended ${day}`}`,
    );
    const stale = staleOf(found.staleFeeds);
    const list = linesOf(lines.length === 0 ? ["No such tag on this page."] : lines, found.nextPageToken);
    const answer = { tags, stale_feeds: stale, next_page_token: found.nextPageToken };
    return { answer, text: [list, ...staleLines(stale)].join("\n"), resource: within };
  },
});
