import { hash } from "node:crypto";
import { TagsService } from "@moorage/api/messages";
import { z } from "zod";
import { invalidArgument } from "../../errors.ts";
import { findRepo } from "../find-resources.ts";
import { parseImageName } from "../image-names.ts";
import type { CallMethod } from "../method-calls.ts";
import { IMAGE, linesOf } from "../shared-schemas.ts";
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
    const moves = await movesOf(call, repoUid, promotions);
    const preview = previewOf(repoUid, moves);
    if (isDryRun)
      return {
        answer: { image: path, dry_run: true, moves, preview },
        text: asked(path, moves, preview),
        resource: repoUid,
      };
    if (given !== preview)
      throw invalidArgument({
        field: "preview",
        description: "is not of these moves, or a tag was moved since: preview again, and ask the person again",
      });
    // Digests, and what each tag points to now: what was previewed is done, or nothing.
    await call(TagsService.method.promoteTags, {
      repoUid,
      promotions: moves.map(({ tag: name, before, after }) => ({ name, digest: after, expectedDigest: before })),
    });
    return {
      answer: { image: path, dry_run: false, moves, preview: "" },
      text: linesOf([`Done in ${path}:`, ...linesOfMoves(moves)]),
      resource: repoUid,
    };
  },
});

/** What would be moved from where to where. Throws what the real call would be rejected with. */
async function movesOf(
  call: CallMethod,
  repoUid: string,
  promotions: readonly { tag: string; from: string }[],
): Promise<Moves> {
  const { tags } = await call(TagsService.method.promoteTags, {
    repoUid,
    promotions: promotions.map(({ tag, from }) => ({
      name: tag,
      ...(DIGEST.test(from) ? { digest: from } : { fromTag: from }),
    })),
    validateOnly: true,
  });
  const moves: Moves = [];
  for (const { name, digest } of tags) {
    const { tags: found } = await call(TagsService.method.listTags, { uidp: { childrenOf: repoUid }, name });
    moves.push({ tag: name, before: found[0]?.digest ?? "", after: digest });
  }
  return moves;
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

function asked(path: string, moves: Moves, preview: string): string {
  return linesOf([
    `Nothing was written. In ${path} this would be done:`,
    ...linesOfMoves(moves),
    `With the person's consent call again with dry_run = false and preview = ${preview}`,
  ]);
}
