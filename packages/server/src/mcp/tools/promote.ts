import { hash } from "node:crypto";
import { type PromoteTagsResponse, TagsService } from "@moorage/api/messages";
import { z } from "zod";
import { invalidArgument } from "@moorage/kernel/errors";
import { findRepo } from "../find-resources.ts";
import { parseImageName } from "../image-names.ts";
import type { CallMethod } from "../method-calls.ts";
import { IMAGE, linesOf } from "../shared-schemas.ts";
import { STALE_FEEDS, staleLines, staleOf } from "../stale-feeds.ts";
import { defineTool } from "../tool.ts";

const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST = /^sha(?:256:[a-f0-9]{64}|512:[a-f0-9]{128})$/;
const MOVES = z.array(
  z.object({
    tag: z.string(),
    before: z.string().describe("What the tag points to now; empty when it is not there."),
    after: z.string(),
  }),
);
type Moves = z.infer<typeof MOVES>;
const UNKNOWN = z
  .array(z.object({ tag: z.string(), digest: z.string(), state: z.string(), reason: z.string() }))
  .describe("Images that the repo's vulnerability gate lets pass although their findings are not known.");
type Unknown = z.infer<typeof UNKNOWN>;

export const promote = defineTool({
  name: "promote",
  description:
    "Makes tags of a repo point to images that it holds, all or none. Call it first as it is, which is a dry run and writes nothing: show the person the moves that it answers. With their consent call it again with dry_run = false and the preview that the dry run gave. It is rejected when anything changed since.",
  methods: [TagsService.method.promoteTags, TagsService.method.listTags],
  input: z.object({
    image: IMAGE.describe("The repo, as acme/team/app."),
    promotions: z
      .array(
        z.object({
          tag: z.string().regex(TAG).describe("The tag to move or make."),
          from: z.string().max(200).describe("The tag whose image it is to have, or a digest."),
        }),
      )
      .min(1)
      .max(100),
    dry_run: z.boolean().default(true).describe("Whether to look alone what would be done."),
    preview: z
      .string()
      .max(100)
      .default("")
      .describe("The preview that the dry run gave; needed with dry_run = false."),
  }),
  output: z.object({
    image: z.string(),
    dry_run: z.boolean(),
    moves: MOVES,
    unknown: UNKNOWN,
    stale_feeds: STALE_FEEDS,
    preview: z.string().describe("Confirms exactly these moves. Empty when they were made."),
  }),
  async run({ call, registryHost }, { image, promotions, dry_run: isDryRun, preview: given }) {
    const { path, tag, digest } = parseImageName("image", image, registryHost);
    if (tag !== "" || digest !== "")
      throw invalidArgument({ field: "image", description: "must name a repo, as acme/team/app, without a tag" });
    promotions.forEach(({ from }, at) => {
      if (!TAG.test(from) && !DIGEST.test(from))
        throw invalidArgument({ field: `promotions[${at}].from`, description: "must be a tag or a digest" });
    });
    if (!isDryRun && given === "")
      throw invalidArgument({
        field: "preview",
        description:
          "is required with dry_run = false: call the tool without it first, and show the person what it answers",
      });
    const repoUid = await findRepo(call, path);
    const { moves, unknown, stale } = await movesOf(call, repoUid, promotions);
    const preview = previewOf(repoUid, moves);
    if (isDryRun)
      return {
        answer: { image: path, dry_run: true, moves, unknown, stale_feeds: stale, preview },
        text: asked(path, [...linesOfMoves(moves), ...linesOfUnknown(unknown), ...staleLines(stale)], preview),
        resource: repoUid,
      };
    if (given !== preview)
      throw invalidArgument({
        field: "preview",
        description: "is not of these moves, or a tag was moved since: preview again, and ask the person again",
      });
    // Digests, and what each tag points to now: what was previewed is done, or nothing.
    const done = await call(TagsService.method.promoteTags, {
      repoUid,
      promotions: moves.map(({ tag: name, before, after }) => ({ name, digest: after, expectedDigest: before })),
    });
    const [passed, old] = [unknownOf(done), staleOf(done.staleFeeds)];
    return {
      answer: { image: path, dry_run: false, moves, unknown: passed, stale_feeds: old, preview: "" },
      text: linesOf([`Done in ${path}:`, ...linesOfMoves(moves), ...linesOfUnknown(passed), ...staleLines(old)]),
      resource: repoUid,
    };
  },
});

/** What would be moved from where to where. Throws what the real call would be rejected with. */
async function movesOf(
  call: CallMethod,
  repoUid: string,
  promotions: readonly { tag: string; from: string }[],
): Promise<{ moves: Moves; unknown: Unknown; stale: z.infer<typeof STALE_FEEDS> }> {
  const planned = await call(TagsService.method.promoteTags, {
    repoUid,
    promotions: promotions.map(({ tag, from }) => ({
      name: tag,
      ...(DIGEST.test(from) ? { digest: from } : { fromTag: from }),
    })),
    validateOnly: true,
  });
  const moves: Moves = [];
  for (const { name, digest } of planned.tags) {
    const { tags: found } = await call(TagsService.method.listTags, { uidp: { childrenOf: repoUid }, name });
    moves.push({ tag: name, before: found[0]?.digest ?? "", after: digest });
  }
  return { moves, unknown: unknownOf(planned), stale: staleOf(planned.staleFeeds) };
}

function unknownOf({ unknownImages }: PromoteTagsResponse): Unknown {
  return unknownImages.map(({ tag, digest, state, reason }) => ({ tag, digest, state, reason }));
}

function linesOfUnknown(unknown: Unknown): string[] {
  return unknown.map(
    ({ tag, digest, state, reason }) =>
      `${tag}: the findings of ${digest} are not known (${state}): ${reason}. The gate lets it pass.`,
  );
}

/** Names exactly these moves, so that others cannot be made with the consent to these. */
function previewOf(repoUid: string, moves: Moves): string {
  const canonical = moves.map(({ tag, before, after }) => [tag, before, after]);
  return `sha256:${hash("sha256", JSON.stringify([repoUid, canonical]), "hex")}`;
}

function linesOfMoves(moves: Moves): string[] {
  return moves.map(({ tag, before, after }) =>
    before === after ? `${tag}: stays at ${after}` : `${tag}: ${before || "new"} → ${after}`,
  );
}

function asked(path: string, lines: readonly string[], preview: string): string {
  return linesOf([
    `Nothing was written. In ${path} this would be done:`,
    ...lines,
    `With the person's consent call again with dry_run = false and preview = ${preview}`,
  ]);
}
